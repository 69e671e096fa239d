"""The picture of length and distance shows how many mentions stand behind each dot."""

from __future__ import annotations

import pytest

from bookcoref_data.books import Record
from bookcoref_data.books.statistics import corpus_statistics, document_statistics
from bookcoref_data.reports.evaluation_plots import draw_length_and_distance


def test_the_area_of_a_dot_grows_with_the_mentions():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    rows = []
    for name, mentions in (("few", 4), ("many", 40)):
        record = Record(name, sentences=[["a"] * 100], clusters=[[(i, i) for i in range(mentions)]])
        rows.append((name, corpus_statistics([document_statistics(record)])))
    figure = draw_length_and_distance(rows)
    (given,) = (c for c in figure.axes[0].collections if c.get_label() == "given")
    small, large = given.get_sizes()
    assert 0 < small < large / 2
    pyplot.close(figure)


def test_the_rows_of_the_paper_stand_behind_the_given_ones():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    record = Record("d", sentences=[["a"] * 100], clusters=[[(0, 0), (10, 10)]])
    statistics = corpus_statistics([document_statistics(record)])
    empty = corpus_statistics([document_statistics(Record("e", sentences=[["a"]]))])
    figure = draw_length_and_distance([("x/one", statistics), ("two", empty)])
    axes = figure.axes[0]
    printed, given = axes.collections
    assert printed.get_offsets().tolist() == [
        [467, 140],
        [674, 371],
        [2105, 480],
        [1996, 1013],
        [22423, 7672],
        [76419, 34880],
        [216626, 73432],
    ]
    assert given.get_offsets().tolist() == [[100, 10]]
    assert given.get_sizes().tolist() == [230]
    assert [text.get_text() for text in axes.texts] == [
        "OntoNotes",
        "LongtoNotes",
        "LitBank",
        "WikiCoref",
        "MovieCoref",
        "BookCoref gold",
        "BookCoref silver",
        "one",
    ]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    pyplot.close(figure)
