"""A Gutenberg file to the body of the book, with a map back and a list of what was cut (`CleanText`).

Every step only removes characters; docs/cleaning.md tells what each kind of cut takes.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice, starmap, zip_longest

import numpy as np

from ...errors import UsageError
from ..markers import field
from . import model, notes
from .back import cut_back
from .contents import cut_contents
from .edges import cut_edges
from .front import cut_front
from .headings import is_bare_number, is_heading, is_subtitle
from .model import KINDS, VISIBLE, Block, ChapterHeading, CleanText, Cut, Draft, KeptRun
from .settings import CleanRecipe, CleanSettings, Piece, give_back, require_text, settings_from
from .witness import Witness, ask_witness

__all__ = ["KINDS", "Block", "ChapterHeading", "CleanRecipe", "CleanSettings", "CleanText", "Cut", "KeptRun",
           "Piece", "Witness", "clean", "places_in_file", "settings_from"]  # fmt: skip

_LINE_END = re.compile(r"\n")
_GAP = re.compile(r"\n(?:[^\S\n]*\n){2,}")
_OLD_TITLE = re.compile(
    r"Project Gutenberg(?:'s)? (?:Etext|E-text|EBook),?(?: of)? ([^\n]+?)(?:,? by |\n|\*)", re.I
)
_SPARED, _SURPLUS = 255, 254
_PIECE = 1 << 20  # characters read at once
_RUNS_AT_ONCE = 4096


def clean(text: str, settings: CleanSettings | None = None, witness: Witness | None = None) -> CleanText:
    """The body of the book in a decoded Gutenberg file ("\\n" line ends).

    Header, footer and apparatus go as the settings say; paragraphs stay, separated by one blank line. A
    `witness` is another edition of the book, whose markup and whose gaps are further signs.

    Raises DataError: two books in one file, or nothing would be left (shows what). UsageError: a piece named
    by a recipe is not in the text.
    """
    settings = settings or CleanSettings()
    draft = Draft(text)
    if witness:
        draft.sign = witness.sign
    cut_edges(draft, settings)
    title = settings.title or field(text[: draft.start], "Title")
    if not title and (found := _OLD_TITLE.search(text, 0, draft.start)):
        title = found.group(1).strip()  # headers before 2003 have no field for it
    author = settings.author or field(text[: draft.start], "Author")
    # A book's own pieces are marked first: nothing later can take or give back what a person decided.
    for piece in settings.spare:
        for start, end in _find(draft, piece):
            draft.marks[start:end] = bytes([_SPARED]) * (end - start)
    for piece in settings.cut:
        for start, end in _find(draft, piece):
            draft.cut("recipe", start, end)
    steps: dict[str, Callable[[Draft], None]] = {
        "credits": notes.cut_credits, "transcriber-note": notes.cut_transcriber_notes,
        "illustration": notes.cut_illustrations, "page-number": notes.cut_page_numbers,
        "footnote": notes.cut_footnotes, "contents": partial(cut_contents, settings=settings),
        "title-page": partial(cut_front, settings=settings, author=author, title=title),
        "back-matter": partial(cut_back, settings=settings), "emphasis": notes.cut_emphasis,
    }  # fmt: skip
    for kind, step in steps.items():
        if kind == "emphasis" and witness and "footnote" not in settings.keep:
            ask_witness(draft, witness)
        if kind not in settings.keep:
            step(draft)
    # What a recipe spares and the kinds it keeps are given back.
    kept = [_SPARED, *(KINDS.index(kind) + 1 for kind in settings.keep)]
    table = bytes(0 if code in kept else code for code in range(256))
    for at in range(0, len(draft.marks), _PIECE):
        draft.marks[at : at + _PIECE] = draft.marks[at : at + _PIECE].translate(table)
    return _assemble(draft, settings)


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
        hint = "the file is another edition, or an earlier piece ends there: mend the recipe"
        raise UsageError(f"the recipe names a line that is not in the text: {words!r}", hint=hint)
    return found.start()


def _assemble(draft: Draft, settings: CleanSettings) -> CleanText:
    """The kept characters, without trailing blanks and with one blank line between paragraphs.

    Each step gives back what only the one before needed, so that file, body and little else are in memory.
    """
    headings = _heading_spans(draft)
    give_back(draft, settings)
    require_text(draft)
    cuts = _cuts(draft)
    marks = np.frombuffer(draft.marks, dtype=np.uint8)
    for found in model.INSIDE_WORDS.finditer(draft.text):
        marks[slice(*found.span())] = _SURPLUS
    for start, end in _surplus(draft.text, _runs(marks)):
        marks[start:end] = _SURPLUS  # what is cut already may lie between; it is no part of the text anyway
    runs = _runs(marks)
    del marks
    draft.forget()
    # Growing one string in place needs half the memory of joining a list of its pieces. (A name that a
    # comprehension uses, too, is not grown in place.)
    body = ""
    for part in _parts(draft.text, runs):
        body += part
    # How many kept characters stand before the places of headings in the file
    run = np.searchsorted(runs[:, 1], headings, side="right") - 1
    inside = np.minimum(headings - runs[run, 1], runs[run, 2])
    offsets = np.where(run >= 0, runs[run, 0] + inside, 0).tolist()
    chapters = []
    for start, end in offsets:
        if title := " ".join(body[start:end].split()):
            chapters.append(ChapterHeading(title, start, end))
    kept, sections = tuple(starmap(KeptRun, runs.tolist())), tuple(draft.sections)
    return CleanText(body, kept, cuts, tuple(chapters), len(draft.text), sections)


def _surplus(text: str, runs: np.ndarray) -> Iterator[tuple[int, int]]:
    """[start, end) in the file of blanks at the ends of lines and text, and of blank lines beyond one.

    The kept text is read in pieces. Each begins with a visible character at the start of a line (but the
    first), so that no such blanks lie across two pieces.
    """
    begin = 0
    for piece, last in _pieces(text, runs):
        spans = [] if begin else [(0, len(piece) - len(piece.lstrip()))]
        if last:
            spans.append((len(piece.rstrip()), len(piece)))
        for found in _LINE_END.finditer(piece):
            at = found.start()
            if piece[at - 1 : at].isspace() and piece[at - 1] != "\n":
                line = piece.rfind("\n", 0, at) + 1
                spans.append((line + len(piece[line:at].rstrip()), at))
        spans += [(piece.index("\n", gap.start() + 1) + 1, gap.end()) for gap in _GAP.finditer(piece)]
        both = np.asarray([span for span in spans if span[0] < span[1]], dtype=np.int64).reshape(-1, 2)
        starts, ends = both[:, 0], both[:, 1]
        yield from zip(
            places_in_file(runs, starts + begin).tolist(),
            (places_in_file(runs, ends + begin - 1) + 1).tolist(),
            strict=True,
        )
        begin += len(piece)


def _pieces(text: str, runs: np.ndarray) -> Iterator[tuple[str, bool]]:
    """(piece, whether it is the last) of the kept text, of about `_PIECE` characters."""
    left = ""
    for part in _parts(text, runs):
        left += part
        # A piece ends where the last line that begins with a visible character begins.
        at = len(left) - 1
        while (at := left.rfind("\n", 0, at)) > 0 and left[at + 1].isspace():
            pass
        if at > 0:
            yield left[: at + 1], False
            left = left[at + 1 :]
    yield left, True


def _stretches(marks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(starts, ends) of the stretches of equal marks."""
    # Places where a mark differs from the one before it, read in pieces
    found = [
        np.flatnonzero(marks[at : at + _PIECE] != marks[at - 1 : at + _PIECE - 1][: len(marks) - at]) + at
        for at in range(1, len(marks), _PIECE)
    ]
    bounds = np.unique(np.concatenate([np.array([0, len(marks)], dtype=np.int64), *found]))
    return bounds[:-1], bounds[1:]


def _runs(marks: np.ndarray) -> np.ndarray:
    """Rows (out, file, length) of the runs of characters without a mark."""
    starts, ends = _stretches(marks)
    kept = np.flatnonzero(marks[starts] == 0)
    starts, lengths = starts[kept], (ends - starts)[kept]
    return np.column_stack((np.cumsum(lengths) - lengths, starts, lengths))


def _parts(text: str, runs: np.ndarray) -> Iterator[str]:
    """The kept text in parts of about `_PIECE` characters."""
    part: list[str] = []
    size = 0
    for at in range(0, len(runs), _RUNS_AT_ONCE):
        for _, start, length in runs[at : at + _RUNS_AT_ONCE].tolist():
            for place in range(start, start + length, _PIECE):
                part.append(text[place : min(start + length, place + _PIECE)])
                size += len(part[-1])
                if size >= _PIECE:
                    yield "".join(part)
                    part, size = [], 0
    yield "".join(part)


def places_in_file(runs: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Places in the file of offsets in the kept text."""
    if not len(offsets):
        return offsets
    run = np.searchsorted(runs[:, 0], offsets, side="right") - 1
    places: np.ndarray = runs[run, 1] + offsets - runs[run, 0]
    return places


def _cuts(draft: Draft) -> tuple[Cut, ...]:
    """Runs of equal marks; cuts that hold nothing visible are left out."""
    marks, seen = np.frombuffer(draft.marks, dtype=np.uint8), partial(VISIBLE.search, draft.text)
    starts, ends = _stretches(marks)
    rows = zip(marks[starts].tolist(), starts.tolist(), ends.tolist(), strict=True)
    return tuple(Cut(KINDS[mark - 1], a, b) for mark, a, b in rows if mark and seen(a, b))


def _heading_spans(draft: Draft) -> np.ndarray:
    """[start, end) in the file of headings; gaps are those of the file, where blank lines still show them."""
    spans = []
    blocks = draft.blocks()
    for block, below in zip_longest(blocks, islice(blocks, 1, None)):
        if is_heading(block):
            last = below if below and is_bare_number(block) and is_subtitle(below) else block
            spans.append((block.start, last.end))
    return np.asarray(spans, dtype=np.int64).reshape(-1, 2)
