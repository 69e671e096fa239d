"""The picture of length and distance shows how many mentions stand behind each dot."""

from __future__ import annotations

import pytest

from bookcoref_data.books import Record
from bookcoref_data.books.statistics import corpus_statistics, document_statistics
from bookcoref_data.reports.statistics_plots import draw_length_and_distance


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
