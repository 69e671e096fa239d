"""A Gutenberg file to the body of the book, with a map back and a list of what was cut. Pure.

    from bookcoref_data.text.clean import clean
    body = clean(decode(data).text)
    body.text, body.chapters, body.cuts, body.to_file(0)

Every step only removes characters; docs/cleaning.md tells what each kind of cut takes and why.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from itertools import pairwise, zip_longest

import numpy as np

from ...errors import UsageError
from ..markers import field
from .edges import cut_edges
from .front import cut_back, cut_contents, cut_front, cut_other_works
from .guard import check
from .headings import is_bare_number, is_heading, is_subtitle
from .inline import cut_emphasis
from .model import KINDS, Block, Chapter, CleanText, Cut, Page, Run
from .notes import (
    cut_credits,
    cut_footnotes,
    cut_illustrations,
    cut_page_numbers,
    cut_transcriber_notes,
)
from .settings import CleanRecipe, CleanSettings, Piece, settings_from

__all__ = ["KINDS", "Block", "Chapter", "CleanRecipe", "CleanSettings", "CleanText", "Cut", "Piece", "Run",
           "clean", "settings_from"]  # fmt: skip

_TRAILING = re.compile(r"[^\S\n]+(?=\n)")
_GAP = re.compile(r"\n(?:[^\S\n]*\n){2,}")
_OLD_TITLE = re.compile(
    r"Project Gutenberg(?:'s)? (?:Etext|E-text|EBook),?(?: of)? ([^\n]+?)(?:,? by |\n|\*)", re.I
)
_SPARED = 255


def clean(text: str, settings: CleanSettings | None = None) -> CleanText:
    """The body of the book in a decoded Gutenberg file ("\\n" line ends).

    Header, footer and apparatus go as the settings say; paragraphs stay, separated by one blank line.

    Raises:
        DataError: more would go than the guard allows, or nothing would be left (shows what).
        UsageError: a piece named by a recipe is not in the text.
    """
    settings = settings or CleanSettings()
    page = Page(text)
    cut_edges(page)
    title = settings.title or _title(text[: page.start])
    author = settings.author or field(text[: page.start], "Author")
    _apply_recipe(page, settings)
    steps: dict[str, Callable[[Page], None]] = {
        "credits": cut_credits,
        "transcriber-note": cut_transcriber_notes,
        "illustration": cut_illustrations,
        "page-number": cut_page_numbers,
        "footnote": cut_footnotes,
        "contents": partial(_cut_tables, title=title),
        "title-page": partial(cut_front, settings=settings, author=author),
        "back-matter": cut_back,
        "emphasis": cut_emphasis,
    }
    for kind, step in steps.items():
        if kind not in settings.keep:
            step(page)
    _unmark(page, settings)
    return _assemble(page, settings)


def _title(header: str) -> str:
    """The title a header states; headers before 2003 have no field for it."""
    if title := field(header, "Title"):
        return title
    found = _OLD_TITLE.search(header)
    return found.group(1).strip() if found else ""


def _cut_tables(page: Page, title: str) -> None:
    cut_other_works(page, title, cut_contents(page))


def _apply_recipe(page: Page, settings: CleanSettings) -> None:
    """Mark a book's own pieces first: nothing later can take or give back what a person decided."""
    for piece in settings.spare:
        for start, end in _find(page, piece):
            page.marks[start:end] = bytes([_SPARED]) * (end - start)
    for piece in settings.cut:
        for start, end in _find(page, piece):
            page.cut("recipe", start, end)


def _find(page: Page, piece: Piece) -> list[tuple[int, int]]:
    if piece.pattern:
        matches = re.compile(piece.pattern, re.M).finditer(page.text, page.start, page.end)
        return [found.span() for found in matches]
    if piece.optional and not _search(page, piece.first, page.start):
        return []
    start = _line(page, piece.first, page.start)
    return [(start, _line(page, piece.until, start + 1) if piece.until else page.end)]


def _search(page: Page, words: str, at: int) -> re.Match[str] | None:
    """The first line from `at` on that begins with the words, however they are spaced."""
    pattern = r"\s+".join(re.escape(word) for word in words.split())
    return re.compile(rf"^[ \t]*{pattern}", re.M).search(page.text, at, page.end)


def _line(page: Page, words: str, at: int) -> int:
    found = _search(page, words, at)
    if not found:
        raise UsageError(
            f"the recipe names a line that is not in the text: {words!r}",
            hint="the file is another edition, or an earlier piece ends there: mend the recipe",
        )
    return found.start()


def _unmark(page: Page, settings: CleanSettings) -> None:
    """Give back what a recipe spares and the kinds it keeps."""
    kept = [_SPARED, *(KINDS.index(kind) + 1 for kind in settings.keep)]
    page.marks = page.marks.translate(bytes(0 if code in kept else code for code in range(256)))


def _assemble(page: Page, settings: CleanSettings) -> CleanText:
    marks = np.frombuffer(bytes(page.marks), dtype=np.uint8)
    cuts = _cuts(page.text, marks)
    check(page, cuts, settings)
    places = np.flatnonzero(marks == 0)
    kept = _take(page.text, places)
    surplus = np.zeros(len(kept), dtype=bool)
    for found in _TRAILING.finditer(kept):
        surplus[found.start() : found.end()] = True
    for found in _GAP.finditer(kept):
        surplus[kept.index("\n", found.start() + 1) + 1 : found.end()] = True
    lead = len(kept) - len(kept.lstrip())
    surplus[:lead] = True
    surplus[len(kept.rstrip()) :] = True
    places = places[~surplus]
    body = _take(page.text, places)
    return CleanText(body, _runs(places), tuple(cuts), tuple(_chapters(page, places)), len(page.text))


def _take(text: str, places: np.ndarray) -> str:
    return "".join(text[run.file : run.file + run.length] for run in _runs(places))


def _runs(places: np.ndarray) -> tuple[Run, ...]:
    if not len(places):
        return ()
    breaks = np.flatnonzero(np.diff(places) != 1) + 1
    starts = np.concatenate(([0], breaks))
    ends = np.concatenate((breaks, [len(places)]))
    return tuple(Run(int(a), int(places[a]), int(b - a)) for a, b in zip(starts, ends, strict=True))


def _cuts(text: str, marks: np.ndarray) -> list[Cut]:
    """Runs of equal marks; cuts that hold nothing visible are left out."""
    edges = np.concatenate(([0], np.flatnonzero(np.diff(marks)) + 1, [len(marks)]))
    found = [Cut(KINDS[int(marks[a]) - 1], int(a), int(b)) for a, b in pairwise(edges) if b > a and marks[a]]
    return [cut for cut in found if text[cut.start : cut.end].strip()]


def _chapters(page: Page, places: np.ndarray) -> list[Chapter]:
    """Headings of the kept text; gaps are those of the file, where blank lines still tell headings."""
    chapters = []
    blocks = page.blocks()
    for block, below in zip_longest(blocks, blocks[1:]):
        if is_heading(block):
            last = below if below and is_bare_number(block) and is_subtitle(below) else block
            start, end = np.searchsorted(places, [block.start, last.end])
            title = " ".join(_take(page.text, places[start:end]).split())
            if title:
                chapters.append(Chapter(title, int(start), int(end)))
    return chapters
