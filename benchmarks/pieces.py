"""Long runs in pieces: what is done stands in a log, and a run that starts again goes on after it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path


class Pieces:
    """A table with a row for each piece that is done: name, things tried, faults found, what they are.

    Without a file nothing is kept and every piece is left to do.
    """

    def __init__(self, log: Path | None) -> None:
        self.log = log
        self.done: dict[str, tuple[int, int]] = {}
        for line in log.read_text(encoding="utf-8").splitlines() if log and log.exists() else ():
            name, tried, faults, _ = line.split("\t")
            self.done[name] = (int(tried), int(faults))

    def left(self, names: Iterable[str]) -> Iterator[str]:
        """The names that have no row yet, one after the other."""
        return (name for name in names if name not in self.done)

    def add(self, name: str, tried: int, faults: int, what: str = "") -> None:
        """Note that a piece is done."""
        self.done[name] = (tried, faults)
        line = f"{name}\t{tried}\t{faults}\t{' '.join(what.split())}"
        print(line, flush=True)
        if self.log:
            with open(self.log, "a", encoding="utf-8") as stream:
                stream.write(f"{line}\n")

    def total(self, names: Iterable[str]) -> tuple[int, int]:
        """(things tried, faults found) in these pieces."""
        rows = [self.done[name] for name in names]
        return sum(tried for tried, _ in rows), sum(faults for _, faults in rows)
