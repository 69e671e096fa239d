"""Labels and classes of mentions, records that contradict their folder, recipes that extend others."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from bookcoref_data.books import Book, Mention
from bookcoref_data.characters.table import CastRow, read_table
from bookcoref_data.errors import ChecksumError, FormatError, UsageError
from bookcoref_data.formats.folder import BUILD_FILE, write_folder
from bookcoref_data.scoring.typed import TypedSpan
from bookcoref_data.workflows.align import tokenize_edition
from bookcoref_data.workflows.clean import load_recipe
from bookcoref_data.workflows.harvest import write_harvest
from bookcoref_data.workflows.typed_labels import in_classes, noun_label, noun_spans
from bookcoref_data.workflows.verify import CHANGED, EXTRA, MISSING, OK, read_manifest, verify


@pytest.mark.parametrize(
    ("words", "label"),
    [
        ("the old king", "PER"),
        ("King", "PER"),
        ("a horse", "ANIMAL"),
        ("the horse of the king", "ANIMAL"),
        ("Mr. Grey", "PER"),
        ("Zoe", None),
        ("he", None),
        ("the family", "GROUP"),
        ("the xyz of Mr. Grey", None),
        ("king", "PER"),
    ],
)
def test_the_head_word_says_the_class(words, label):
    tokens = ["So", *words.split(), "."]
    assert noun_label(tokens, 1, len(tokens) - 2) == label


def test_every_mention_is_labelled_once():
    tokens = ["The", "king", "and", "his", "horse", "saw", "Zoe"]
    found = noun_spans(tokens, [(3, 4), (0, 1), (0, 1), (6, 6)])
    assert found == [TypedSpan(0, 1, "PER"), TypedSpan(3, 4, "ANIMAL")]


def test_labels_are_put_into_classes_and_what_has_none_is_counted():
    lost = Counter()
    spans = [
        TypedSpan(0, 0, "PERSON"),
        TypedSpan(1, 1, "GPE"),
        TypedSpan(2, 2, "PER"),
        TypedSpan(3, 3, "LOC"),
    ]
    assert [s.label for s in in_classes(spans, "cner", lost)] == ["PER", "LOC", "PER", "LOC"]
    assert lost == {}
    with pytest.raises(UsageError, match="--classes four knows nothing of the label 'X'") as caught:
        in_classes([TypedSpan(0, 0, "X")], "four", lost)
    assert "PERSON" in caught.value.expected


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("ISN'T he?", ["IS", "N'T", "he", "?"]),
        ("HE'S mad.", ["HE", "'S", "mad", "."]),
        ("He's mad.", ["He", "'s", "mad", "."]),
    ],
)
def test_contractions_in_capitals_are_cut_like_all_others(text, tokens):
    assert [t for sentence in tokenize_edition(text) for t in sentence if t != "\n"] == tokens


BOOKS = [
    Book.make(f"b{i}_{i}", [["a", "b", "."]], gutenberg_key=str(i), clusters=[[Mention(0, 0)]])
    for i in (1, 2)
]


@pytest.fixture
def folder(tmp_path):
    write_folder(tmp_path / "d", {"test": BOOKS}, title="T", licences=[])
    return tmp_path / "d"


def rewritten(folder, change):
    path = folder / BUILD_FILE
    value = json.loads(path.read_text())
    change(value)
    path.write_text(json.dumps(value))
    return verify(folder)


def states(found):
    return {c.doc_key: (c.status, c.problems) for c in found.books}


def test_a_folder_as_it_was_written_is_right(folder):
    found = verify(folder)
    assert states(found) == {"b1_1": (OK, []), "b2_2": (OK, [])}
    assert (found.problems, found.exit_code, found.remapped) == ([], 0, [])
    assert found.digest == json.loads((folder / BUILD_FILE).read_text())["digest"]


def test_a_record_with_another_digest_is_noticed_beside_sound_books(folder):
    digest = verify(folder).digest
    found = rewritten(folder, lambda value: value.update(digest="0" * 64))
    assert [status for status, _ in states(found).values()] == [OK, OK]
    assert found.problems == [
        "build.json was changed since it was written",
        f"the books in build.json do not give its digest {'0' * 16}…",
        f"the build record says digest {'0' * 16}…, the content {digest[:16]}…",
        "the card (README.md) states another digest than the build record",
    ]
    assert found.exit_code != 0


def test_where_a_book_is_changed_the_digest_is_not_spoken_of(folder):
    def change(value):
        value["digest"] = "0" * 64
        value["books"][0]["mentions"] = 1234

    found = rewritten(folder, change)
    assert states(found) == {"b1_1": (CHANGED, ["mentions: build record 1,234, found 1"]), "b2_2": (OK, [])}
    assert found.problems == [
        "build.json was changed since it was written",
        f"the books in build.json do not give its digest {'0' * 16}…",
    ]
    assert found.exit_code != 0


def test_books_that_the_record_does_not_have_or_has_alone(folder):
    def rename(value):
        value["books"][0]["doc_key"] = "other_1"

    found = rewritten(folder, rename)
    assert states(found) == {
        "other_1": (MISSING, ["not in the parquet files"]),
        "b2_2": (OK, []),
        "b1_1": (EXTRA, ["not in the build record"]),
    }


def test_a_manifest_must_give_its_own_digest(folder, tmp_path):
    import bookcoref_data as bc

    path = tmp_path / "m.json"
    made = bc.manifest_write(folder, path)
    value = json.loads(path.read_text())
    assert read_manifest(path) == value
    assert made.digest == value["digest"]
    path.write_text(json.dumps(value | {"digest": "0" * 64}))
    with pytest.raises(ChecksumError, match="contradicts itself") as caught:
        read_manifest(path)
    assert (caught.value.expected, caught.value.found) == ("0" * 64, value["digest"])
    value["books"]["b1_1"]["more"] = 1
    path.write_text(json.dumps(value))
    with pytest.raises(FormatError, match="is not a recorded manifest"):
        read_manifest(path)


@pytest.mark.parametrize(("kept", "beside"), [(27, False), (26, True), (30, False), (40, False)])
def test_a_tenth_of_a_table_may_be_lost(tmp_path, kept, beside):
    out = tmp_path / "t.jsonl"
    rows = [CastRow("shmoop", "a", "A", f"P{n}") for n in range(40)]
    assert write_harvest(out, rows[:30], 0.1) == (out, [])
    place, problems = write_harvest(out, rows[:kept], 0.1)
    assert place == (tmp_path / "t.smaller.jsonl" if beside else out)
    assert len(list(read_table(out))) == (30 if beside else kept)
    assert (
        problems
        == [(str(out), f"only {kept} characters, 30 before: kept the old table, wrote t.smaller.jsonl")]
        * beside
    )


def test_a_recipe_of_cleaning_extends_the_shipped_one(tmp_path):
    shipped = load_recipe()
    number = sorted(shipped.books)[0]
    path = tmp_path / "r.toml"
    path.write_text("[books.999999999]\n")
    assert set(load_recipe(path).books) == {*shipped.books, "999999999"}
    path.write_text("extends = false\n[books.999999999]\n")
    assert set(load_recipe(path).books) == {"999999999"}
    path.write_text("extends = 1\n")
    with pytest.raises(UsageError, match="extends = 1"):
        load_recipe(path)
    path.write_text("[other]\n[more]\n")
    with pytest.raises(UsageError, match="unknown tables in the cleaning recipe: more, other"):
        load_recipe(path)
    assert load_recipe(None).books[number] == shipped.books[number]
