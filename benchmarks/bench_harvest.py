"""A whole harvest from a service that is emulated, with a clock of its own: 60,000 works in how many minutes?

    python benchmarks/bench_harvest.py [--works 60000] [--each 4] [--kills 5] [--seed 1]

The service stops a query after 60 seconds of its time, answers the first question with nothing, breaks
answers off in the middle, is busy now and then, has one class of ten million items (a human with a mistaken
P674 is among the works) and one class that it never answers for. The harvest is killed at
random queries and begun again. No time passes: waits and answers move the clock. How fast the service is,
is a guess on the safe side: see `SECONDS`.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from bookcoref_data.characters.wikidata_cast import CastReport, cast_rows
from bookcoref_data.errors import SourceError
from bookcoref_data.sources import sparql
from bookcoref_data.sources.http import Fetcher, Pace
from bookcoref_data.sources.sparql import Archive, SparqlEndpoint
from bookcoref_data.sources.wikidata import AUTHOR, CHARACTER, CLASS, ENTITY, LABEL, WikidataSettings, harvest

WDT, LIMIT = "http://www.wikidata.org/prop/direct/", 60.0
SECONDS = {"query": 0.2, "statement scanned": 2e-5, "item looked up": 2e-4, "row": 5e-5}
"""What the emulated service needs. A class of ten million items takes 200 s at that rate: it is refused."""
HUMANS, HUMAN = 10_000_000, "Q5"
_LONG = {"wdt:": WDT, "rdfs:": "http://www.w3.org/2000/01/rdf-schema#"}


class Killed(BaseException):
    """The harvest was stopped from outside."""


class Clock:
    """Seconds that pass only when somebody waits."""

    def __init__(self) -> None:
        self.now = 0.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class Service:
    """Answers the queries of the harvest over a world that is computed, not stored."""

    def __init__(
        self, works: int, each: int, clock: Clock, draw: random.Random, faults: float = 0.05
    ) -> None:
        self.works, self.each, self.clock, self.draw, self.faults = works, each, clock, draw, faults
        self.asked, self.kill_at = 0, -1
        self.empty_first = True

    def facts(self, item: str) -> dict[str, list[str]]:
        """Property -> values of an item; every fifth work has no author, the first is a human."""
        number = int(item[1:])
        if 1_000_000 <= number < 1_000_000 + self.works:
            place = number - 1_000_000
            cast = [f"{ENTITY}Q{20_000_000 + place * self.each + n}" for n in range(self.each)]
            kind = HUMAN if place == 0 else "Q666" if place == 1 else f"Q{900_000 + place % 40}"
            author = {AUTHOR: [f"{ENTITY}Q{5_000_000 + place // 6}"]} if place % 5 else {}
            return {CHARACTER: cast, CLASS: [ENTITY + kind], LABEL: [f"Work {place}"], **author}
        return {LABEL: [f"Item {number}"]}

    def answer(self, query: str) -> Any:
        """What `SparqlEndpoint._exchange` gives: an answer, or a fault; the clock moves on."""
        self.asked += 1
        if self.asked == self.kill_at:
            raise Killed
        seconds, rows = self._rows(query)
        seconds += SECONDS["query"]
        self.clock.sleep(min(seconds, LIMIT))
        if seconds > LIMIT:
            return sparql._Fault("504, gateway timeout", heavy=True)
        if self.empty_first:
            self.empty_first = False
            rows = []
        if self.draw.random() < self.faults:
            return self.draw.choice([
                sparql._Fault("not a whole answer"), sparql._Fault("429, too many requests", down=True),
                sparql._Fault("503", down=True, retry_after="5"),
            ])  # fmt: skip
        return {"results": {"bindings": rows}}

    def _rows(self, query: str) -> tuple[float, list[Any]]:
        if walked := re.findall(r"VALUES \?class \{([^}]*)\}|\?class\b", query):
            return HUMANS * SECONDS["statement scanned"], list(walked)
        if "?character" in query:
            return self._listed(query)
        pairs = re.findall(r"\(wd:(Q\d+) (\S+?)\)", query)
        items = {item for item, _ in pairs}
        if "Q666" in items:
            return 2 * LIMIT, []
        pointing = "?value ?property ?item" in query
        rows = [] if pointing else [
            _row(item=ENTITY + item, property=_long(name), value=value)
            for item, name in pairs for value in self.facts(item).get(name, ())
        ]  # fmt: skip
        return len(items) * SECONDS["item looked up"] + len(rows) * SECONDS["row"], rows

    def _listed(self, query: str) -> tuple[float, list[Any]]:
        digits = re.search(r'STRENDS\(STR\(\?work\), "(\d+)"', query)
        names = [f"Q{1_000_000 + n}" for n in range(self.works) if n % 5 or "P50" not in query]
        names = [name for name in names if digits is None or name.endswith(digits[1])]
        seconds = (
            self.works * self.each * SECONDS["statement scanned"] + self.works * SECONDS["item looked up"]
        )
        if "COUNT" in query:
            return seconds, [_row(works=str(len(names)))]
        return seconds + len(names) * SECONDS["row"], [_row(work=ENTITY + name) for name in names]


def _row(**cells: str) -> dict[str, dict[str, str]]:
    return {name: {"type": "literal", "value": value} for name, value in cells.items()}


def _long(name: str) -> str:
    return next(
        (long + name.removeprefix(short) for short, long in _LONG.items() if name.startswith(short)), name
    )


def run(
    folder: Path, service: Service, clock: Clock, settings: WikidataSettings | None = None
) -> tuple[list, Any]:
    """(rows of the cast table, facts) of one harvest. Raises Killed where the service says so."""
    fetcher = Fetcher(Pace(per_second=0), sleep=clock.sleep, draw=lambda: 0.5)
    endpoint = SparqlEndpoint("https://query.example/sparql", "bench (a@b.org)", Archive(folder), fetcher)
    began = [clock.now - 1.0]

    def exchange(query: str) -> Any:
        # One query a second at most, as the pace would have it on a clock that runs.
        clock.sleep(max(0.0, began[0] + 1.0 - clock.now))
        began[0] = clock.now
        return service.answer(query)

    endpoint._exchange = exchange  # type: ignore[method-assign]
    found = harvest(endpoint, settings or WikidataSettings())
    return list(cast_rows(found.works, found.of, found.current, "", CastReport())), found


def killed_and_resumed(works: int, each: int, kills: int, seed: int) -> dict[str, Any]:
    """The facts of a harvest with that many kills, and whether its table is that of a calm one."""
    draw, clock = random.Random(seed), Clock()
    with tempfile.TemporaryDirectory() as calm, tempfile.TemporaryDirectory() as rough:
        quiet = Service(works, each, Clock(), random.Random(seed), faults=0.0)
        wanted, _ = run(Path(calm), quiet, quiet.clock)
        service = Service(works, each, clock, draw)
        for kill in range(kills):
            service.kill_at = service.asked + draw.randint(1, max(1, quiet.asked // kills))
            try:
                run(Path(rough), service, clock)
                raise SourceError(f"kill {kill} came too late")
            except Killed:
                pass
        service.kill_at = -1
        rows, found = run(Path(rough), service, clock)
    return {"rows": len(rows), "works": len(found.works), "same": rows == wanted, "queries": service.asked,
            "minutes": clock.now / 60, "failed": found.failed}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--works", type=int, default=60_000)
    parser.add_argument("--each", type=int, default=4, help="characters of a work")
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    made = killed_and_resumed(args.works, args.each, args.kills, args.seed)
    print(f"{args.works:,} works of {args.each} characters, {args.kills} kills: {made['works']:,} works with")
    print(f"{made['rows']:,} characters, {made['queries']:,} queries, {made['minutes']:.1f} minutes of")
    print(f"the emulated clock; left out: {made['failed']}; same table: {made['same']}")
    return 0 if made["same"] else 1


if __name__ == "__main__":
    sys.exit(main())
