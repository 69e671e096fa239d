"""What stands around the story: contents, lists, title page, prefaces, other works, back matter."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .headings import (
    is_back,
    is_contents,
    is_division,
    is_list,
    is_notes,
    is_preface,
    is_prose,
    is_titled_number,
    words_of,
)
from .model import Block, Page
from .settings import CleanSettings

_COLLECTION = re.compile(r",? and (?:selected|other|twelve|some|more|seven)\b.*", re.I | re.S)
_FRONT_SHARE, _BACK_SHARE = 0.2, 0.6
_TITLE_PAGE_LENGTH = 6000


def cut_contents(page: Page) -> list[list[str]]:
    """Tables of contents and lists of illustrations, wherever they stand; returns the lines of each table."""
    tables = []
    blocks = page.blocks()
    index = 0
    while index < len(blocks):
        block = blocks[index]
        if (is_contents(block) or is_list(block)) and not page.marks[block.start]:
            stop, table = _table_end(page, blocks, index)
            if is_contents(block):
                tables.append(table)
            page.cut("contents", block.start, blocks[stop - 1].end)
            index = stop
        else:
            index += 1
    return tables


def _table_end(page: Page, blocks: Sequence[Block], index: int) -> tuple[int, list[str]]:
    """(number of the first block behind the table, lines of the table).

    The table runs to the first prose. The headings that stand directly before that prose belong to the
    book: they begin where the table's first entry is repeated, else behind the last wide gap.
    """
    own = [line for line in blocks[index].lines[1:] if line.strip()]
    stop = index + 1
    if is_list(blocks[index]):
        # Captions in a list of illustrations read like prose; a wide gap or a heading ends it.
        while stop < len(blocks) and (stop == index + 1 or not _ends_list(blocks[stop])):
            stop += 1
        return stop, own
    while stop < len(blocks) and not is_prose(blocks[stop]):
        stop += 1
    run = blocks[index + 1 : stop]
    if stop == len(blocks):
        return stop, own + [line for block in run for line in block.lines]
    first = words_of((own or [line for block in run[:1] for line in block.lines] or [""])[0])
    repeated = [
        i for i, block in enumerate(run) if i >= (0 if own else 1) and _same(words_of(block.line), first)
    ]
    keep = repeated[-1] if repeated else _headings_before_prose(run)
    lines = own + [line for block in run[:keep] for line in block.lines]
    return index + 1 + keep, lines


def _ends_list(block: Block) -> bool:
    named = is_division(block) or is_preface(block) or is_contents(block)
    return block.gap >= 4 or (block.gap >= 2 and named)


def _same(heading: str, entry: str) -> bool:
    """Whether one is the other or its first words: "chapter i" and "chapter i the period"."""
    short, long = sorted((heading, entry), key=len)
    return bool(short) and f"{long} ".startswith(f"{short} ")


def _headings_before_prose(run: Sequence[Block]) -> int:
    """Place in `run` of the first heading that belongs to the prose behind it.

    The block right before the prose always does; so do the headings above it, and whatever stands with
    them behind the last wide gap.
    """
    if not run:
        return 0
    keep = len(run) - 1
    while keep and (_is_named(run[keep - 1]) and run[keep - 1].gap >= 2):
        keep -= 1
    wide = [i for i in range(max(0, len(run) - 3), len(run)) if run[i].gap >= 3]
    return min([keep, *wide])


def _is_named(block: Block) -> bool:
    return is_division(block) or is_titled_number(block) or is_preface(block)


def cut_other_works(page: Page, title: str, tables: Sequence[Sequence[str]]) -> None:
    """In a collection "A, and Selected Stories", keep A: cut what the contents list before and behind it."""
    main = words_of(_COLLECTION.sub("", title))
    if not _COLLECTION.search(title) or not main or not tables:
        return
    entries = [line for table in tables for line in table if line.strip()]
    depth = min(len(line) - len(line.lstrip()) for line in entries)
    works = [words_of(line) for line in entries if len(line) - len(line.lstrip()) == depth]
    if main not in works:
        return
    blocks = page.blocks()
    starts = [b for b in blocks if words_of(b.line) == main and b.gap >= 2]
    if starts and works.index(main) > 0:
        # The title page names it first; the last heading in the front part opens the work itself.
        near = [b for b in starts if b.start < page.start + 0.4 * (page.end - page.start)]
        page.cut("other-works", page.start, (near or starts)[-1].start)
    for work in works[works.index(main) + 1 :]:
        behind = [b for b in blocks if b.gap >= 2 and words_of(b.line) == re.sub(r" \d+$", "", work)]
        if behind:
            page.cut("other-works", behind[0].start, page.end)
            return


def cut_front(page: Page, settings: CleanSettings, author: str) -> None:
    """The title page, and prefaces as the settings say."""
    blocks = page.blocks()
    first = _first_of_book(blocks)
    if sum(len(block.text) for block in blocks[:first]) > _TITLE_PAGE_LENGTH:
        first = 0  # a book without prose or headings of a known form begins at once
    for block in blocks[:first]:
        page.cut("title-page", block.start, block.end)
    limit = page.start + _FRONT_SHARE * (page.end - page.start)
    index = first
    while index < len(blocks) and blocks[index].start < limit:
        block = blocks[index]
        if not is_preface(block) or block.gap < 2:
            if is_division(block) and block.gap >= 2:
                break
            index += 1
            continue
        stop = _section_end(blocks, index)
        section = blocks[index:stop]
        if settings.prefaces == "none" or (settings.prefaces == "own" and _by_another(section, author)):
            page.cut("preface", block.start, section[-1].end)
        index = stop


def _first_of_book(blocks: Sequence[Block]) -> int:
    """The first block that is no title page: a division, a preface, or the heading of the first prose."""
    for index, block in enumerate(blocks):
        if block.gap >= 2 and (is_division(block) or is_preface(block) or is_titled_number(block)):
            return index
        if is_prose(block):
            heading = index - 1
            near = index > 1 and block.gap <= 3 and blocks[heading].gap >= 2
            return heading if near and len(blocks[heading].lines) <= 2 else index
    return 0


def _section_end(blocks: Sequence[Block], index: int) -> int:
    """The end of the section that begins at `index`: the next heading of its rank."""
    for later in range(index + 1, len(blocks)):
        block = blocks[later]
        if block.gap < 2 or is_prose(block):
            continue
        if is_preface(block) or (is_division(block) and later > index + 1) or is_list(block):
            return later
    return len(blocks)


_OTHERS = re.compile(r"translator|editor|publisher|biographical|life of|\bby (?!the author)", re.I)


def _by_another(section: Sequence[Block], author: str) -> bool:
    """Whether a preface is not the author's: its title says so, it speaks of the author, another signs it."""
    title, body = section[0], section[1:]
    if re.search(r"author", title.line, re.I):
        return False
    if _OTHERS.search(title.line):
        return True
    surname = _surname(author)
    signed = body[-1] if body and len(body[-1].line.split()) <= 6 else None
    told = " ".join(block.text for block in body if block is not signed)
    if len(re.findall(r"\btranslat(?:ion|or|ed)\b", told, re.I)) >= 3:
        return True
    if surname and re.search(rf"\b{re.escape(surname)}\b", told):
        return True
    if signed and surname:
        name = re.fullmatch(r"(?:[A-Z]\. ?)*[A-Z][A-Z. ]{4,40}", signed.line)
        return bool(name) and surname.lower() not in signed.line.lower()
    return False


def _surname(author: str) -> str:
    """The family name of "Jane Austen", "Austen, Jane" or "Dumas, Alexandre, père"."""
    name = re.sub(r"[\[(].*?[\])]", "", author)
    if "," in name:
        return name.split(",")[0].strip()
    words = [w for w in name.split() if w.lower().strip(".") not in ("jr", "sr", "père", "pere", "fils")]
    return words[-1] if words else ""


def cut_back(page: Page) -> None:
    """Notes, appendices, glossaries, advertisements behind the last chapter; ornaments at the very end."""
    blocks = page.blocks()
    while blocks and not re.search(r"\w", blocks[-1].text):
        ornament = blocks.pop()
        page.cut("back-matter", ornament.start, ornament.end)
    limit = page.start + _BACK_SHARE * (page.end - page.start)
    divisions = [b.start for b in blocks if is_division(b) and b.gap >= 2]
    last = max(divisions, default=0)
    for block in blocks:
        if block.start <= max(limit, last) or page.marks[block.start]:
            continue
        shouted = is_notes(block) and block.line.startswith("NOTE")
        if shouted or (block.gap >= 2 and (is_notes(block) or is_back(block))):
            page.cut("back-matter", block.start, page.end)
            return
