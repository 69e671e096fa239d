"""What stands around the story: contents, lists, title draft, prefaces, other works, back matter."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .evidence import Evidence
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
from .model import Block, Draft
from .settings import LONG_PREFACE, CleanSettings

_COLLECTION = re.compile(r",? and (?:selected|other|twelve|some|more|seven)\b.*", re.I | re.S)
_FRONT_SHARE, _BACK_SHARE = 0.2, 0.6
_TITLE_PAGE_LENGTH = 6000
_LEAST_ENTRIES = 3
_NUMBERED_SHARE = 0.3  # of the paragraphs of a section of notes; nine tenths are usual
_SHORT_SECTION = 25  # words: too few to read anything from


def cut_contents(draft: Draft, settings: CleanSettings) -> list[list[str]]:
    """Tables of contents and lists of illustrations, wherever they stand; returns the lines of each table."""
    tables = []
    blocks = draft.blocks()
    index = 0
    while index < len(blocks):
        block = blocks[index]
        if not (is_contents(block) or is_list(block)) or draft.marks[block.start]:
            index += 1
            continue
        stop, table = _table_end(draft, blocks, index)
        span = (block.start, blocks[stop - 1].end)
        doubt = _no_table(draft, block, table, span, settings)
        if doubt:
            draft.decide("contents", *span, doubt, cut=False)
            index += 1
            continue
        if is_contents(block):
            tables.append(table)
        draft.cut("contents", *span)
        index = stop
    return tables


def _no_table(
    draft: Draft, block: Block, table: Sequence[str], span: tuple[int, int], settings: CleanSettings
) -> str:
    """Why what follows the heading is no table of contents; "" when it may be one."""
    share = (span[1] - span[0]) / max(1, draft.end - draft.start)
    if span[1] - span[0] > settings.floor and share > settings.limit("contents"):
        return f"it would be {share:.0%} of the text"
    place = (block.start - draft.start) / max(1, draft.end - draft.start)
    entries = [line for line in table if line.strip()]
    if not entries and is_contents(block):
        return "no entry stands below it"
    if _FRONT_SHARE < place < 0.95 and is_contents(block) and len(entries) < _LEAST_ENTRIES:
        return "it stands inside the story and has fewer than three entries"
    return ""


def _table_end(draft: Draft, blocks: Sequence[Block], index: int) -> tuple[int, list[str]]:
    """(number of the first block behind the table, lines of the table).

    The table runs to the first prose. The headings that stand directly before that prose belong to the
    book: they begin where the table's first entry is repeated, else behind the last wide gap.
    """
    own = [line for line in blocks[index].lines[1:] if line.strip()]
    if is_list(blocks[index]):
        return _list_end(blocks, index), own
    stop = index + 1
    while stop < len(blocks) and not is_prose(blocks[stop]):
        stop += 1
    run = blocks[index + 1 : stop]
    keep = len(run) if stop == len(blocks) else _first_of_story(run, own)
    return index + 1 + keep, own + [line for block in run[:keep] for line in block.lines]


def _list_end(blocks: Sequence[Block], index: int) -> int:
    """Captions in a list of illustrations read like prose; a wide gap or a heading ends it."""
    behind = range(index + 2, len(blocks))
    return next((place for place in behind if _ends_list(blocks[place])), len(blocks))


def _first_of_story(run: Sequence[Block], own: Sequence[str]) -> int:
    """Place in `run`, which stands before prose, of the first heading that is no entry of the table.

    `own` are the entries that stand in one block with the heading of the table.
    """
    entries = own or [line for block in run[:1] for line in block.lines]
    first = words_of(entries[0]) if entries else ""
    begin = 0 if own else 1
    repeated = [i for i in range(begin, len(run)) if _same(words_of(run[i].line), first)]
    return repeated[-1] if repeated else _headings_before_prose(run)


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


def cut_other_works(draft: Draft, title: str, tables: Sequence[Sequence[str]]) -> None:
    """In a collection "A, and Selected Stories", keep A: cut what the contents list before and behind it."""
    main = words_of(_COLLECTION.sub("", title))
    if not _COLLECTION.search(title) or not main or not tables:
        return
    works = _works_listed(tables)
    if main not in works:
        return
    headings = [(words_of(block.line), block.start) for block in draft.blocks() if block.gap >= 2]
    starts = [start for words, start in headings if words == main]
    if starts and works.index(main) > 0:
        # The title page names it first; the last heading in the front part opens the work itself.
        near = [start for start in starts if start < draft.start + 0.4 * (draft.end - draft.start)]
        draft.cut("other-works", draft.start, (near or starts)[-1])
    later = (re.sub(r" \d+$", "", work) for work in works[works.index(main) + 1 :])
    ends = (start for work in later for words, start in headings if words == work)
    end = next(ends, None)
    if end is not None:
        draft.cut("other-works", end, draft.end)


def _works_listed(tables: Sequence[Sequence[str]]) -> list[str]:
    """The words of the entries of the tables that are least indented: the works of a collection."""
    entries = [line for table in tables for line in table if line.strip()]
    depths = [len(line) - len(line.lstrip()) for line in entries]
    return [words_of(line) for line, depth in zip(entries, depths, strict=True) if depth == min(depths)]


def cut_front(draft: Draft, settings: CleanSettings, author: str, title: str) -> None:
    """The title page, prefaces as the settings say, and half titles before the first chapter."""
    blocks = draft.blocks()
    first = _first_of_book(blocks, title, author)
    if sum(len(block.text) for block in blocks[:first]) > _TITLE_PAGE_LENGTH:
        first = 0  # a book without prose or headings of a known form begins at once
    for block in blocks[:first]:
        draft.cut("title-page", block.start, block.end)
    limit = draft.start + _FRONT_SHARE * (draft.end - draft.start)
    index = first
    while index < len(blocks) and blocks[index].start < limit:
        block = blocks[index]
        if not is_preface(block) or block.gap < 2:
            if is_division(block) and block.gap >= 2:
                break
            repeated = words_of(block.text) in _half_titles(title)
            if repeated and any(words_of(block.text) in words_of(b.text) for b in blocks[:index]):
                draft.cut("title-page", block.start, block.end)
            index += 1
            continue
        stop = _section_end(blocks, index, title)
        section = blocks[index:stop]
        while title and len(section) > 1 and words_of(section[-1].text) in _half_titles(title):
            half = section.pop()
            draft.cut("title-page", half.start, half.end)
        _judge_preface(draft, section, stop == len(blocks), settings, author)
        index = stop


def _half_titles(title: str) -> set[str]:
    """The forms in which a book repeats its title above the first chapter."""
    return {words_of(title), words_of(re.split(r"[;:]|\bor,? ", title)[0])} - {""}


def _judge_preface(
    draft: Draft, section: Sequence[Block], endless: bool, settings: CleanSettings, author: str
) -> None:
    """Cut a preface as the settings say; by another's hand only with evidence, and never half the book."""
    start, end = section[0].start, section[-1].end
    share = (end - start) / max(1, draft.end - draft.start)
    if settings.prefaces == "all":
        return
    judged = settings.prefaces == "own" or (settings.prefaces == "long" and share > LONG_PREFACE)
    which = "short" if settings.prefaces == "long" else "all"
    reason = _by_another(section, author) if judged else f"{which} prefaces go (settings)"
    if not reason:
        return
    doubt = ""
    if end - start > settings.floor and share > settings.limit("preface"):
        doubt = f"{share:.1%} of the text is more than a preface has" + (
            "; no heading ends it" if endless else ""
        )
    elif judged:
        shown = draft.evidence(section[0].end, end)
        if not shown.is_editorial and shown.words >= _SHORT_SECTION and "heading" not in reason:
            doubt = f"{reason}, but it reads like the story ({_figures(shown)})"
    draft.decide("preface", start, end, doubt or reason, cut=not doubt)


def _figures(shown: Evidence) -> str:
    return (
        f"in 1,000 words {shown.editorial:.0f} of editors and {shown.names:.0f} names of the story, "
        f"{shown.numbered:.0%} of the paragraphs numbered"
    )


def _first_of_book(blocks: Sequence[Block], title: str, author: str) -> int:
    """The first block that is no title page: a division, a preface, or the headings of the first prose.

    Verse or prose of some length before the first chapter is story (a prologue in verse, a frame), not a
    title page.
    """
    for index, block in enumerate(blocks):
        if block.gap >= 2 and (is_division(block) or is_preface(block) or is_titled_number(block)):
            return index
        if is_prose(block):
            return _headings_above(blocks, index, title, author)
        if _is_verse(block) or _SPEECH.search(block.text):
            return index
    return 0


def _headings_above(blocks: Sequence[Block], index: int, title: str, author: str) -> int:
    """The first of the headings of the prose at `index`: what stands with it behind the last wide gap."""
    for first in range(max(1, index - _MOST_HEADINGS), index):
        group = blocks[first:index]
        apart = group[0].gap >= (2 if len(group) == 1 else 3)
        together = all(block.gap <= 3 for block in blocks[first + 1 : index + 1])
        if apart and together and all(_is_heading_of_story(b, title, author) for b in group):
            return first
    return index


_MOST_HEADINGS = 2
_SPEECH = re.compile(r"[”\"’'»] (?:said|asked|cried|replied|answered|whispered|dit|sagte)\b")
_PRINTED = re.compile(r"\b1[5-9]\d\d\b|\b(?:copyright|translated|illustrat\w+|published|printed)\b", re.I)
_IMPRINT = re.compile(
    r"\b1[5-9]\d\d\b|^[ \t]*by\b"
    r"|\b(?:author of|translated|illustrat\w+|copyright|published|publishers?|press|edition|editor|company|co"
    r"|sons|brothers|london|new york|boston|chicago|philadelphia|edinburgh|paris|leipzig|berlin|volume|vol"
    r"|printed|dedicated|inscribed)\b",
    re.I | re.M,
)


def _is_heading_of_story(block: Block, title: str, author: str) -> bool:
    """Whether a short block above the first prose belongs to it: no title, no author, no publisher."""
    if len(block.lines) > 2 or _IMPRINT.search(block.text):
        return False
    surname = _surname(author)
    if surname and re.search(rf"\b{re.escape(surname)}\b", block.text, re.I):
        return False
    words = words_of(block.text)
    return not title or words not in {*_half_titles(title), words_of(title)}


def _is_verse(block: Block) -> bool:
    """Whether a block above the first heading is a stanza: four lines or more that run on in lower case."""
    lines = [line for line in block.lines if line.strip()]
    words = block.text.split()
    lower = sum(word[0].islower() for word in words)
    return (
        len(lines) >= 4 and len(words) >= 24 and lower >= 0.6 * len(words) and not _PRINTED.search(block.text)
    )


def _section_end(blocks: Sequence[Block], index: int, title: str = "") -> int:
    """The end of the section that begins at `index`: the next heading of its rank, or a half title."""
    for later in range(index + 1, len(blocks)):
        block = blocks[later]
        if block.gap < 2 or is_prose(block):
            continue
        if is_preface(block) or (is_division(block) and later > index + 1) or is_list(block):
            return later
        if later > index + 1 and block.gap >= 3 and _is_half_title(block, title):
            return later
    return len(blocks)


def _is_half_title(block: Block, title: str) -> bool:
    """Whether a line is the end of the title in capitals: "MOLL FLANDERS" above a story without chapters."""
    words = words_of(block.text).split()
    whole = words_of(re.sub(r",?\s*(?:&c|etc)\b\.?\s*$", "", title.strip(), flags=re.I)).split()
    return block.line.isupper() and len(words) > 1 and whole[-len(words) :] == words


_OTHERS = re.compile(
    r"translator|editor|publisher|biographical|life of|\bby (?!the author)|traducteur|[ée]diteur"
    r"|[üu]bersetzer|herausgeber",
    re.I,
)


def _by_another(section: Sequence[Block], author: str) -> str:
    """Why a preface is not the author's: its heading says so, it speaks of the author, another signs it."""
    title, body = section[0], section[1:]
    if re.search(r"\bauthor|auteur|verfasser", title.line, re.I):
        return ""
    if _OTHERS.search(title.line):
        return "its heading names another"
    surname = _surname(author)
    signed = body[-1] if body and len(body[-1].line.split()) <= 6 else None
    told = " ".join(block.text for block in body if block is not signed)
    if len(re.findall(r"\btranslat(?:ion|or|ed)\b|\btraduct(?:ion|eur)\b|[Üü]bersetzung", told, re.I)) >= 3:
        return "it speaks of translating"
    if surname and re.search(rf"\b{re.escape(surname)}\b", told):
        return "it speaks of the author"
    if signed and surname:
        name = re.fullmatch(r"(?:[A-Z]\. ?)*[A-Z][A-Z. ]{4,40}", signed.line)
        if name and surname.lower() not in signed.line.lower():
            return "another signs it, under the heading of a preface"
    return ""


def _surname(author: str) -> str:
    """The family name of "Jane Austen", "Austen, Jane" or "Dumas, Alexandre, père"."""
    name = re.sub(r"[\[(].*?[\])]", "", author)
    if "," in name:
        return name.split(",")[0].strip()
    words = [w for w in name.split() if w.lower().strip(".") not in ("jr", "sr", "père", "pere", "fils")]
    return words[-1] if words else ""


def cut_back(draft: Draft, settings: CleanSettings) -> None:
    """Notes, appendices, glossaries, advertisements behind the last chapter; ornaments at the very end.

    The heading alone decides nothing: a novel may close with a "NOTE" that is its epilogue.
    """
    blocks = draft.blocks()
    while blocks and not re.search(r"\w", blocks[-1].text):
        ornament = blocks.pop()
        draft.cut("back-matter", ornament.start, ornament.end)
    limit = draft.start + _BACK_SHARE * (draft.end - draft.start)
    divisions = [b.start for b in blocks if is_division(b) and b.gap >= 2]
    last = max(divisions, default=0)
    for block in blocks:
        if block.start <= max(limit, last) or draft.marks[block.start]:
            continue
        shouted = is_notes(block) and block.line.startswith("NOTE")
        if not shouted and (block.gap < 2 or not (is_notes(block) or is_back(block))):
            continue
        reason, cut = _judge_back(draft, block, settings)
        draft.decide("back-matter", block.start, draft.end, reason, cut=cut)
        if cut:
            return


def _judge_back(draft: Draft, block: Block, settings: CleanSettings) -> tuple[str, bool]:
    """(why, whether to cut) everything from a heading behind the last chapter on."""
    size = draft.end - block.start
    share = size / max(1, draft.end - draft.start)
    if size > settings.floor and share > settings.limit("back-matter"):
        return f"{share:.1%} of the text is more than back matter has", False
    shown = draft.evidence(block.start, draft.end)
    if shown.words < _SHORT_SECTION or shown.numbered >= _NUMBERED_SHARE:
        return f"its heading, and {shown.numbered:.0%} of the paragraphs are numbered", True
    if shown.is_editorial:
        return f"its heading and its wording ({_figures(shown)})", True
    listed = is_back(block) and not any(is_prose(b) for b in draft.blocks() if b.start > block.start)
    if listed:
        return "its heading, and no prose behind it", True
    return f"it reads like the story ({_figures(shown)})", False
