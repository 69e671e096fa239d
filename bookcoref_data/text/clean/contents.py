"""Tables of contents and lists of illustrations or persons."""

import re
from collections.abc import Mapping, Sequence
from itertools import islice

from .evidence import Patterns
from .headings import is_contents, is_division, is_list, is_preface, is_prose, is_titled_number, words_of
from .model import Block, Draft
from .settings import CleanSettings

_FORM = Patterns("contents")

_BACK_SHARE = 0.95  # of the text: a table behind the story
_LEAST_ENTRIES = 3
_MOST_HEADINGS = 3  # that stand together above the first prose
_LONG_ENTRY = 600
_LONG_CAPTION = 400  # characters


def cut_contents(draft: Draft, settings: CleanSettings) -> None:
    """Tables of contents and lists of illustrations, wherever they stand."""
    blocks = draft.blocks()
    # The first heading of a chapter with prose close below it
    openings = (i for i, block in enumerate(blocks) if block.gap >= 2 and is_division(block))
    close = 1 + _MOST_HEADINGS
    begun = next((i for i in openings if any(map(is_prose, blocks[i + 1 : i + close]))), len(blocks))
    tables = [index for index, block in enumerate(blocks) if is_contents(block) or is_list(block)]
    last = _last_places(draft) if tables else {}
    for index in tables:
        block = blocks[index]
        if draft.marks[block.start]:
            continue
        stop, table = _table_end(blocks, index, last)
        span = (block.start, blocks[stop - 1].end)
        if doubt := _no_table(draft, blocks[index:stop], table, settings, index > begun, last):
            draft.decide("contents", *span, doubt, cut=False)
        else:
            draft.cut("contents", *span)


_LINE = re.compile(r"(?:[^\S\n]*\[Illustration: )?([^\n]+)")


def _last_places(draft: Draft) -> dict[str, int]:
    """Where each line of the body stands last, by its words."""
    return {words_of(line[1]): line.start() for line in _LINE.finditer(draft.text, draft.start, draft.end)}


def _no_table(
    draft: Draft, blocks: Sequence[Block], table: Sequence[str], settings: CleanSettings, begun: bool,
    last: Mapping[str, int],
) -> str:  # fmt: skip
    """Why what follows the heading is no table; "" when it may be one.

    Before and behind the story the place is a sign; inside it most entries must have a number or be found
    again as headings.
    """
    block, span = blocks[0], (blocks[0].start, blocks[-1].end)
    size = max(1, draft.end - draft.start)
    share = (span[1] - span[0]) / size
    if span[1] - span[0] > settings.floor and share > settings.limit("contents"):
        return f"it would be {share:.0%} of the text"
    behind = (block.start - draft.start) / size > _BACK_SHARE
    entries = [line for line in table if line.strip()]
    if not entries and is_contents(block):
        return "no entry stands below it"
    tale = any(map(_begins, blocks)) and draft.evidence(*span).is_tale
    if not tale and (not begun or (behind and is_contents(block))):
        return ""
    known = 0
    for line in entries:
        # An entry has a number, or is found again as a line of its own.
        words = words_of(re.sub(r"^(?:[IVXLC]+|\d+)\b\.?\s*|[\s.]+\d*$", "", line.strip()))
        known += bool(_FORM.ENTRY.search(line) or (words and last.get(words, 0) > span[1]))
    if len(entries) < _LEAST_ENTRIES or known < (0.25 if tale and not begun else 0.5) * len(entries):
        return "it reads like the story, and its lines are no headings of the book"
    return ""


def _table_end(blocks: Sequence[Block], index: int, last: Mapping[str, int]) -> tuple[int, list[str]]:
    """(number of the first block behind the table, entries of the table).

    The table runs to the first prose. The headings that stand directly before that prose belong to the
    book: they begin where an entry of the table is repeated, else behind the last wide gap.
    """
    own = [line for line in blocks[index].lines[1:] if line.strip()]
    stop = index + 1
    if is_list(blocks[index]):
        for block in islice(blocks, stop, None):
            # Captions in a list read like prose; a wide gap, a heading or a long paragraph ends it.
            named = is_division(block) or is_preface(block) or is_contents(block)
            long = is_prose(block) and block.end - block.start > _LONG_CAPTION
            wide = block.gap >= 4 or (block.gap >= 2 and named)
            if stop > index + 1 and (long or wide or is_list(block)):
                break
            stop += 1
        return stop, own + [line for block in blocks[index + 1 : stop] for line in block.lines]
    while stop < len(blocks) and not is_list(blocks[stop]):
        begun = _begins(blocks[stop]) and not _is_described(blocks, stop, last)
        if begun or (stop > index + 1 and is_contents(blocks[stop])):
            break
        stop += 1
    run = blocks[index + 1 : stop]
    keep = _first_of_story(run, own, prose=stop < len(blocks) and _begins(blocks[stop]))
    if keep >= _LEAST_ENTRIES:
        return index + 1 + keep, own + [block.line for block in run[:keep]]
    return index + 1 + keep, own + [line for block in run[:keep] for line in block.lines]


def _begins(block: Block) -> bool:
    """Whether a block is text of the book: prose, or speech, which may be short."""
    words = block.text.split()
    speech = len(words) > 3 and sum(word[0].islower() for word in words) >= 0.5 * len(words)
    return is_prose(block) or (speech and bool(_FORM.SPEECH.match(block.text)))


def _is_described(blocks: Sequence[Block], index: int, last: Mapping[str, int]) -> bool:
    """Whether prose in a table describes a chapter, whose heading stands above it and again in the book."""
    block, above, below = blocks[index], blocks[index - 1], blocks[index + 1 : index + 2]
    heading = block if is_division(block) else above
    closed = heading is block or (bool(below) and not is_prose(below[0]))
    if not is_division(heading) or not closed or block.end - block.start > _LONG_ENTRY:
        return False
    return last.get(words_of(heading.line), 0) > block.end


def _first_of_story(run: Sequence[Block], own: Sequence[str], prose: bool) -> int:
    """Place in `run` of the first heading that is no entry of the table; without `prose` behind the run,
    as in a book of verse, it is an entry repeated behind a wide gap, or there is none.

    `own` are the entries that stand in one block with the heading of the table.
    """
    entries = own or [line for block in run[:1] for line in block.lines]
    first = words_of(entries[0]) if entries else ""
    begin = 0 if own else 1
    known = [words_of(entry) for entry in entries]
    for place, block in enumerate(run):
        words = words_of(block.line)
        if place >= begin and block.gap >= 3 and any(_same(words, entry) for entry in known):
            return place
        known += [words_of(line) for line in block.lines]
    if not prose:
        return len(run)
    repeated = [i for i in range(begin, len(run)) if _same(words_of(run[i].line), first)]
    if repeated or not run:
        return max(repeated, default=0)
    # The block right before the prose belongs to it; so do the headings above that block, and whatever stands
    # with them behind the last wide gap.
    keep = len(run) - 1
    named = (is_division, is_titled_number, is_preface)
    while keep and run[keep - 1].gap >= 2 and any(is_one(run[keep - 1]) for is_one in named):
        keep -= 1
    wide = [i for i in range(max(0, len(run) - 2 * _MOST_HEADINGS), len(run)) if run[i].gap >= 3]
    return min([keep, *wide])


def _same(heading: str, entry: str) -> bool:
    """Whether one is the other or its first words: "chapter i" and "chapter i the period"."""
    short, long = sorted((heading, entry), key=len)
    return bool(short) and f"{long} ".startswith(f"{short} ")
