"""What is said of long work off a terminal."""

import io

from bookcoref_data.cli.common import Lines


def test_a_line_a_minute_of_the_outermost_work(capsys):
    now = [0.0]
    lines = Lines(clock=lambda: now[0])
    lines.begin("all books", 10, "books")
    for _ in range(4):
        now[0] += 45
        lines.begin("emma", 100, "sentences")
        lines.advance("emma", 100)
        lines.end("emma")
        lines.advance("all books")
    lines.note("a note")
    lines.end("all books")
    assert capsys.readouterr().err.splitlines() == [
        "all books: 1 of 10 books after 0:01:30, about 0:13:30 left",
        "all books: 3 of 10 books after 0:03:00, about 0:07:00 left",
        "a note",
    ]


def test_work_without_an_end_says_what_is_done(capsys):
    now = [0.0]
    lines = Lines(clock=lambda: now[0])
    lines.begin("read", None, "documents")
    now[0] = 3700.0
    lines.advance("read", 1200)
    lines.advance("unknown")
    assert capsys.readouterr().err == "read: 1,200 documents after 1:01:40\n"


def test_bars_are_drawn_while_something_runs_and_not_for_what_does_not():
    from rich.console import Console
    from rich.progress import Progress

    from bookcoref_data.cli.common import _Bars

    drawn = Progress(console=Console(file=io.StringIO()), disable=True)
    bars = _Bars(drawn)
    bars.begin("one", 5, "books")
    bars.begin("two", None, "books")
    for key, amount in (("one", 2), ("one", 1), ("none", 4)):
        bars.advance(key, amount)
    told = [(task.description, task.completed, task.total) for task in drawn.tasks]
    assert told == [("one", 3, 5), ("two", 0, None)]
    bars.end("one")
    bars.end("none")
    assert [task.description for task in drawn.tasks] == ["two"]
