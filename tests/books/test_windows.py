"""The window rule of the released split config, and the split of a book by it."""

import csv
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookcoref_data.books import (
    Book,
    Mention,
    cut_windows,
    read_window_key,
    split_book,
    split_by_rule,
    window_key,
)
from bookcoref_data.books.windows import WINDOW_RULES, Window
from bookcoref_data.errors import UsageError


def ends_of(lengths):
    total = 0
    return [total := total + n for n in lengths]


def test_all_152_released_windows(reference):
    lengths = json.loads((reference / "bookcoref_sentence_lengths.json").read_text())
    ours = [
        (window_key(key, w), w.first_sentence, w.end_sentence - w.first_sentence, w.start, w.end)
        for key, sizes in lengths.items()
        for w in cut_windows(ends_of(sizes))
    ]
    with open(reference / "bookcoref_split_windows.tsv", encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    columns = ("first_sentence", "sentences", "start_token", "end_token")
    released = {(r["doc_key"], *(int(r[c]) for c in columns)) for r in rows}
    assert len(ours) == 152
    assert set(ours) == released


def test_a_sentence_that_ends_on_a_multiple_does_not_close_its_window():
    assert [w.end for w in cut_windows([10, 20, 30], size=10)] == [20, 30]
    assert [w.end for w in cut_windows([11, 20, 30], size=10)] == [11, 30]


@given(st.lists(st.integers(1, 400), max_size=60), st.integers(1, 300))
def test_windows_are_a_partition_of_whole_sentences(lengths, size):
    ends = ends_of(lengths)
    windows = cut_windows(ends, size)
    assert [s for w in windows for s in range(w.first_sentence, w.end_sentence)] == list(range(len(ends)))
    assert [t for w in windows for t in range(w.start, w.end)] == list(range(ends[-1] if ends else 0))
    assert all(w.end == ends[w.end_sentence - 1] for w in windows)


@st.composite
def books(draw):
    lengths = draw(st.lists(st.integers(1, 9), min_size=1, max_size=20))
    total = sum(lengths)
    spans = st.integers(0, total - 1).flatmap(
        lambda a: st.integers(a, min(total - 1, a + 12)).map(lambda b: (a, b))
    )
    clusters = draw(st.lists(st.lists(spans, min_size=1, max_size=6, unique=True), max_size=5))
    words = iter(range(total))
    return Book.make("b", [[f"t{next(words)}" for _ in range(n)] for n in lengths], clusters=clusters)


@given(books())
def test_every_mention_lands_in_one_window_with_its_words_or_is_reported(book):
    split = split_book(book, size=10)
    kept = [(w.text_of(m)) for w in split.books for c in w.clusters for m in c]
    lost = [book.text_of(m) for m in split.lost]
    assert sorted(kept + lost) == sorted(book.text_of(m) for c in book.clusters for m in c)
    assert tuple(t for w in split.books for t in w.tokens) == book.tokens


def test_what_became_a_singleton_in_its_window_is_kept():
    book = Book.make("b", [["a", "b"], ["c", "d"]], clusters=[[(0, 0), (2, 2)], [(1, 1), (0, 1)]])
    windows = [Window(0, 1, 0, 2), Window(1, 2, 2, 4)]
    assert [len(w.clusters) for w in split_book(book, windows=windows).books] == [2, 1]
    assert split_book(book, windows=windows).books[1].clusters == ((Mention(0, 0),),)


def test_the_restart_rule_counts_from_the_last_cut():
    assert [w.end for w in cut_windows([11, 20, 22, 30, 33], size=10, rule="restart")] == [11, 22, 33]
    assert [w.end for w in cut_windows([11, 20, 22, 30, 33], size=10)] == [11, 22, 33]
    assert [w.end for w in cut_windows([25, 30, 36], size=10, rule="restart")] == [25, 36]
    assert [w.end for w in cut_windows([10, 20, 21], size=10, rule="restart")] == [20, 21]


@pytest.mark.parametrize("settings", [{"rule": "greedy"}, {"size": 0}, {"size": -1}])
def test_windows_that_cannot_be_cut_are_refused(settings):
    with pytest.raises(UsageError):
        cut_windows([5], **settings)


def test_windows_of_one_token_can_be_cut():
    assert [w.end for w in cut_windows([1, 2, 3], size=1)] == [2, 3]


def test_the_splits_have_their_own_rules():
    assert (WINDOW_RULES["train"].size, WINDOW_RULES["test"].size) == (1350, 1500)
    book = Book.make("b", [["x"] * 280] * 8)
    parts = {split: split_by_rule(book, split).books for split in ("train", "validation", "test", "other")}
    assert [[w.doc_key for w in parts[s]] for s in ("train", "test")] == [
        ["b_split1350_S0", "b_split1350_S5"], ["b_split1500_S0", "b_split1500_S6"],
    ]  # fmt: skip
    assert (parts["validation"], parts["other"]) == (parts["train"], parts["test"])


def test_the_keys_of_windows_are_read_back():
    assert read_window_key("a_b_12_split1350_S7") == ("a_b_12", 1350, 7)
    assert read_window_key("a_split1500_S0_split99_S3") == ("a_split1500_S0", 99, 3)
    others = ("a_12", "a_split1500_S", "_split1500_S1", "a_split_S1")
    assert [read_window_key(key) for key in others] == [None] * 4
