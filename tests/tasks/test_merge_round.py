"""The annotation round in the terminal, word for word."""

from __future__ import annotations

import pytest
import typer
import typer.main
from click.testing import CliRunner

from bookcoref_data.books import Mention, Record
from bookcoref_data.cli.verbs import tasks as merge_round
from bookcoref_data.tasks.merging.laying import documents_of
from bookcoref_data.workflows.merge import AnswerFile


def story(people=2):
    """Part 0 has so many people, part 1 "he" and "she"."""
    names = [f"Tom{i}" for i in range(people)]
    first = Record(
        "s_0",
        "",
        [[*names, "."]],
        [[Mention(i, i)] for i in range(people)],
        extra={"document": "s", "part": "0", "cluster_ids": [f"A{i}" for i in range(people)]},
    )
    later = Record(
        "s_1",
        "",
        [["he", "saw", "her", "."]],
        [[Mention(0, 0)], [Mention(2, 2)]],
        extra={"document": "s", "part": "1", "cluster_ids": ["B", "C"]},
    )
    return documents_of([first, later])


def asked(tmp_path, typed, people=2):
    """(exit code, what is printed, the rows kept) of a round in which these answers are typed."""
    answers = AnswerFile(tmp_path / "new" / "a.tsv", "me")
    app = typer.Typer()
    app.command()(lambda: merge_round.ask_all(story(people), answers))
    done = CliRunner().invoke(typer.main.get_command(app), [], input="".join(f"{one}\n" for one in typed))
    text = answers.path.read_text() if answers.path.exists() else ""
    return done.exit_code, done.output, [line.split("\t")[1:] for line in text.splitlines()[1:]]


PROMPT = "joins (number, n, a, s, q, ?) "
HE = """
s, part 1, chain 1 of 2
    ... Tom0 Tom1 . [he] saw her . ...
    1. (1) Tom1
    2. (1) Tom0
    n. a new chain
"""


def listed(text):
    """Lines without the blanks at their beginning."""
    return [line.strip() for line in text.strip().splitlines()]


def test_a_round_is_this_conversation(tmp_path):
    code, output, rows = asked(tmp_path, ["?", "0", "4", "1", "S", "n", "y"])
    assert code == 0
    assert rows == [["1", "B", "0", "A1", "me"], ["1", "C", "new", "new", "me"]]
    said = listed(output)
    help_line = "number: join that chain; n: new; a: all options; s: summary of this part; q: stop here"
    assert said.count(PROMPT + help_line) == 3
    assert said[:5] == listed(HE)
    assert said[said.index("2. her") + 1] == "-> (not decided)"
    end = said[said.index("summary of part 1") :]
    assert end[:5] == ["summary of part 1", "1. he", "-> Tom1", "2. her", "-> new"]
    assert f"all chains are decided; answers are in {tmp_path / 'new' / 'a.tsv'}" in output.replace("\n", "")


@pytest.mark.parametrize(
    ("people", "shown", "more"), [(9, 9, ""), (10, 9, "and 1 more (a)"), (12, 9, "and 3 more (a)")]
)
def test_nine_options_are_shown_and_all_when_asked_for(tmp_path, people, shown, more):
    _, output, _ = asked(tmp_path, ["q"], people)
    options = [line for line in listed(output) if ". (1) Tom" in line]
    assert len(options) == shown
    assert [line for line in listed(output) if line.endswith("more (a)")] == ([more] if more else [])
    _, output, _ = asked(tmp_path, ["a", "q"], people)
    assert len([line for line in listed(output) if ". (1) Tom" in line]) == shown + people


def test_a_round_that_is_stopped_goes_on_where_it_was(tmp_path):
    code, output, rows = asked(tmp_path, ["n", "q"])
    assert (code, rows) == (130, [["1", "B", "new", "new", "me"]])
    assert "stopped; answers are kept in" in output
    code, output, rows = asked(tmp_path, ["2", "2", "n", "q"])
    assert code == 130
    assert rows[1:] == [["1", "C", "0", "A1", "me"], ["1", "C", "new", "new", "me"]]
    code, output, rows = asked(tmp_path, [])
    assert (code, len(rows)) == (0, 3)


@pytest.mark.parametrize("word", ["y", "yes", " YES "])
def test_a_part_is_confirmed(tmp_path, word):
    code, _, rows = asked(tmp_path, ["1", "1", "x", "3", word])
    assert (code, len(rows)) == (0, 2)
