"""List all works that have a character (P674), by the index of that property.

Classes are never walked: one human with a mistaken P674 would ask for all humans. The subjects of P674 are
tens of thousands; whether they have an author is looked up item by item, and their classes come later with
their other facts. A list that is too heavy is divided by the last digits of the items. The service is asked
first how many there are: an answer of fewer is half an answer. It is asked for again, and not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..errors import SourceError
from ..progress import Progress
from .sparql import Row, SparqlEndpoint, TooHeavyError

_SUBJECTS = """\
PREFIX wdt: <http://www.wikidata.org/prop/direct/>
SELECT {what} WHERE {{
  {{ SELECT DISTINCT ?work WHERE {{ ?work wdt:P674 ?character .{ending} }} }}{author}
}}
"""
_ENDING = '\n    FILTER(STRENDS(STR(?work), "{digits}"))'
_AUTHOR = "\n  FILTER EXISTS { ?work wdt:P50 ?author }"
_MOST_DIGITS = 2  # a part may be a hundredth of all works
_LEAST_SHARE = 0.99  # of the works counted; some come and go between two queries
_WHAT = "list of works"

Cells = Callable[[Row, str], str]
"""Reads a cell of a row; raises SourceError when the service left it out."""


def list_works(
    endpoint: SparqlEndpoint, require_author: bool, cell: Cells, failed: list[str], progress: Progress
) -> Iterator[str]:
    """The addresses of all works with a character (and an author, P50, if it is required), in no order.

    A part that the service cannot answer for, however small, is named in `failed`.

    Raises:
        SourceError: the service lists no work at all.
    """
    author = _AUTHOR if require_author else ""
    progress.begin(_WHAT, None, "works")
    counted = _counted(endpoint, author, cell)
    listed = 0
    for rows in _by_digits(endpoint, author, failed, int(counted * _LEAST_SHARE)):
        progress.advance(_WHAT, len(rows))
        listed += len(rows)
        yield from (cell(row, "work") for row in rows)
    progress.end(_WHAT)
    if not listed:
        raise SourceError(
            f"{endpoint.address} lists no work with characters",
            expected="tens of thousands",
            hint="is this a service over Wikidata's data? Run the same command again later",
        )
    if not failed and listed < counted * _LEAST_SHARE:
        failed.append(f"{counted - listed:,} works that the service counts but does not list")


def _counted(endpoint: SparqlEndpoint, author: str, cell: Cells) -> int:
    """How many works there are; 0 when that is too heavy to count."""
    query = _SUBJECTS.format(what="(COUNT(*) AS ?works)", ending="", author=author)

    def number(rows: list[Row]) -> int:
        text = cell(rows[0], "works") if rows else "0"
        if not (text.isdigit() and text.isascii()):
            raise SourceError("the service gave no number of works", expected="a number", found=text)
        return int(text)

    try:
        return number(endpoint.ask(query, lambda rows: "" if number(rows) else "an empty answer"))
    except TooHeavyError:
        return 0


def _by_digits(
    endpoint: SparqlEndpoint, author: str, failed: list[str], least: int, digits: str = ""
) -> Iterator[list[Row]]:
    """The works, in one piece of at least so many rows, or by the last digits of their numbers."""
    ending = _ENDING.format(digits=digits) if digits else ""
    query = _SUBJECTS.format(what="?work", ending=ending, author=author)
    try:
        yield endpoint.ask(query, lambda rows: "half an answer" if len(rows) < least else "")
    except TooHeavyError:
        if len(digits) == _MOST_DIGITS:
            failed.append(f"works that end in {digits}")
            return
        for digit in "0123456789":
            yield from _by_digits(endpoint, author, failed, 0, digit + digits)
