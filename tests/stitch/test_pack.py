"""Packs: exact round trips, small, no text inside, and no edition but the right one."""

from __future__ import annotations

import hashlib
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookcoref_data.books import Book, cut_windows, window_key
from bookcoref_data.errors import BookError, DataError, EditionError
from bookcoref_data.stitch.container import read_directory
from bookcoref_data.stitch.pack import make_pack, read_pack
from bookcoref_data.stitch.spans import Standoff
from tests.drawing import drawn

pytestmark = pytest.mark.slow


def packed(case, **options):
    return make_pack(
        case.text, case.book.sentences, doc_key=case.book.doc_key, gutenberg_key=case.book.gutenberg_key,
        annotation=Standoff.of(case.book), **{"public_domain": True, **options},
    )  # fmt: skip


def windows_of(book: Book):
    return [(window_key(book.doc_key, w), w.first_sentence) for w in cut_windows(book.sentence_ends)]


def test_the_sample_comes_back_whole(story):
    pack = read_pack(packed(story, windows=windows_of(story.book), source_sha256="ab", source_name="x.txt"))
    assert pack.book(story.text) == story.book
    assert (pack.source_sha256, pack.source_name) == ("ab", "x.txt")
    assert pack.tokens_sha256 == story.book.tokens_sha256()
    assert [w.doc_key for w in pack.window_books(story.book)] == [k for k, _ in windows_of(story.book)]


@pytest.mark.long
def test_real_books_come_back_within_the_size_that_was_promised(real):
    data = packed(real, fingerprint_bits=0)
    assert read_pack(data).book(real.text) == real.book
    bare = make_pack(real.text, real.book.sentences, doc_key="x", fingerprint_bits=0)
    assert len(bare) <= {"1342": 30_000, "2500": 8_000}[real.book.gutenberg_key]


def test_a_fingerprint_costs_less_than_a_byte_a_token(real):
    sections = {name: stored for name, _, _, stored in read_directory(packed(real))[0]}
    assert sections["FPRT"] <= len(real.book.tokens)


def test_the_same_input_gives_the_same_bytes(story):
    assert packed(story) == packed(story)


words = st.text(
    st.sampled_from("abcXYZ019.,'’“”-—_\u00e9\u4e2d\U0001f600\ud800\x1c \t\n"), min_size=1, max_size=5
)
sentences = st.lists(st.lists(words, min_size=1, max_size=6), max_size=12)


@pytest.mark.long
@drawn(300)
@given(sentences, st.data())
def test_any_sentences_come_back_from_any_text(released, data):
    """Tokens of white space, empty releases, foreign characters: all exact, whatever the text is."""
    glue = data.draw(st.lists(st.sampled_from(["", " ", "\n", "\n\n", "x", "Chapter 1 "])))
    flat = [t for s in released for t in s]
    text = "".join(t + (glue[i % len(glue)] if glue else "") for i, t in enumerate(flat))
    made = make_pack(
        text, released, doc_key="d", fingerprint_bits=3, public_domain=True, most_literal_share=1.0
    )
    assert read_pack(made).apply(text) == released


@pytest.mark.parametrize(
    "change",
    [
        lambda t: "A new header\nof the site\n\n\n" + t + "\n\nAnd a longer licence.",
        lambda t: t[t.index("***") :],
        lambda t: t.replace("\n", "\n   "),
        lambda t: "\n\n".join(textwrap.fill(p, 40, break_on_hyphens=False) for p in t.split("\n\n")),
        lambda t: t.encode("utf-8").decode("utf-8-sig"),
    ],
    ids=["new header and footer", "no header", "indented", "wrapped anew", "decoded again"],
)
def test_exact_where_only_the_surroundings_or_the_wrapping_changed(story, change):
    assert read_pack(packed(story)).book(change(story.text)) == story.book


def test_another_edition_is_refused_by_name(story):
    pack = read_pack(packed(story, source_name="pg1.txt", source_sha256="f" * 64))
    other = story.text.replace("said", "sayd")
    with pytest.raises(EditionError) as caught:
        pack.apply(other)
    assert "pg1.txt" in caught.value.expected
    assert "align" in caught.value.hint


def test_one_changed_letter_is_never_given_out_as_exact(story):
    pack = read_pack(packed(story))
    start = story.text.index("***", story.text.index("***") + 3) + 400
    places = [i for i in range(start, start + 4000, 97) if story.text[i].isalpha()]
    for place in places:
        changed = story.text[:place] + "q" + story.text[place + 1 :]
        if changed == story.text:
            continue
        with pytest.raises(EditionError):
            pack.apply(changed)


def test_a_pack_from_the_wrong_book_would_hold_its_text_and_is_refused(story, siddhartha):
    with pytest.raises(DataError, match="would hold"):
        make_pack(siddhartha.text, story.book.sentences, doc_key="x")


def test_only_the_literals_hold_text(real):
    """Four words in a row that stand in the book and in a pack come from a literal, and those are few."""
    pack = read_pack(packed(real))
    assert pack.literal_characters <= 0.02 * pack.visible_count
    assert pack.edits.longest_literal <= 100
    raw = b"\0".join(part for part in pack.parts.values())
    tokens = [t for t in real.book.tokens if t.isalpha() and len(t) > 4]
    assert not [t for t in set(tokens) if t.encode() in raw]


def test_the_bound_on_text_is_a_setting(story):
    other = story.text.replace("the", "teh").replace("a", "o").replace("e", "u")
    with pytest.raises(DataError, match="would hold"):
        make_pack(other, story.book.sentences, doc_key="x")
    made = make_pack(other, story.book.sentences, doc_key="x", most_literal_share=1.0)
    assert read_pack(made).apply(other) == story.book.sentences


@pytest.mark.parametrize("bad", [[[]], [["a"], []], [["a", ""]], [["a\0b"]]])
def test_sentences_that_cannot_be_said_are_refused(bad):
    with pytest.raises(DataError):
        make_pack("a b", bad, doc_key="x")


def test_annotation_keeps_its_order_and_its_quirks():
    """Unsorted mentions, overlapping ones, a character that is no cluster, equal clusters, no names."""
    tokens = [["A", "b", "c", "d", "e", "."]]
    annotation = Standoff.make(
        [[(3, 4), (0, 0)], [(0, 5)], [(3, 4), (0, 0)]],
        [("Ann", [(0, 0)]), ("", [(3, 4), (0, 0)]), ("Ann", [(0, 5)])],
    )
    made = make_pack("A b c d e.", tokens, doc_key="x", annotation=annotation)
    assert read_pack(made).annotation == annotation


def test_annotation_outside_the_book_is_refused():
    with pytest.raises(DataError):
        make_pack("A b", [["A", "b"]], doc_key="x", annotation=Standoff.make([[(0, 2)]], []))
    with pytest.raises(DataError):
        make_pack("A b", [["A", "b"]], doc_key="x", annotation=Standoff.make([[(1, 0)]], []))


def test_windows_with_spans_of_their_own_keep_them(story):
    windows = windows_of(story.book)
    own = Standoff.make([[(0, 0), (2, 2)]], [("Somebody", [(0, 0), (2, 2)])])
    pack = read_pack(packed(story, windows=windows, window_annotations={1: own}))
    books = pack.window_books(story.book)
    assert Standoff.of(books[1]) == own
    assert Standoff.of(books[0]) != own


def test_a_window_without_spans_of_its_own_has_none_of_the_book(story):
    pack = read_pack(packed(story, windows=windows_of(story.book), window_annotations={1: Standoff()}))
    assert not pack.window_books(story.book)[1].clusters
    assert [len(w.clusters) > 0 for w in pack.window_books(story.book)][:2] == [True, False]


def test_a_pack_that_marks_a_mention_twice_is_told_by_the_book():
    twice = Standoff.make([[(0, 0), (0, 0)]], [])
    pack = read_pack(make_pack("A b", [["A", "b"]], doc_key="x", annotation=twice))
    with pytest.raises(BookError, match="twice"):
        pack.book("A b")


def test_the_token_checksum_is_that_of_books(story):
    pack = read_pack(packed(story))
    joined = "".join(t + "\0" for t in story.book.tokens)
    assert pack.tokens_sha256 == hashlib.sha256(joined.encode()).hexdigest()


def test_a_pack_names_licence_and_attribution_of_its_annotation(story):
    made = packed(story, licence="CC BY-NC-SA 4.0", attribution="Martinelli et al. 2025")
    pack = read_pack(made)
    assert (pack.licence, pack.attribution) == ("CC BY-NC-SA 4.0", "Martinelli et al. 2025")
    bare = make_pack(story.text, story.book.sentences, doc_key="d", licence="CC BY-NC-SA 4.0")
    assert read_pack(bare).licence == ""


def test_only_texts_known_to_be_free_get_a_fingerprint(story):
    assert read_pack(packed(story)).fingerprint is not None
    assert read_pack(packed(story, public_domain=False)).fingerprint is None
    assert read_pack(make_pack(story.text, story.book.sentences, doc_key="d")).fingerprint is None
