"""Pages of study guides: one parser per site, each tried on every form its pages have had.

Selectors are evidence that an element existed in its year and no more, so each parser tries them in order,
and a page it does not know is a page with a problem, never an empty book.
"""

from . import cliffsnotes, gradesaver, litcharts, shmoop, sparknotes
from .page import GuideEntry, GuidePage, soup_of

PARSERS = {
    "cliffsnotes": cliffsnotes.parse, "gradesaver": gradesaver.parse, "litcharts": litcharts.parse,
    "shmoop": shmoop.parse, "sparknotes": sparknotes.parse,
}  # fmt: skip

__all__ = ["PARSERS", "GuideEntry", "GuidePage", "parse_page"]


def parse_page(site: str, html: bytes | str, address: str) -> GuidePage:
    """Read a page of `site`; `address` is its original (not archived) address."""
    return PARSERS[site](soup_of(html), address)
