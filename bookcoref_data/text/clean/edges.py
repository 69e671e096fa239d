"""The header and footer of Project Gutenberg, in the forms of every era (`text.markers` has the words).

A header before 1993 has no line that ends it; there the last of the leading paragraphs that speak of the
project does.
"""

from __future__ import annotations

from ..markers import FOOTER, HEADER_WORDS, SMALL_PRINT, START
from .model import Page, blocks_of

_OLD_HEADER_LIMIT = 25_000  # characters: the longest headers of the nineties have about 17,000


def find_edges(text: str) -> tuple[int, int]:
    """(start, end) of what lies between header and footer; (0, len) when the file has neither."""
    start = _header_end(text)
    footer = FOOTER.search(text, start)
    return start, footer.start() if footer else len(text)


def _header_end(text: str) -> int:
    for pattern in (START, SMALL_PRINT):
        found = list(pattern.finditer(text))
        if found:
            return found[-1].end()
    end = 0
    for block in blocks_of(text, 0, min(len(text), _OLD_HEADER_LIMIT)):
        if HEADER_WORDS.search(block.text) and not FOOTER.match(block.text):
            end = block.end
    return end


def cut_edges(page: Page) -> None:
    """Mark header and footer, and set the page's body to what lies between."""
    page.start, page.end = find_edges(page.text)
    page.cut("header", 0, page.start)
    page.cut("footer", page.end, len(page.text))
