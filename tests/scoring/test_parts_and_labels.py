"""The parts of books that are resampled, and how clusters and mentions are called in tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bookcoref_data.books import Record
from bookcoref_data.errors import UsageError
from bookcoref_data.scoring.exchange import block_starts, part_of
from bookcoref_data.scoring.labels import Labels, snippet, text_of
from bookcoref_data.scoring.modes import prepare
from bookcoref_data.scoring.typed import TypedSpan
from bookcoref_data.workflows.typed_labels import noun_label, noun_spans


def pair(record, mode="full", **settings):
    return prepare([record], [record], mode, **settings).books[0]


def text(*sentences, clusters=((0, 0),), **more):
    return Record("b", sentences=[s.split(" ") for s in sentences], clusters=[list(clusters)], **more)


def chapters(*sentences):
    return block_starts(pair(text(*sentences)), "chapter", 10, whole=True).tolist()


def test_chapters_begin_at_headings_and_the_book_at_its_first_token():
    assert chapters("Chapter 1 She came .", "Chapter 2 She went .") == [0, 5]
    assert chapters("A preface .", "Chapter 1 She came .", "LETTER IV. She went .") == [0, 3, 8]


@pytest.mark.parametrize(
    ("sentence", "is_heading"),
    [
        ("so \n Chapter 2 went", True), ("so ” Chapter two went", True), ("so CHAPTER the last", True),
        ("so Chapter 2 went", False), ("so . chapter 2 went", False), ("so . Chapter of it", False),
        ("so . Chap. XII. went", True), ("so . Canto third went", True), ("so . Book 2 went", False),
        ("so . Chapter . went", False), ("so _ Chapter ii: went", True),
    ],
)  # fmt: skip
def test_what_opens_a_chapter(sentence, is_heading):
    sentences = ("Chapter 1 .", sentence)
    if is_heading:
        assert chapters(*sentences) == [0, 4 if "CHAPTER" in sentence else 5]
    else:
        with pytest.raises(UsageError, match="found 1 chapter headings"):
            chapters(*sentences)


def test_a_heading_may_open_a_sentence_behind_any_word():
    assert chapters("Chapter 1 went", "Chapter 2 went") == [0, 3]


def test_chapters_need_text():
    with pytest.raises(UsageError, match="chapters need text"):
        block_starts(pair(Record("b", clusters=[[(0, 0)]])), "chapter", 10, whole=True)


def test_windows_are_those_of_sentences_or_blocks_of_tokens():
    assert block_starts(pair(text("a b c", "d e f", "g")), "block", 2, whole=True).tolist() == [0, 3, 6]
    assert block_starts(pair(text("a b c", "d e f", "g")), "book", 2, whole=True).tolist() == [0]
    bare = pair(Record("b", clusters=[[(0, 0), (9, 9)]]))
    assert block_starts(bare, "block", 4, whole=True).tolist() == [0, 4, 8]
    assert block_starts(pair(Record("b")), "block", 4, whole=True).tolist() == [0]


def test_an_offset_lies_in_the_part_that_begins_at_or_before_it():
    starts = np.array([0, 4, 8])
    assert part_of(starts, np.array([-1, 0, 3, 4, 7, 8, 99])).tolist() == [0, 0, 0, 1, 1, 2, 2]


def starts(mode, unit, size=3):
    record = text("Chapter 1 .", "a b c .", "Chapter 2 d .", clusters=[(0, 0), (4, 4), (8, 8)])
    return block_starts(pair(record, mode, window_size=size), unit, size, whole=mode == "full").tolist()


def test_windows_go_into_blocks_whole_and_those_that_overlap_together():
    assert starts("gold-window-blocks", "block") == [0, 9]
    assert starts("gold-window-blocks", "block", 6) == [0]
    # Eleven tokens in windows that end at 3, 6, 9 and 11: the last one shares a token with the one before.
    assert starts("gold-window-released", "block") == [0]


def test_chapters_take_the_windows_that_start_in_them():
    assert starts("gold-window-blocks", "chapter") == [0, 9]
    assert starts("full", "book") == [0]


# -- labels ------------------------------------------------------------------------------------------


def test_a_cluster_is_called_by_its_character_or_its_most_frequent_name():
    sentences = ("Mary saw Tom .", "He saw the old cat .", "Mary and he slept .", "Tom Hill and Tom woke .")
    mary = [(0, 0), (10, 10)]
    tom = [(2, 2), (4, 4), (12, 12), (15, 16), (18, 18)]
    record = Record(
        "b", sentences=[s.split(" ") for s in sentences], clusters=[tom, [(6, 8), (4, 4)], mary, [(4, 4)]],
        characters=[("Miss Mary", mary)],
    )  # fmt: skip
    book = pair(record)
    labels = Labels(book)
    assert labels.of_key(book.key) == ["Tom", "the old cat", "Miss Mary", "He"]
    assert [labels.guess(book.response, i) for i in (1, 3)] == ["the old cat", "He"]


def test_a_capital_at_the_head_of_a_sentence_makes_no_name():
    mentions = [(0, 0), (4, 5), (9, 10)]
    book = pair(
        text("Horses ran .", "So the animals ran .", "All the animals and horses .", clusters=mentions)
    )
    assert Labels(book).guess(book.response, 0) == "the animals"


def test_two_clusters_of_a_text_never_share_a_name_that_nobody_gave_them():
    record = replace(text("John met John and John ."), clusters=[[(0, 0)], [(2, 2)], [(4, 4)]])
    book = pair(record)
    assert Labels(book).of_key(book.key) == ["John", "John (2)", "John (3)"]
    named = pair(replace(record, characters=[("John", [(2, 2)])]))
    assert Labels(named).of_key(named.key) == ["John (2)", "John", "John (3)"]


def test_labels_and_snippets_do_not_hang_on_the_order_of_mentions():
    record = text("Mary saw Tom .", clusters=[(2, 2), (0, 0)])
    book = pair(record)
    assert Labels(book).of_key(book.key) == ["Mary"]


def test_a_cluster_without_text_is_called_by_its_number():
    book = pair(Record("b", clusters=[[(0, 0)], [(4, 5)]]))
    assert Labels(book).of_key(book.key) == ["cluster 0", "cluster 1"]


TOKENS = ["a", "b", "\n", "c", "d", "e", "f"]


@pytest.mark.parametrize(
    ("start", "end", "width", "shown"),
    [
        (3, 4, 2, "b [c d] e f"), (3, 4, 1, "[c d] e"), (0, 1, 8, "[a b] c d e f"), (6, 6, 1, "e [f]"),
        (3, 7, 1, None), (-1, 0, 1, None), (4, 3, 1, None), (0, 6, 3, "[a b c d e f]"),
    ],
)  # fmt: skip
def test_a_snippet_is_the_mention_with_words_on_either_side(start, end, width, shown):
    assert snippet(TOKENS, start, end, width) == shown


def test_a_snippet_needs_text_and_has_eight_words_on_either_side():
    assert snippet(None, 0, 0) is None
    numbers = [str(i) for i in range(30)]
    assert snippet(numbers, 15, 15) == "7 8 9 10 11 12 13 14 [15] 16 17 18 19 20 21 22 23"
    assert (text_of(TOKENS, 1, 3), text_of(TOKENS, -5, 0), text_of(TOKENS, 7, 9)) == ("b c", "a", "")


@pytest.mark.parametrize(
    ("mention", "label"),
    [
        ("the old dog", "ANIMAL"), ("Dogs", "ANIMAL"), ("her mother", "PER"), ("Mrs. Bennet", "PER"),
        ("Bennet", None),
        ("he", None), ("she who", None), ("the house of Mr. Hill", "STRUCT"),
        ("Bennet of Captain Hill", None),
        ("Sir", "PER"), ("Mrs.", "PER"), ("zebra", None),
    ],
)  # fmt: skip
def test_the_label_of_a_mention_is_that_of_its_head(mention, label):
    words = mention.split(" ")
    assert noun_label(["so", *words, "so"], 1, len(words)) == label
    assert noun_label([*words, "so"], 0, len(words) - 1) == label
    assert noun_label([*words, "so"], -1, len(words) - 1) == label


def test_spans_outside_the_text_have_no_label_and_each_span_counts_once():
    tokens = ["the", "dog", "saw", "him"]
    assert noun_spans(tokens, [(3, 3), (0, 1), (0, 1), (7, 9), (-1, 1)]) == [
        TypedSpan(-1, 1, "ANIMAL"), TypedSpan(0, 1, "ANIMAL"),
    ]  # fmt: skip
