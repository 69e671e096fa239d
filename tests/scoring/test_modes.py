"""The modes: the published figures of Animal Farm, and what belongs to which window."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from bookcoref_data.books import Book, Record, split_book, split_by_rule
from bookcoref_data.errors import DataError, UsageError
from bookcoref_data.scoring import MODES, evaluate
from bookcoref_data.scoring.modes import block_numbers, prepare

PUBLISHED = {
    "full": "full",
    "gold_window as released": "gold-window-released",
    "gold_window disjoint inclusive": "gold-window-blocks",
    "gold_window sentence-aligned": "gold-window",
    "split": "split",
}
METRICS = {"muc": "muc", "b_cubed": "b_cubed", "ceafe": "ceaf_e", "conll2012": "conll"}


def published_rows(reference):
    with (reference / "bookcoref_animal_farm_scores.tsv").open(encoding="utf-8") as stream:
        rows = [r for r in csv.DictReader(stream, delimiter="\t") if r["predictions"].startswith("finetuned")]
    assert len(rows) == 20
    return rows


def test_every_published_row_of_the_finetuned_system(reference, farm, real):
    """P, R and F1 of the official code in five modes, to the two decimals printed."""
    results = {}
    for row in published_rows(reference):
        mode = PUBLISHED[row["mode"]]
        if mode not in results:
            windows = mode == "split"
            key, response = ("key windows", "system windows") if windows else ("key", "system")
            results[mode] = evaluate(farm[key], real[response], mode).pooled
        score = getattr(results[mode], METRICS[row["metric"]])
        found = tuple(round(100 * v, 2) for v in (score.precision, score.recall, score.f1))
        assert found == tuple(float(row[v]) for v in ("precision", "recall", "f1")), row


def test_the_gold_file_gives_the_same_score_under_another_name(real):
    """The CoNLL gold is called animal_farm, the prediction animal_farm_0: same tokens, so the same book."""
    result = evaluate(real["gold"], real["system"])
    assert round(100 * result.pooled.conll.f1, 2) == 62.75
    assert any("same tokens" in note for note in result.notes)


def test_whole_books_in_split_mode_are_cut_as_released(farm, real):
    given = evaluate(farm["key windows"], real["system windows"], "split")
    cut = evaluate(farm["key"], real["system windows"], "split")
    assert cut.pooled == given.pooled
    assert any("cut by us" in note for note in cut.notes)


def test_a_key_without_sentences_is_cut_by_the_sentences_of_the_response(real):
    """The released annotations carry no text for two books; the predictions know the sentences."""
    assert any(record.sentences is None for record in real["key"])
    cut = evaluate(real["key"], real["system windows"], "split")
    assert cut.pooled == evaluate(real["key windows"], real["system windows"], "split").pooled
    assert sum(book.units for book in cut.books) == 152


def test_whole_responses_in_split_mode_are_said_to_be_no_split_scores(farm, real):
    result = evaluate(farm["key windows"], real["system"], "split")
    assert round(100 * result.pooled.conll.f1, 2) == 70.0
    assert any("not the scores of a system run on windows" in note for note in result.notes)


def book(lengths, clusters, key="book"):
    return Book.make(key, [["x"] * n for n in lengths], clusters=clusters)


def one_token_clusters(starts):
    return [[(s, s) for s in starts]]


def window_members(mode, lengths, starts, size=10):
    """For each unit the key mentions in it."""
    source = book(lengths, one_token_clusters(starts))
    prepared = prepare([source], [source], mode, window_size=size)
    side = prepared.books[0].key
    return [sorted(side.start[side.unit == u].tolist()) for u in range(prepared.books[0].units)]


def test_released_windows_lose_multiples_and_count_the_overlap_twice():
    """n = 25, size 10: windows (0,10), (10,20), (15,25), all with open ends."""
    found = window_members("gold-window-released", [25], range(25))
    assert found == [list(range(1, 10)), list(range(11, 20)), list(range(16, 25))]


def test_released_windows_score_a_last_full_window_twice():
    assert window_members("gold-window-released", [20], range(20)) == [
        list(range(1, 10)),
        list(range(11, 20)),
        list(range(11, 20)),
    ]


def test_released_windows_of_a_short_book_hold_everything():
    assert window_members("gold-window-released", [7], range(7)) == [list(range(7))]


@pytest.mark.parametrize("mode", ["gold-window", "gold-window-blocks"])
@pytest.mark.parametrize("lengths", [[4, 9, 3, 3, 12, 1], [10, 10, 5], [40], [1]])
def test_sound_windows_are_a_partition(mode, lengths):
    starts = range(sum(lengths))
    found = window_members(mode, lengths, starts)
    assert sorted(s for window in found for s in window) == list(starts)


def test_a_mention_over_a_window_end_belongs_where_it_starts():
    source = book([10, 10, 10], [[(8, 13), (20, 21)]])
    side = prepare([source], [source], "gold-window-blocks", window_size=10).books[0].key
    assert [(int(s), int(u)) for s, u in zip(side.start, side.unit, strict=True)] == [(8, 0), (20, 2)]


def test_released_overlap_does_not_look_like_duplicates():
    """A mention in two windows is two mentions, not a span in two clusters."""
    source = book([25], one_token_clusters(range(25)))
    result = evaluate([source], [source], "gold-window-released", window_size=10)
    assert result.pooled.conll.f1 == 1.0
    assert result.pooled.mentions.recall_denominator == 9 + 9 + 9


def sizes_of(bounds):
    return [end - start for start, end in bounds]


def test_split_cuts_like_the_books_room(real):
    """Cutting gold ourselves gives the clusters of `books.split_book`."""
    gold = real["gold"][0].to_book()
    windows = [b.to_record() for b in split_book(gold).books]
    prepared = prepare([gold], windows, "split")
    assert evaluate([gold], windows, "split").pooled.conll.f1 == 1.0
    assert [sizes_of(b.bounds) for b in prepared.books] == [[w.to_book().token_count for w in windows]]


def test_given_windows_keep_their_keys_whatever_their_size(real):
    """The silver split has windows of 1350 tokens; whole books, even without text, are cut into the same."""
    gold = real["gold"][0].to_book()
    windows = [b.to_record() for b in split_by_rule(gold, "train").books]
    result = evaluate(windows, [Record(gold.doc_key, "", None, gold.to_record().clusters)], "split")
    assert result.pooled.conll.f1 == 1.0
    assert sizes_of(result.books[0].book.bounds) == [w.to_book().token_count for w in windows]


def test_mentions_that_cross_a_window_are_named_in_split_mode():
    crossing = book([12, 12], [[(1, 2), (11, 13)]])
    result = evaluate([crossing], [crossing], "split", window_size=10)
    assert any("1 key mentions cross a window end" in note for note in result.notes)
    assert result.pooled.mentions.recall_denominator == 1


def test_windows_in_a_whole_book_mode_are_refused_with_the_way_out(farm, real):
    with pytest.raises(UsageError, match="--mode split"):
        evaluate(farm["key windows"], real["system windows"], "gold-window", missing="skip")
    with pytest.raises(UsageError, match="--mode split compares windows with windows"):
        evaluate(farm["key"], real["system windows"])


def test_windows_without_sentences_are_refused(record):
    bare = record("b", [[(0, 1), (5, 5)]])
    with pytest.raises(UsageError, match="gold-window-blocks"):
        evaluate([bare], [bare], "gold-window")
    assert evaluate([bare], [bare], "gold-window-blocks").pooled.mentions.f1 == 1.0
    with pytest.raises(UsageError, match="needs the sentences"):
        evaluate([bare], [bare], "split")


@pytest.mark.parametrize(("arguments", "error"), [
    ({"mode": "half"}, UsageError),
    ({"missing": "maybe"}, UsageError),
    ({"window_size": 0}, UsageError),
])  # fmt: skip
def test_settings_that_cannot_be_right_are_refused(record, arguments, error):
    with pytest.raises(error):
        evaluate([record("b", "ab")], [record("b", "ab")], **arguments)


def test_results_carry_the_scorer_and_its_rules(record):
    rules = evaluate([record("b", "ab")], [record("b", "ab")], singletons="drop").to_dict()["rules"]
    assert rules["scorer"] == "bookcoref-data scorer 1"
    assert rules["singletons"] == "drop"
    assert rules["duplicates"] == "released"
    assert "summed" in rules["pooling"]
    assert rules["mode_meaning"] == MODES["full"]


def test_windows_of_a_book_need_not_be_complete(record):
    """Scoring some windows of a book is scoring those windows."""
    windows = [record(f"b_split1500_S{n}", [[(0, 0), (1, 1)]], [["x", "y"]]) for n in (40, 0)]
    result = evaluate(windows, windows, "split")
    assert result.pooled.muc.f1 == 1.0
    assert result.books[0].book.bounds == ((0, 2), (2, 4))


def test_windows_with_a_gap_do_not_say_where_the_others_lie(record):
    """Key windows without the first one: a whole response is cut by its own sentences, or not at all."""
    clusters = [[(i, i) for i in range(11)]]
    sentences = [[f"w{i}{j}" for j in range(3)] for i in range(4)]
    windows = [record("b_split6_S3", [[(0, 0), (2, 2)]], sentences[3:])]
    with pytest.raises(UsageError, match="needs the sentences of all of it"):
        evaluate(windows, [record("b", clusters)], "split")
    whole = evaluate(windows, [record("b", clusters, sentences)], "split", window_size=6)
    assert whole.pooled.mentions.f1 == 0.5


SHORT = [["a", "b", "c"], ["d", "e", "f"], ["g", "h", "i"]]


@pytest.mark.parametrize("there", [(0, 3), (0, 6), (3, 6)])
def test_windows_that_a_side_lacks_are_said(record, there):
    """A whole response beside a key without its last window: "2 mentions cross a window end", and no more."""
    clusters = [[(0, 0), (3, 3), (6, 6), (8, 8)]]
    key = [record(f"b_split3_S{n // 3}", [[(0, 0), (2, 2)]], [SHORT[n // 3]]) for n in there]
    told = "the key lacks windows of b: only those that are there are scored"
    assert told in evaluate(key, key, "split").notes or there == (0, 3)
    whole = evaluate(key, [record("b", clusters, SHORT)], "split", window_size=2)
    lacking = ({0, 3, 6} - {*there}).pop() // 3
    assert told in whole.notes
    assert f"in the response but not in the key, not scored: b_split2_S{lacking}" in whole.notes
    assert not any("cross" in note for note in whole.notes)


def test_windows_do_not_cut_a_whole_book_that_goes_on_behind_them(record):
    """Key mentions behind the last window of a response were left out of the score."""
    key = [record("b", [[(0, 0), (3, 3), (6, 6), (8, 8)]])]
    response = [record(f"b_split3_S{n}", [[(0, 0)]], [SHORT[n]]) for n in range(3)]
    assert evaluate(key, response, "split").pooled.mentions.recall_denominator == 4
    with pytest.raises(UsageError, match="needs the sentences of all of it"):
        evaluate(key, response[:2], "split")


def test_whole_books_among_windows_are_cut_too(record):
    """They were scored whole, as one window."""
    mixed = [record("a_split3_S0", [[(0, 0)]], [SHORT[0]]), record("b", [[(0, 0), (8, 8)]], SHORT)]
    result = evaluate(mixed, mixed, "split", window_size=2)
    assert [book.book.units for book in result.books] == [1, 3]
    assert any("the key holds 1 whole book: cut by us" in note for note in result.notes)


def test_data_of_another_text_is_refused(record):
    with pytest.raises(DataError, match="token 1 is the first to differ"):
        evaluate([record("b", [], [["a", "b"]])], [record("b", [], [["a", "c"]])])


def test_one_far_offset_without_text_costs_no_more_than_the_record():
    """103 bytes of JSON took 46 s and 1.5 GiB: every window up to 2^31 was made."""
    far = Record("b", "", None, [[(0, 1), (5, 5), (2**31 - 2, 2**31 - 1)]])
    for mode in ("full", "gold-window-blocks", "gold-window-released"):
        result = evaluate([far], [far], mode)
        assert result.books[0].units <= 3
        assert result.pooled.mentions.f1 == 1.0


def test_blocks_without_mentions_change_no_score():
    starts = [1, 12, 29, 30, 71]
    bare = Record("b", "", None, one_token_clusters(starts))
    listed = evaluate([bare], [bare], "gold-window-blocks", window_size=10)
    assert listed.books[0].units == 8
    few = block_numbers(10**9, 10, np.array(starts), text=False)
    assert few.tolist() == [0, 1, 2, 3, 7]
    assert block_numbers(72, 10, np.array(starts), text=False).tolist() == list(range(8))
    assert block_numbers(200_000, 10, np.array(starts), text=True).size == 20_000


@pytest.mark.parametrize("side", ["key", "response"])
def test_sentences_may_come_from_either_side(record, side):
    """The key's sentences count when it has any, else those of the response."""
    bare = record("b", [[(0, 0), (11, 11)]])
    text = record("b", [[(0, 0), (11, 11)]], [["x"] * 6, ["x"] * 6])
    sides = (text, bare) if side == "key" else (bare, text)
    prepared = prepare([sides[0]], [sides[1]], "gold-window", window_size=5)
    assert prepared.books[0].sentence_ends == (6, 12)
    assert prepared.books[0].bounds == ((0, 6), (6, 12))


def test_the_smallest_window_is_one_token():
    source = book([2], [[(0, 0), (1, 1)]])
    assert evaluate([source], [source], "gold-window-blocks", window_size=1).books[0].units == 2
    with pytest.raises(UsageError, match="positive"):
        evaluate([source], [source], "full", window_size=0)
