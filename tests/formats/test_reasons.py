"""The reasons of a book as one line: written, read back, and refused where they do not fit."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookcoref_data.books import Book
from bookcoref_data.books.annotation import Annotation, Marked, Quote, annotation_of
from bookcoref_data.errors import FormatError
from bookcoref_data.formats.annotated import read_annotations
from bookcoref_data.formats.folder import read_build, writing_folder
from bookcoref_data.formats.reasons import format_reasons, read_reasons, with_reasons

SIZE = 40
BARE = Book.make("book_1", [["word"] * SIZE])
NAMES = ("Ann", "Bob", "Cy")


def known(mentions=((0, 0, 0), (3, 4, 1), (3, 4, 2)), quotes=((5, 9, 1, (0,), "said", 0.5),)) -> Annotation:
    marked = [Marked(*m, "link", "name", 0.25 + m[2] / 4, "name") for m in mentions]
    return Annotation(BARE, NAMES, tuple(marked), tuple(Quote(*q) for q in quotes))


places = st.tuples(st.integers(0, SIZE - 2), st.integers(0, 1), st.integers(0, 2)).map(
    lambda m: (m[0], m[0] + m[1], m[2])
)
spoken = st.tuples(
    st.integers(0, SIZE - 5), st.integers(0, 4), st.integers(-1, 2), st.sets(st.integers(0, 2)).map(tuple),
    st.sampled_from(["", "said", "turn"]), st.floats(0, 1),
).map(lambda q: (q[0], q[0] + q[1], *q[2:]))  # fmt: skip


@given(st.sets(places), st.lists(spoken))
def test_what_is_written_is_read_back(mentions, quotes):
    first = known(sorted(mentions), quotes)
    back = with_reasons(annotation_of(first.to_record()), format_reasons(first), "here")
    named = {(m.start, m.end, first.names[m.character], *m[3:]) for m in first.mentions}
    assert {(m.start, m.end, back.names[m.character], *m[3:]) for m in back.mentions} == named
    assert sorted(_named(first)) == sorted(_named(back))
    assert format_reasons(back) == format_reasons(first)


def _named(a: Annotation) -> list[tuple]:
    def name(number: int) -> str:
        return a.names[number] if number >= 0 else ""

    return [(q.start, q.end, name(q.speaker), tuple(map(name, q.addressees)), *q[4:]) for q in a.quotes]


@pytest.mark.parametrize(
    "change",
    [
        {"doc_key": "book_2"}, {"doc_key": 1}, {"others": ["Ann"]}, {"others": [""]}, {"others": ["A", "A"]},
        {"mentions": [0, 0]}, {"mentions": [0, 0, 0, 0]}, {"mentions": [0, 0, 9]}, {"mentions": [0, 0, -1]},
        {"mentions": [0, 0, True]}, {"mentions": "000"}, {"reasons": []}, {"rules": []}, {"more": 1},
        {"reasons": [["name", "link", "name", [0.25, 0.5, 1.5]]]},
        {"reasons": [["name", "link", "name", [0.25, 0.5]]]},
        {"reasons": [["name", "link", "name", [0.25, 0.5, 0.75, 1]]]},
        {"reasons": [["name", "link", [0.25, 0.5, 0.75]]]},
        {"quotes": {"steps": [SIZE]}}, {"quotes": {"lengths": [SIZE]}}, {"quotes": {"steps": [-1]}},
        {"quotes": {"steps": [10**30]}}, {"quotes": {"speakers": [3]}}, {"quotes": {"speakers": [-2]}},
        {"quotes": {"addressees": [[3]]}}, {"quotes": {"addressees": [[-1]]}}, {"quotes": {"rules": [1]}},
        {"quotes": {"scores": []}}, {"quotes": {"scores": [2]}}, {"quotes": {"steps": [5, 1]}},
    ],
)  # fmt: skip
def test_reasons_that_do_not_fit_are_refused(change):
    value = json.loads(format_reasons(known()))
    for name, new in change.items():
        value[name] = value[name] | new if isinstance(new, dict) else new
    with pytest.raises(FormatError, match="here"):
        with_reasons(annotation_of(known().to_record()), json.dumps(value), "here")


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e999", "null"])
def test_a_score_that_is_no_number_is_refused(word):
    line = format_reasons(known()).replace("0.75", word)
    with pytest.raises(FormatError, match="here"):
        with_reasons(annotation_of(known().to_record()), line, "here")


@pytest.mark.parametrize("line", ["{", "[" * 100_000, "[]", '"', '{"doc_key": "\\ud800"}'])
def test_a_line_that_is_no_table_is_refused(line):
    with pytest.raises(FormatError, match="here"):
        with_reasons(annotation_of(known().to_record()), line, "here")


def test_a_data_set_folder_gives_its_books_with_their_reasons(tmp_path):
    other = Book.make("book_2", [["word"] * 5], clusters=[[(0, 0)]], characters=[("Di", [(0, 0)])])
    with writing_folder(tmp_path / "out") as writer:
        writer.add_book(known().to_book(), "train", reasons=format_reasons(known()))
        writer.add_book(other, "train")
        writer.finish("Two books", licences=[])
    first, second = read_annotations(tmp_path / "out")
    assert format_reasons(first) == read_reasons(tmp_path / "out")["book_1"] == format_reasons(known())
    assert (second.quotes, second.mentions[0].step) == ((), "")
    assert [bool(b.reasons_sha256) for b in read_build(tmp_path / "out").books] == [True, False]
    assert read_annotations(tmp_path / "out", config="split")[0].quotes == ()
