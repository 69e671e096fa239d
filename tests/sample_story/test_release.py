"""The generated files: what is committed is what the code makes, and it is what the official tools read."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from bookcoref_data.books import Mention, split_book
from bookcoref_data.sample_story.story import GUTENBERG_KEY, TITLE, gutenberg_text, sample_path
from bookcoref_data.stitch.official import read_deltas, sentence_ends
from bookcoref_data.text.decode import decode
from bookcoref_data.text.tokens import tokenize_official
from tests.sample_story.making import mirror_files, release_files, sample_book


@pytest.fixture(scope="module")
def book():
    return sample_book()


@pytest.mark.parametrize(("kind", "generate"), [("mirror", mirror_files), ("release", release_files)])
def test_committed_files_are_the_generated_ones(kind, generate):
    folder = sample_path(kind)
    committed = {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    generated = generate()
    assert sorted(committed) == sorted(generated)
    stale = [name for name in generated if committed[name] != generated[name]]
    assert not stale, f"run `python tests/sample_story/regenerate.py`; stale: {stale}"


def test_raw_file_has_the_form_of_a_gutenberg_file():
    (data,) = mirror_files().values()
    assert data.startswith(b"\xef\xbb\xbf")
    assert data.count(b"\n") == data.count(b"\r\n")
    text = decode(data).text
    assert text == gutenberg_text()
    lines = text.split("\n")
    assert max(len(line) for line in lines if not line.startswith("***")) <= 72
    assert lines.count(f"*** START OF THE PROJECT GUTENBERG EBOOK {TITLE.upper()} ***") == 1
    assert lines.count(f"*** END OF THE PROJECT GUTENBERG EBOOK {TITLE.upper()} ***") == 1
    for field in ("Title: ", "Author: ", "Release date: ", "Language: English", "Credits: "):
        assert any(line.startswith(field) for line in lines)
    assert "not a\nProject Gutenberg eBook" in text
    assert "_Constance_" in text
    assert '"' in text
    assert not set(text) & set("“”’—")


def test_delta_and_lengths_give_the_released_sentences(book):
    files = release_files()
    (delta,) = read_deltas([files["gutenberg_delta.json"].decode()], "gutenberg_delta.json")
    (data,) = mirror_files().values()
    base = [token for sentence in tokenize_official(decode(data).text) for token in sentence]
    lengths = json.loads(files["sentence_lengths.json"])[GUTENBERG_KEY]
    tokens = delta.apply(base)
    ends = sentence_ends(len(tokens), lengths, book.doc_key)
    assert [tokens[a:b] for a, b in pairwise((0, *ends))] == book.sentences


def test_annotations_are_those_of_the_book_and_its_windows(book):
    files = release_files()
    (full,) = _lines(files["bookcoref_annotations/full/test.jsonl"])
    assert _spans(full["clusters"]) == list(book.clusters)
    windows = split_book(book)
    assert windows.lost == ()
    rows = _lines(files["bookcoref_annotations/split/test_split.jsonl"])
    assert [row["doc_key"] for row in rows] == [w.doc_key for w in windows.books]
    for row, window in zip(rows, windows.books, strict=True):
        assert _spans(row["clusters"]) == list(window.clusters)
        assert [c["name"] for c in row["characters"]] == [c.name for c in window.characters]
    assert sum(len(c) for row in rows for c in row["clusters"]) == book.mention_count


def _lines(data: bytes) -> list[dict]:
    return [json.loads(line) for line in data.splitlines()]


def _spans(clusters) -> list[tuple[Mention, ...]]:
    return [tuple(Mention(*span) for span in cluster) for cluster in clusters]
