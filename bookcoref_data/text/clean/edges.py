"""The header and footer of Project Gutenberg, in the forms of every era (`text.markers` has the words).

A header before 1993 has no line that ends it; there the last of the leading paragraphs that speak of the
project does.
"""

import re

from ...errors import DataError
from ..markers import FOOTER, HEADER_WORDS, SMALL_PRINT, START, footer_start
from .model import Draft, blocks_of
from .settings import CleanSettings

_FOOTER_LIMIT = 60_000  # the licence has 19,000; a few files have notes on the edition behind it
_EDGE_SHARE = 0.1
_OLD_HEADER_LIMIT = 25_000  # characters: the longest headers of the nineties have about 17,000
_OLD_HEADER_GAP = 5_000  # between two paragraphs that speak of the project; behind more is a short story


def find_edges(text: str) -> tuple[int, int]:
    """(start, end) of what lies between header and footer; (0, len) when the file has neither."""
    found = _headers(START, text) or _headers(SMALL_PRINT, text)
    start = found[-1].end() if found else 0
    if not found:
        for block in blocks_of(text, 0, min(len(text), _OLD_HEADER_LIMIT)):
            near = block.start - start <= _OLD_HEADER_GAP
            if near and HEADER_WORDS.search(block.text) and not FOOTER.match(block.text):
                start = block.end
    footer = footer_start(text, start)
    return start, len(text) if footer is None else footer


def _headers(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """The lines that end a header. They begin with a star: few lines need to be tried."""
    places = [0, *(line.end() for line in re.finditer(r"\n(?=\*)", text))]
    return [found for at in places if (found := pattern.match(text, at))]


def cut_edges(draft: Draft, settings: CleanSettings) -> None:
    """Mark header and footer, and set the draft's body to what lies between. Raises DataError: two books in
    one file, or a header or footer longer than the project ever wrote."""
    text = draft.text
    draft.start, draft.end = find_edges(text)
    doubts: list[tuple[str, str]] = []
    # A text between two lines that end a header
    for pattern in (START, SMALL_PRINT):
        starts = _headers(pattern, text)
        between = text[starts[0].end() : starts[-1].start()] if len(starts) > 1 else ""
        if len(between) > _OLD_HEADER_LIMIT or footer_start(between) is not None:
            shown = (f"{' '.join(m.group().split())[:70]!r} at {m.start():,}" for m in starts[:4])
            doubts.append((f"the file holds {len(starts)} books", "; ".join(shown)))
    # A header or footer that is too long
    for name, length, most, at in (
        ("header", draft.start, _OLD_HEADER_LIMIT, draft.start),
        ("footer", len(text) - draft.end, _FOOTER_LIMIT, draft.end),
    ):
        if length > most and length > _EDGE_SHARE * len(text):
            line = " ".join(text[max(0, at - 40) : at + 80].split())
            where = f"{length:,} characters, up to or from {line!r}"
            doubts.append((f"cleaning would take too much ({name})", where))
    if draft.start == _OLD_HEADER_LIMIT and text[draft.start : draft.start + 2].strip("\n"):
        doubts.append(("the header does not end", repr(text[draft.start - 60 : draft.start])))
    for what, where in doubts[:1]:
        if settings.guard:
            expected = "one book between one header and one footer"
            hint = "split the file, one book in each; with --no-guard the text behind the last header is kept"
            raise DataError(what, expected=expected, found=where, hint=hint)
        draft.decide("header", 0, draft.start, f"{what}: {where}", cut=True)
    draft.cut("header", 0, draft.start)
    draft.cut("footer", draft.end, len(text))
