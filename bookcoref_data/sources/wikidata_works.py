"""List all works that have a character, part by part, so that each query costs what its part is large.

A query that walks over all works in order sorts all of them for every page: a page of one work takes as
long as a page of thousands. Here the works are listed by their classes (P31), which a service finds by
index: first all classes with their numbers of works, then the works of one large class, or of several small
ones, per query. A part that is too heavy is divided: several classes into halves, one class by the last
digits of the items. Works without a class come last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ..errors import SourceError
from ..progress import Progress
from .sparql import Row, SparqlEndpoint, TooHeavyError

PREFIXES = """\
PREFIX wd: <http://www.wikidata.org/entity/>
PREFIX wdt: <http://www.wikidata.org/prop/direct/>
"""
CLASSES = (
    PREFIXES
    + """\
SELECT ?class (COUNT(DISTINCT ?work) AS ?works) WHERE {{
  {{ SELECT DISTINCT ?work WHERE {{ ?work wdt:P674 ?character .{ending} }} }}
  ?work wdt:P31 ?class .
}} GROUP BY ?class
"""
)
# The inner query finds the items of the classes by index; what is asked of each is looked up item by item.
OF_CLASSES = (
    PREFIXES
    + """\
SELECT DISTINCT ?work WHERE {{
  {{ SELECT ?work WHERE {{ VALUES ?class {{ {classes} }} ?work wdt:P31 ?class .{ending} }} }}
  FILTER EXISTS {{ ?work wdt:P674 ?character }}{author}
}}
"""
)
WITHOUT_CLASS = (
    PREFIXES
    + """\
SELECT DISTINCT ?work WHERE {{
  {{ SELECT DISTINCT ?work WHERE {{ ?work wdt:P674 ?character .{ending} }} }}
  FILTER NOT EXISTS {{ ?work wdt:P31 ?class }}{author}
}}
"""
)
_ENDING = '\n    FILTER(STRENDS(STR(?work), "{digits}"))'
_AUTHOR = "\n  FILTER EXISTS { ?work wdt:P50 ?author }"
_MOST_DIGITS = 3  # a part may be a thousandth of a class
_WHAT = "list of works"

Cells = Callable[[Row, str], str]
"""Reads a cell of a row; raises SourceError when the service left it out."""


@dataclass(frozen=True)
class WorksOf:
    """How works are listed: about `page` in one query; `require_author` leaves out works without P50."""

    page: int
    require_author: bool


def list_works(
    endpoint: SparqlEndpoint, wanted: WorksOf, cell: Cells, failed: list[str], progress: Progress
) -> Iterator[str]:
    """The addresses of all works with a character, in no order; a work of two classes may come twice.

    A part that the service cannot answer for, however small, is named in `failed`.
    """
    progress.begin(_WHAT, None, "works")
    author = _AUTHOR if wanted.require_author else ""
    sizes: dict[str, int] = {}
    for rows in _by_digits(endpoint, CLASSES, {}, failed, "classes of works"):
        for row in rows:
            name = cell(row, "class")
            sizes[name] = sizes.get(name, 0) + _number(cell(row, "works"))
    for classes in _parts(sizes, wanted.page):
        for rows in _of_classes(endpoint, classes, author, failed):
            progress.advance(_WHAT, len(rows))
            yield from (cell(row, "work") for row in rows)
    for rows in _by_digits(endpoint, WITHOUT_CLASS, {"author": author}, failed, "works without a class"):
        progress.advance(_WHAT, len(rows))
        yield from (cell(row, "work") for row in rows)
    progress.end(_WHAT)


def _number(text: str) -> int:
    if not (text.isdigit() and text.isascii()):
        raise SourceError("the service gave no number of works", expected="a whole number", found=text)
    return int(text)


def _parts(sizes: dict[str, int], page: int) -> Iterator[list[str]]:
    """Classes in groups of about `page` works; a larger class stands alone. Blank classes fall out."""
    group: list[str] = []
    works = 0
    known = [name for name in sizes if "/entity/Q" in name]
    for name in sorted(known, key=lambda name: (sizes[name], len(name), name)):
        if group and works + sizes[name] > page:
            yield group
            group, works = [], 0
        group.append(name)
        works += sizes[name]
    if group:
        yield group


def _of_classes(
    endpoint: SparqlEndpoint, classes: Sequence[str], author: str, failed: list[str]
) -> Iterator[list[Row]]:
    """The works of some classes, in one query or in as many as it takes."""
    fields = {"classes": " ".join(f"<{name}>" for name in classes), "author": author}
    if len(classes) == 1:
        yield from _by_digits(endpoint, OF_CLASSES, fields, failed, f"works of class {classes[0]}")
        return
    try:
        yield endpoint.ask(OF_CLASSES.format(ending="", **fields))
    except TooHeavyError:
        middle = len(classes) // 2
        yield from _of_classes(endpoint, classes[:middle], author, failed)
        yield from _of_classes(endpoint, classes[middle:], author, failed)


def _by_digits(
    endpoint: SparqlEndpoint,
    query: str,
    fields: dict[str, str],
    failed: list[str],
    what: str,
    digits: str = "",
) -> Iterator[list[Row]]:
    """The answer to a query, in one piece or by the last digits of the works' numbers."""
    ending = _ENDING.format(digits=digits) if digits else ""
    try:
        yield endpoint.ask(query.format(ending=ending, **fields))
    except TooHeavyError:
        if len(digits) == _MOST_DIGITS:
            failed.append(f"{what} that end in {digits}")
            return
        for digit in "0123456789":
            yield from _by_digits(endpoint, query, fields, failed, what, digit + digits)
