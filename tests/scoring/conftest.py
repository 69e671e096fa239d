"""Small clusterings and the real books that the tests of scoring share."""

from __future__ import annotations

import pytest

from bookcoref_data.books import Record


def spans(text: str) -> list[list[tuple[int, int]]]:
    """Clusters from a string: "a bc" is {a} and {b, c}, every letter a one-token mention."""
    return [[(ord(letter), ord(letter)) for letter in group] for group in text.split()]


@pytest.fixture(scope="session")
def letters():
    return spans


@pytest.fixture
def record():
    """A record of one-letter clusters or explicit ones, with optional sentences and names."""

    def make(key, clusters, sentences=None, names=None):
        clusters = spans(clusters) if isinstance(clusters, str) else clusters
        characters = list(zip(names, clusters, strict=True)) if names else []
        return Record(key, "", sentences, clusters, characters)

    return make


@pytest.fixture(scope="session")
def real(shared_data):
    """The real books: gold and system output, whole and in windows, by a short name."""
    from bookcoref_data.formats import read_documents

    annotations = shared_data / "release" / "bookcoref_annotations"
    systems = shared_data / "systems" / "finetuned"
    return {
        "key": read_documents(annotations / "full" / "test.jsonl"),
        "key windows": read_documents(annotations / "split" / "test_split.jsonl"),
        "system": read_documents(systems / "maverick_xl.jsonl"),
        "system windows": read_documents(systems / "maverick_xl_splitted.jsonl"),
        "gold": read_documents(shared_data / "gold" / "animal_farm.conll"),
    }


@pytest.fixture(scope="session")
def farm(real):
    """The real gold of Animal Farm with names, and its windows."""
    return {
        "key": [r for r in real["key"] if r.doc_key == "animal_farm_0"],
        "key windows": [r for r in real["key windows"] if r.doc_key.startswith("animal_farm_0_")],
    }
