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
from .model import KINDS, Block, Chapter, CleanText, Cut, Draft, Run
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

_LINE_END = re.compile(r"\n")
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
    draft = Draft(text)
    cut_edges(draft, settings)
    title = settings.title or _title(text[: draft.start])
    author = settings.author or field(text[: draft.start], "Author")
    _apply_recipe(draft, settings)
    steps: dict[str, Callable[[Draft], None]] = {
        "credits": cut_credits,
        "transcriber-note": cut_transcriber_notes,
        "illustration": cut_illustrations,
        "page-number": cut_page_numbers,
        "footnote": cut_footnotes,
        "contents": partial(_cut_tables, title=title, settings=settings),
        "title-page": partial(cut_front, settings=settings, author=author, title=title),
        "back-matter": partial(cut_back, settings=settings),
        "emphasis": cut_emphasis,
    }
    for kind, step in steps.items():
        if kind not in settings.keep:
            step(draft)
    _unmark(draft, settings)
    return _assemble(draft, settings)


def _title(header: str) -> str:
    """The title a header states; headers before 2003 have no field for it."""
    if title := field(header, "Title"):
        return title
    found = _OLD_TITLE.search(header)
    return found.group(1).strip() if found else ""


def _cut_tables(draft: Draft, title: str, settings: CleanSettings) -> None:
    cut_other_works(draft, title, cut_contents(draft, settings))


def _apply_recipe(draft: Draft, settings: CleanSettings) -> None:
    """Mark a book's own pieces first: nothing later can take or give back what a person decided."""
    for piece in settings.spare:
        for start, end in _find(draft, piece):
            draft.marks[start:end] = bytes([_SPARED]) * (end - start)
    for piece in settings.cut:
        for start, end in _find(draft, piece):
            draft.cut("recipe", start, end)


def _find(draft: Draft, piece: Piece) -> list[tuple[int, int]]:
    if piece.pattern:
        matches = re.compile(piece.pattern, re.M).finditer(draft.text, draft.start, draft.end)
        return [found.span() for found in matches]
    if piece.optional and not _search(draft, piece.first, draft.start):
        return []
    start = _line(draft, piece.first, draft.start)
    return [(start, _line(draft, piece.until, start + 1) if piece.until else draft.end)]


def _search(draft: Draft, words: str, at: int) -> re.Match[str] | None:
    """The first line from `at` on that begins with the words, however they are spaced."""
    pattern = r"\s+".join(re.escape(word) for word in words.split())
    return re.compile(rf"^[ \t]*{pattern}", re.M).search(draft.text, at, draft.end)


def _line(draft: Draft, words: str, at: int) -> int:
    found = _search(draft, words, at)
    if not found:
        raise UsageError(
            f"the recipe names a line that is not in the text: {words!r}",
            hint="the file is another edition, or an earlier piece ends there: mend the recipe",
        )
    return found.start()


def _unmark(draft: Draft, settings: CleanSettings) -> None:
    """Give back what a recipe spares and the kinds it keeps."""
    kept = [_SPARED, *(KINDS.index(kind) + 1 for kind in settings.keep)]
    draft.marks = draft.marks.translate(bytes(0 if code in kept else code for code in range(256)))


def _assemble(draft: Draft, settings: CleanSettings) -> CleanText:
    """The kept characters, without trailing blanks and with one blank line between paragraphs."""
    marks = np.frombuffer(draft.marks, dtype=np.uint8)
    cuts = _cuts(draft.text, marks)
    check(draft, cuts, settings)
    runs = _runs(marks == 0)
    kept = _take(draft.text, runs)
    starts, ends = _surplus(kept)
    surplus = np.zeros(len(marks), dtype=bool)
    for start, end in zip(_places(runs, starts), _places(runs, ends - 1) + 1, strict=True):
        surplus[start:end] = True  # what is cut already may lie between; it is no part of the text anyway
    del kept
    runs = _runs((marks == 0) & ~surplus)
    body = _take(draft.text, runs)
    return CleanText(
        body, tuple(Run(*run) for run in runs.tolist()), tuple(cuts), tuple(_chapters(draft, runs, body)),
        len(draft.text), tuple(draft.sections),
    )  # fmt: skip


def _surplus(kept: str) -> tuple[np.ndarray, np.ndarray]:
    """(starts, ends) of blanks at the ends of lines and text, and of blank lines beyond one."""
    spans = [(0, len(kept) - len(kept.lstrip())), (len(kept.rstrip()), len(kept))]
    for found in _LINE_END.finditer(kept):
        at = found.start()
        if kept[at - 1 : at].isspace() and kept[at - 1] != "\n":
            line = kept.rfind("\n", 0, at) + 1
            spans.append((line + len(kept[line:at].rstrip()), at))
    spans += [(kept.index("\n", gap.start() + 1) + 1, gap.end()) for gap in _GAP.finditer(kept)]
    both = np.asarray([span for span in spans if span[0] < span[1]], dtype=np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _runs(kept: np.ndarray) -> np.ndarray:
    """Rows (out, file, length) of the runs of kept characters."""
    edges = np.flatnonzero(np.diff(kept, prepend=False, append=False))
    starts, lengths = edges[::2], edges[1::2] - edges[::2]
    return np.column_stack((np.cumsum(lengths) - lengths, starts, lengths))


def _take(text: str, runs: np.ndarray) -> str:
    return "".join(text[at : at + length] for _, at, length in runs.tolist())


def _places(runs: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Places in the file of offsets in the kept text."""
    if not len(offsets):
        return offsets
    run = np.searchsorted(runs[:, 0], offsets, side="right") - 1
    places: np.ndarray = runs[run, 1] + offsets - runs[run, 0]
    return places


def _cuts(text: str, marks: np.ndarray) -> list[Cut]:
    """Runs of equal marks; cuts that hold nothing visible are left out."""
    edges = np.concatenate(([0], np.flatnonzero(marks[1:] != marks[:-1]) + 1, [len(marks)]))
    found = [Cut(KINDS[int(marks[a]) - 1], int(a), int(b)) for a, b in pairwise(edges) if b > a and marks[a]]
    return [cut for cut in found if text[cut.start : cut.end].strip()]


def _chapters(draft: Draft, runs: np.ndarray, body: str) -> list[Chapter]:
    """Headings of the kept text; gaps are those of the file, where blank lines still tell headings."""
    spans = []
    blocks = draft.blocks()
    for block, below in zip_longest(blocks, blocks[1:]):
        if is_heading(block):
            last = below if below and is_bare_number(block) and is_subtitle(below) else block
            spans.append((block.start, last.end))
    chapters = []
    for start, end in _offsets(runs, np.asarray(spans, dtype=np.int64).reshape(-1, 2)).tolist():
        if title := " ".join(body[start:end].split()):
            chapters.append(Chapter(title, start, end))
    return chapters


def _offsets(runs: np.ndarray, places: np.ndarray) -> np.ndarray:
    """How many kept characters stand before places in the file."""
    run = np.searchsorted(runs[:, 1], places, side="right") - 1
    inside = np.minimum(places - runs[run, 1], runs[run, 2])
    offsets: np.ndarray = np.where(run >= 0, runs[run, 0] + inside, 0)
    return offsets
