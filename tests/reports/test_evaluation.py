"""Tables and pictures of an evaluation say what the numbers are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bookcoref_data.books import Record
from bookcoref_data.errors import MissingExtraError
from bookcoref_data.reports import evaluation_plots, evaluation_tables
from bookcoref_data.scoring import evaluate
from bookcoref_data.scoring.breakdowns import breakdown
from bookcoref_data.scoring.error_analysis import analyse_errors
from bookcoref_data.scoring.labels import character_scores
from bookcoref_data.scoring.significance import Interval, resample

SENTENCES = [["Anna", "met", "Ben", "."], ["She", "saw", "him", "."]] * 30


def mentions(*offsets):
    return [(8 * i + o, 8 * i + o) for i in range(30) for o in offsets]


@pytest.fixture
def result():
    key = [mentions(0, 4), mentions(2, 6)]
    gold = Record("b_1", "1", SENTENCES, key, [("Anna", key[0]), ("Ben", key[1])])
    system = Record("b_1", "1", SENTENCES, [mentions(0, 4, 6), mentions(2)[:20]])
    return evaluate([gold], [system], window_size=20)


def test_scores_are_printed_in_percent(result):
    rows = {row[0]: row[1:] for row in evaluation_tables.score_table(result).rows}
    b_cubed = result.pooled.b_cubed
    assert rows["B3"] == (100 * b_cubed.precision, 100 * b_cubed.recall, 100 * b_cubed.f1)
    assert list(rows) == ["MUC", "B3", "CEAF-e", "CoNLL", "CEAF-m", "BLANC", "LEA", "mentions"]


def test_every_row_of_every_table_fits_its_columns(result):
    tables = [
        evaluation_tables.score_table(result),
        evaluation_tables.book_table(result),
        evaluation_tables.character_table(character_scores(result), 5),
        *evaluation_tables.breakdown_tables(breakdown(result)),
        *evaluation_tables.error_tables(analyse_errors(result)),
        evaluation_tables.resampling_table(resample(result, samples=100, block_size=20)),
    ]
    for table in tables:
        assert all(len(row) == len(table.columns) for row in table.rows), table.title
        assert table.rows, table.title


def test_a_bin_without_mentions_of_one_side_has_no_score_there(result):
    tables = {t.title.split(":")[0]: t for t in evaluation_tables.breakdown_tables(breakdown(result))}
    frequency = {row[0]: row for row in tables["by frequency"].rows}
    assert frequency["11-50"][1] == 0
    assert frequency["11-50"][3] is None
    assert frequency["11-50"][4] == 100.0


def test_the_example_keeps_its_mention_in_view():
    case = type("Case", (), {"snippets": ("x " * 90 + "[him] " + "y " * 90,)})
    assert "[him]" in evaluation_tables._first(case)
    assert len(evaluation_tables._first(case)) < 100


@pytest.fixture
def pyplot():
    return pytest.importorskip("matplotlib.pyplot")


def test_the_picture_of_several_systems_has_the_interval_of_each(pyplot, monkeypatch, tmp_path):
    kept = {}
    monkeypatch.setattr(evaluation_plots, "save_figures", lambda figures, *_: kept.update(figures))
    evaluation_plots.save_intervals({"a": Interval(0.5, 0.4, 0.7), "b": Interval(0.8, 0.75, 0.82)}, tmp_path)
    (axes,) = kept["intervals"].axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["a", "b"]
    bars = [one.lines[2][0].get_segments()[0].round(6).tolist() for one in axes.containers]
    assert bars == [[[0, 40], [0, 70]], [[1, 75], [1, 82]]]
    assert [one.lines[0].get_ydata().tolist() for one in axes.containers] == [[50], [80]]
    pyplot.close(kept["intervals"])


def test_the_confusion_picture_shows_every_character_and_share(result, pyplot):
    names, counts, mended = analyse_errors(result).matrix["b_1"]
    figure = evaluation_plots.draw_confusion("b_1", names, counts, mended)
    axes = figure.axes[0]
    assert [t.get_text() for t in axes.get_yticklabels()] == ["Anna (60)", "Ben (60)"]
    assert [t.get_text() for t in axes.get_xticklabels()] == ["Anna", "Ben", "(missed)"]
    # Half of Ben lies with Anna, a third in a cluster of his own, the rest is missed.
    assert sorted(t.get_text() for t in axes.texts) == ["100", "17", "33", "50"]
    assert mended == 0
    assert axes.get_xlabel().endswith("holds mostly ...")
    figure = evaluation_plots.draw_confusion("b_1", names, counts, 3)
    assert axes.get_xlabel() != figure.axes[0].get_xlabel()
    assert figure.axes[0].get_xlabel().endswith("(3 mentions with another span of the same head)")
    pyplot.close(figure)


def test_many_characters_are_condensed_without_losing_a_mention():
    names = [f"n{i}" for i in range(40)]
    counts = np.arange(40 * 41, dtype=float).reshape(40, 41)
    kept, condensed = evaluation_plots._condense(names, counts, 15)
    assert kept[-1] == "26 others"
    assert condensed.shape == (15, 16)
    assert condensed.sum() == counts.sum()
    assert condensed[:, -1].sum() == counts[:, -1].sum()


@pytest.mark.long
def test_labels_of_pictures_do_not_overlap(farm_result, pyplot):
    """Tick labels of the real book are apart from each other."""
    names, counts, mended = analyse_errors(farm_result).matrix["animal_farm_0"]
    figure = evaluation_plots.draw_confusion("animal_farm_0", names, counts, mended)
    figure.canvas.draw()
    boxes = [t.get_window_extent() for t in figure.axes[0].get_yticklabels()]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    pyplot.close(figure)


@pytest.fixture
def farm_result(shared_data):
    from bookcoref_data.formats import read_documents

    annotations = shared_data / "release" / "bookcoref_annotations"
    key = [r for r in read_documents(annotations / "full" / "test.jsonl") if r.doc_key == "animal_farm_0"]
    return evaluate(key, read_documents(shared_data / "systems" / "finetuned" / "maverick_xl.jsonl"))


def test_systems_of_different_books_are_not_said_to_be_of_the_same():
    key = [Record(name, "", [["x"] * 9], [[(0, 0), (2, 2)]]) for name in "ab"]
    systems = [(str(n), evaluate(key, key[:n], missing="skip")) for n in (2, 1)]
    title = evaluation_tables.systems_table(systems).title
    assert title.startswith("F1: full, 2 books; full, 1 book, pooled")


def test_curves_break_where_a_side_has_no_mention(pyplot):
    from bookcoref_data.scoring.breakdowns import position_curve

    sentences = [["x"] * 1500] * 3
    key = Record("b", "", sentences, [[(0, 0), (10, 10), (4000, 4000)]])
    result = evaluate([key], [Record("b", "", sentences, [[(0, 0), (10, 10)]])])
    figure = evaluation_plots.draw_position(position_curve(result, result.books[0]))
    lines = {line.get_label(): line.get_ydata() for line in figure.axes[0].lines}
    assert np.isnan(lines["recall"]).tolist() == [False, True, False]
    assert np.isnan(lines["precision"]).tolist() == [False, True, True]
    assert figure.axes[0].lines[0].get_xdata().tolist() == [0.75, 2.25, 3.75]
    assert [bar.get_height() for bar in figure.axes[1].patches] == [2, 0, 1]
    assert [bar.get_width() for bar in figure.axes[1].patches] == pytest.approx([0.92 * 1.5] * 3)
    pyplot.close(figure)


def test_the_error_picture_ends_at_one_hundred(result, pyplot):
    figure = evaluation_plots.draw_errors(analyse_errors(result))
    bars = figure.axes[1].patches
    assert bars[-1].get_x() + bars[-1].get_width() == pytest.approx(100)
    pyplot.close(figure)


@pytest.mark.long
def test_the_same_scores_give_the_same_svg(result, tmp_path, pyplot):
    for folder in ("a", "b"):
        evaluation_plots.save_plots(result, tmp_path / folder)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_without_matplotlib_the_extra_is_named(result, tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"bookcoref-data\[plots\]"):
        evaluation_plots.save_plots(result, tmp_path)


def test_a_correction_that_costs_is_shown_with_one_sign(result, pyplot):
    """Mending can lower CoNLL F1; the text was "+-2.3", black on the black bar."""
    analysis = analyse_errors(result)
    (first, best), (_, worse) = analysis.steps[-1], analysis.steps[0]
    costly = replace(analysis, steps=((first, best), ("conflated split", worse)))
    figure = evaluation_plots.draw_errors(costly)
    texts = [text for text in figure.axes[1].texts if text.get_text().startswith(("+", "-"))]
    assert [text.get_text()[0] for text in texts] == ["-"]
    bar = figure.axes[1].patches[1]
    left = min(bar.get_x(), bar.get_x() + bar.get_width())
    assert texts[0].xy[0] == left
    assert texts[0].get_position()[0] < 0
    assert texts[0].get_ha() == "right"
    pyplot.close(figure)
