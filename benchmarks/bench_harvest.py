"""What a query for works costs against what it lists: class by class, and in ordered pages, on oxigraph.

    python benchmarks/bench_harvest.py [--works 60000] [--each 10]

A generated graph in Wikidata's shape: half of the works are of one class, a quarter of another, and so on;
as many items of the same classes have no character. Needs pyoxigraph (extra `bench`).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from typing import Any

from bookcoref_data.sources.wikidata_works import CLASSES, OF_CLASSES, WITHOUT_CLASS

ENTITY, DIRECT = "http://www.wikidata.org/entity/", "http://www.wikidata.org/prop/direct/"
AUTHOR = "FILTER EXISTS { ?work wdt:P50 ?author }"
# The peer: all works in order, a page after the last one seen, as this project asked until 0.3.
PAGE = """\
PREFIX wdt: <http://www.wikidata.org/prop/direct/>
SELECT ?work WHERE {{
  {{ SELECT DISTINCT ?work WHERE {{ ?work wdt:P674 ?character . ?work wdt:P50 ?author . }} }}
  FILTER(isIRI(?work) && STR(?work) > "{after}")
}} ORDER BY STR(?work) LIMIT {limit}
"""
FIRST_CLASS, FIRST_WORK, OTHERS = 900_000, 1_000_000, 9_000_000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--works", type=int, default=60_000)
    parser.add_argument("--each", type=int, default=10, help="characters of a work")
    args = parser.parse_args()
    try:
        import pyoxigraph
    except ImportError:
        print("needs pyoxigraph: pip install 'bookcoref-data[bench]'", file=sys.stderr)
        return 2
    store = pyoxigraph.Store()
    lines = "".join(triples(args.works, args.each))
    store.bulk_load(input=lines.encode(), format=pyoxigraph.RdfFormat.N_TRIPLES)
    print(f"{args.works:,} works, {args.works * args.each:,} characters, {len(store):,} statements\n")
    print("| query | works listed | seconds | milliseconds per 1,000 works |")
    print("|---|---|---|---|")
    for limit in (5000, 1000, 1):
        show(store, f"ordered page of {limit}", PAGE.format(after=ENTITY, limit=limit))
    show(store, "all classes with their sizes", CLASSES.format(ending=""), counted=False)
    total = 0.0
    for place in range(len(sizes(args.works))):
        fields = {"classes": f"<{ENTITY}Q{FIRST_CLASS + place}>", "author": AUTHOR, "ending": ""}
        total += show(store, f"class {place + 1}", OF_CLASSES.format(**fields))
    ending = 'FILTER(STRENDS(STR(?work), "7"))'
    fields = {"classes": f"<{ENTITY}Q{FIRST_CLASS}>", "author": AUTHOR, "ending": ending}
    show(store, "a tenth of class 1", OF_CLASSES.format(**fields))
    total += show(store, "works without a class", WITHOUT_CLASS.format(author=AUTHOR, ending=""))
    print(f"\nall classes one by one: {total:.2f} s")
    return 0


def sizes(works: int) -> list[int]:
    """How many works each class has; what is left over has none."""
    return [works // 2, works // 4, works // 8, works // 16, works // 64, works // 256, works // 1024]


def triples(works: int, each: int) -> Iterator[str]:
    classes = [place for place, size in enumerate(sizes(works)) for _ in range(size)]
    for number in range(works):
        work = f"<{ENTITY}Q{FIRST_WORK + number}>"
        if number < len(classes):
            yield f"{work} <{DIRECT}P31> <{ENTITY}Q{FIRST_CLASS + classes[number]}> .\n"
            yield f"<{ENTITY}Q{OTHERS + number}> <{DIRECT}P31> <{ENTITY}Q{FIRST_CLASS + classes[number]}> .\n"
        yield f"{work} <{DIRECT}P50> <{ENTITY}Q{5_000_000 + number % (works // 6)}> .\n"
        for character in range(each):
            yield f"{work} <{DIRECT}P674> <{ENTITY}Q{20_000_000 + number * each + character}> .\n"


def show(store: Any, name: str, query: str, *, counted: bool = True) -> float:
    """Ask once and print a line of the table; the seconds it took."""
    began = time.perf_counter()
    rows = sum(1 for _ in store.query(query))
    seconds = time.perf_counter() - began
    listed, each = (f"{rows:,}", f"{1e6 * seconds / max(1, rows):.0f}") if counted else ("-", "-")
    print(f"| {name} | {listed} | {seconds:.3f} | {each} |")
    return seconds


if __name__ == "__main__":
    sys.exit(main())
