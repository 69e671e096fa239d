"""Every word of an annotation is found again in the reader's own file."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from bookcoref_data.books.annotation import Annotation, Marked
from bookcoref_data.edits.locate import plain
from bookcoref_data.errors import FormatError
from bookcoref_data.formats.annotated import TEXTS, read_annotations, write_annotations
from bookcoref_data.workflows.annotate import read_sources


def annotation_of_file(path: Path, count: int, draw: random.Random) -> Annotation:
    """The file's text with `count` random spans of one to four tokens as mentions of one character."""
    (source,) = read_sources(path)
    tokens = source.book.tokens
    spans: set[tuple[int, int]] = set()
    while len(spans) < count:
        start = draw.randrange(len(tokens) - 4)
        end = start + draw.randrange(4)
        if "\n" not in tokens[start : end + 1]:
            spans.add((start, end))
    mentions = tuple(Marked(a, b, 0) for a, b in sorted(spans))
    return Annotation(source.book, ("X",), mentions, source=source.origin, chapters=source.chapters)


def file_text(path: Path) -> str:
    """The file as a person reads it with Python: the unit that the documentation states."""
    with open(path, encoding="utf-8-sig") as stream:
        return stream.read()


@pytest.mark.long
def test_a_thousand_mentions_of_five_books_stand_in_their_files(shared_data, tmp_path):
    draw = random.Random(16)
    paths = sorted((shared_data / "gutenberg/cache/epub").glob("*/pg*.txt"), key=lambda p: p.stat().st_size)[
        :5
    ]
    done = [annotation_of_file(path, 200, draw) for path in paths]
    write_annotations(done, tmp_path)
    again = read_annotations(tmp_path)
    assert sum(len(a.mentions) for a in again) == 1000
    for a, path in zip(again, paths, strict=True):
        text = file_text(path)
        assert a.source is not None
        for m in a.mentions:
            first, behind = a.source.span(m.start, m.end)
            words = "".join(a.book.tokens[m.start : m.end + 1])
            # Marks of emphasis are cut from tokens; the file has them still.
            # Numbers of pages and notes are cut, too: every word of the mention stands in the file, in order.
            found = plain(text[first:behind].replace("=", ""))
            assert _is_subsequence(plain(words.replace("=", "")), found)
            assert len(found) - len(plain(words.replace("=", ""))) <= 12


@pytest.fixture
def folder(tmp_path):
    novel = tmp_path / "novel.txt"
    novel.write_bytes("\ufeffIt was  Anna\r\nwho came.\r\n\r\n“Ann\u00e9e!” she said.\r\n".encode())
    write_annotations([annotation_of_file(novel, 6, random.Random(1))], tmp_path / "annotated")
    return tmp_path / "annotated"


def test_offsets_count_characters_of_the_decoded_file(folder):
    (a,) = read_annotations(folder)
    text = file_text(folder.parent / "novel.txt")
    assert a.source is not None
    assert a.source.text == text
    words = [text[s:e] for s, e in zip(a.source.starts, a.source.ends, strict=True)]
    assert words == [t if t != "\n" else "" for t in a.book.tokens]


def test_another_text_under_the_same_name_is_refused(folder):
    path = folder / TEXTS / "novel.txt"
    path.write_text(path.read_text(encoding="utf-8") + "x", encoding="utf-8")
    with pytest.raises(FormatError, match="is not the text that the offsets"):
        read_annotations(folder)


def test_a_folder_without_the_text_is_read_without_places(folder):
    (folder / TEXTS / "novel.txt").unlink()
    (a,) = read_annotations(folder)
    assert a.source is None


def _is_subsequence(part: str, whole: str) -> bool:
    letters = iter(whole)
    return all(letter in letters for letter in part)
