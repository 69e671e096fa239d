"""Printing and progress that all verbs share."""

import json as json_module
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from .. import api
from ..formats.cells import cell_text, markdown_row
from ..progress import Progress, Silent


def emit_json(value: Any) -> None:
    """Print one JSON document on stdout."""
    print(json_module.dumps(value, ensure_ascii=False, indent=2))


def cells(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> list[list[Any]]:
    """Some columns of rows by name."""
    return [[row[column] for column in columns] for row in rows]


def emit_table(
    columns: Sequence[str], rows: Iterable[Iterable[Any]], *, title: str = "", markdown: bool = False
) -> None:
    """Print a table on stdout, plain and aligned (numbers to the right) or in Markdown."""
    if markdown:
        head = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
        print(*([f"**{title}**\n"] if title else []), *head, *map(markdown_row, rows), sep="\n")
        return
    if title:
        print(title)
    aligned = []
    for heading, *cells in zip(columns, *([cell_text(value) for value in row] for row in rows), strict=True):
        bare = (cell.replace(",", "").replace(".", "", 1).lstrip("-").rstrip("%") for cell in cells)
        numbers = all(cell == "-" or digits.isdigit() for cell, digits in zip(cells, bare, strict=True))
        width = max(map(len, (heading, *cells)))
        pad = str.rjust if cells and numbers else str.ljust
        aligned.append([pad(cell, width) for cell in (heading, "-" * width, *cells)])
    for line in zip(*aligned, strict=True):
        print("  ".join(line).rstrip())


def emit_rows(table: api.Table, *, title: str = "", markdown: bool = False) -> None:
    """Print a table of the front door."""
    emit_table(table.columns, (row.values() for row in table), title=title, markdown=markdown)


def emit_problems(problems: Sequence[tuple[str, str]]) -> None:
    """What could not be read, and why; of many the first."""
    for what, why in problems[:20]:
        say(f"{why}: {what}")
    if len(problems) > 20:
        say(f"and {len(problems) - 20} more; --json lists them all")


quiet = False
"""Whether only results and errors are wanted (-q)."""


def say(message: str) -> None:
    """A line for the person, on stderr."""
    if not quiet:
        print(message, file=sys.stderr)


def listed(what: str, texts: Iterable[object]) -> None:
    """A line on stderr for each of several texts, after the same words."""
    for text in texts:
        say(f"{what} {text}")


@contextmanager
def progress() -> Iterator[Progress]:
    """A progress display on stderr when it is a terminal, a line a minute otherwise."""
    if quiet or not sys.stderr.isatty():
        yield Silent() if quiet else Lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
        TextColumn("{task.fields[unit]}"), TimeRemainingColumn(),
    )  # fmt: skip
    with RichProgress(*columns, console=console, transient=True) as bars:
        yield _Bars(bars)


class Lines(Silent):
    """Off a terminal: notes at once, and one line a minute that says how far the work is.

    Of several things that run, the one that began first speaks for all.
    """

    def __init__(self, seconds: float = 60.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._clock = seconds, clock
        self._running: dict[str, _Running] = {}
        self._said = clock()

    def begin(self, key: str, total: int | None, unit: str) -> None:
        self._running[key] = _Running(total, unit, self._clock())

    def advance(self, key: str, amount: int = 1) -> None:
        if key in self._running:
            self._running[key].done += amount
        now = self._clock()
        if self._running and now - self._said >= self._seconds:
            self._said = now
            first, running = next(iter(self._running.items()))
            say(f"{first}: {running.line(now)}")

    def end(self, key: str) -> None:
        self._running.pop(key, None)

    def note(self, message: str) -> None:
        say(message)


@dataclass(slots=True)
class _Running:
    """Something that runs: how much there is, in what unit, since when, and how much is done."""

    total: int | None
    unit: str
    began: float
    done: int = 0

    def line(self, now: float) -> str:
        spent = now - self.began
        if self.total is None:
            return f"{self.done:,} {self.unit} after {timedelta(seconds=round(spent))}"
        line = f"{self.done:,} of {self.total:,} {self.unit} after {timedelta(seconds=round(spent))}"
        if not 0 < self.done < self.total:
            return line
        left = round(spent / self.done * (self.total - self.done))
        return f"{line}, about {timedelta(seconds=left)} left"


class _Bars:
    """Draws `Progress` calls as bars of rich."""

    def __init__(self, bars: Any) -> None:
        self._bars = bars
        self._tasks: dict[str, Any] = {}

    def begin(self, key: str, total: int | None, unit: str) -> None:
        self._tasks[key] = self._bars.add_task(key, total=total, unit=unit)

    def advance(self, key: str, amount: int = 1) -> None:
        if key in self._tasks:
            self._bars.advance(self._tasks[key], amount)

    def end(self, key: str) -> None:
        if key in self._tasks:
            self._bars.remove_task(self._tasks.pop(key))

    def note(self, message: str) -> None:
        self._bars.console.print(message, markup=False, highlight=False)
