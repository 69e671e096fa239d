"""What stands before the story: title page, prefaces, half titles."""

import re
from collections.abc import Sequence

from ..markers import field
from .evidence import Patterns
from .headings import is_division, is_list, is_preface, is_prose, is_titled_number, is_verse, words_of
from .model import KINDS, Block, Draft
from .settings import LONG_PREFACE, CleanSettings

_FORM = Patterns("front")

_FRONT_SHARE = 0.2
_TITLE_PAGE_LENGTH = 6000
_UNSURE_SHARE = 0.10  # of the text, for a preface with only two signs
_SIGNS, _SURE_SIGNS = 2, 3


def cut_front(draft: Draft, settings: CleanSettings, author: str, title: str) -> None:
    """The title page, prefaces as the settings say, and half titles before the first chapter.

    Behind the first chapter's heading only a preface that names its editor or translator is looked at.
    """
    blocks, half_titles = draft.blocks(), _half_titles(title)
    first = _first_of_book(draft, blocks, title, author)
    while first and _is_heading_of_story(blocks[first - 1], title, author):
        # The book begins behind the contents, and behind the title that is repeated.
        pages = blocks[:first]
        table = draft.marks.rfind(KINDS.index("contents") + 1, draft.start, pages[-1].start)
        titles = [index for index, block in enumerate(pages) if words_of(block.text) in half_titles]
        behind = next((index for index, block in enumerate(pages) if 0 < table < block.start), first)
        if first <= min(behind, titles[-1] + 1 if len(titles) > 1 else first):
            break
        first -= 1
    if sum(len(block.text) for block in blocks[:first]) > _TITLE_PAGE_LENGTH:
        first = 0  # a book without prose or headings of a known form begins at once
    for block in blocks[:first]:
        draft.cut("title-page", block.start, block.end)
    limit = draft.start + _FRONT_SHARE * (draft.end - draft.start)
    index, begun = first, False
    while index < len(blocks) and blocks[index].start < limit:
        block = blocks[index]
        begun = begun or (block.gap >= 2 and is_division(block))
        if block.gap < 2 or not is_preface(block) or (begun and not _FORM.OTHERS.search(block.line)):
            repeated = not begun and words_of(block.text) in half_titles
            if repeated and any(words_of(block.text) in words_of(b.text) for b in blocks[:index]):
                draft.cut("title-page", block.start, block.end)
            index += 1
            continue
        # The section ends at the next heading of its rank, or at a half title.
        stop = len(blocks)
        for later in range(index + 1, len(blocks)):
            other = blocks[later]
            if other.gap < 2 or is_prose(other):
                continue
            ranked = is_preface(other) or (is_division(other) and later > index + 1) or is_list(other)
            if ranked or (later > index + 1 and other.gap >= 3 and _is_half_title(other, title)):
                stop = later
                break
        section = blocks[index:stop]
        while title and len(section) > 1 and words_of(section[-1].text) in half_titles:
            half = section.pop()
            draft.cut("title-page", half.start, half.end)
        least = _SURE_SIGNS if begun else _SIGNS
        _judge_preface(draft, section, stop == len(blocks), settings, author, least)
        index = stop


def _half_titles(title: str) -> set[str]:
    """The forms in which a book repeats its title above the first chapter."""
    short = re.split(r"[;:]|\bor,? |,? v(?:ol(?:ume)?)?\.? ", title, flags=re.I)[0]
    return {words_of(title), words_of(short)} - {""}


def _judge_preface(
    draft: Draft, section: Sequence[Block], endless: bool, settings: CleanSettings, author: str, least: int
) -> None:
    """Cut a preface as the settings say; by another's hand only with `least` signs, never half the book."""
    start, end = section[0].start, section[-1].end
    share = (end - start) / max(1, draft.end - draft.start)
    if settings.prefaces == "all":
        return
    judged = settings.prefaces == "own" or (settings.prefaces == "long" and share > LONG_PREFACE)
    which = "short" if settings.prefaces == "long" else "all"
    signs, doubt, allowed = [f"{which} prefaces go (settings)"], "", settings.limit("preface")
    if judged:
        hands = _by_another(draft, section, author) if share <= allowed else []
        if not hands:
            return
        shown = draft.evidence(section[0].end, end)
        signs = [*hands, *shown.signs]
        if len(hands) < least and (len(signs) < least or shown.is_tale):
            doubt = f"{'; '.join(signs)}, but it reads like the story ({shown})"
        if len(signs) < _SURE_SIGNS:
            allowed = min(allowed, _UNSURE_SHARE)
    if end - start > settings.floor and share > allowed:
        doubt = f"{share:.1%} of the text is more than a preface has{'; no heading ends it' * endless}"
    draft.decide("preface", start, end, doubt or "; ".join(signs), cut=not doubt)


def _first_of_book(draft: Draft, blocks: Sequence[Block], title: str, author: str) -> int:
    """The first block that is no title page: a division, a preface, or the headings of the first prose.

    Verse or prose of some length before the first chapter is story (a prologue in verse, a frame), not a
    title page; prose that advertises, above a line of copyright, is one.
    """
    begin = 0
    for index, block in enumerate(blocks):
        named = block.gap >= 2 and (is_division(block) or is_preface(block))
        if named or block.start - blocks[0].start > _TITLE_PAGE_LENGTH:
            break
        if block.line_count <= 6 and _FORM.RIGHTS.search(block.text) and any(map(is_prose, blocks[:index])):
            shown = draft.evidence(blocks[0].start, block.start)
            begin = index + 1 if shown.is_trade and not shown.is_tale else begin
    for index in range(begin, len(blocks)):
        block = blocks[index]
        if block.gap >= 2 and (is_division(block) or is_preface(block) or is_titled_number(block)):
            return index
        verse = is_verse(block) and not _FORM.PRINTED.search(block.text)
        if is_prose(block) or verse or _FORM.SPEECH.search(block.text):
            # Its first heading: a chapter's, or what stands with it behind a wide gap
            for first in range(max(begin, index - _MOST_HEADINGS), index):
                if is_division(blocks[first]) or is_titled_number(blocks[first]):
                    return first
            titled = not set(_LONG_WORD.findall(words_of(title))).isdisjoint(words_of(blocks[0].text).split())
            for first in range(max(begin, int(titled or not title), index - _MOST_HEADINGS), index):
                group = blocks[first:index]
                apart = not first or group[0].gap >= (2 if len(group) == 1 else 3)
                together = all(block.gap <= 3 for block in blocks[first + 1 : index + 1])
                if apart and together and all(_is_heading_of_story(b, title, author) for b in group):
                    return first
            return index
    return 0


_MOST_HEADINGS = 2
_LONG_WORD = re.compile(r"\w{4,}")


def _is_heading_of_story(block: Block, title: str, author: str) -> bool:
    """Whether a short block above the first prose belongs to it: no title, no author, no publisher."""
    if len(block.lines) > 2 or _FORM.IMPRINT.search(block.text):
        return False
    surname = _surname(author)
    if surname and re.search(rf"\b{re.escape(surname)}\b", block.text, re.I):
        return False
    return words_of(block.text) not in _half_titles(title)


def _is_half_title(block: Block, title: str) -> bool:
    """Whether a line is a later part of the title in capitals, as of the first of two plays, or its end:
    "MOLL FLANDERS" above a story without chapters."""
    words = words_of(block.text)
    whole = words_of(re.sub(r",?\s*(?:&c|etc)\b\.?\s*$", "", title.strip(), flags=re.I))
    part = block.line.isupper() and (f" {words} " in f"{whole} " or words == whole)
    return " " in words and (part or words in _half_titles(_FORM.COLLECTION.sub("", title)))


def _by_another(draft: Draft, section: Sequence[Block], author: str) -> list[str]:
    """Signs that a preface is not the author's: heading, what it speaks of, who signs it.

    An unknown name in capitals below it counts twice, as it is both a form and a name; a person of the
    story or the author's initials are no such name.
    """
    title, body = section[0], section[1:]
    if re.search(r"\bauthor|auteur|verfasser", title.line, re.I):
        return []
    signs = ["its heading names another"] if _FORM.OTHERS.search(title.line) else []
    ends = [*body[:_FIRST_LINES], *body[_FIRST_LINES:][-_LAST_LINES:]]
    signed = [block for block in ends if len(block.line.split()) <= 6]
    told = " ".join(block.text for block in body if block not in signed)
    surname = _surname(author)
    if len(_FORM.TRANSLATING.findall(told)) >= 3:
        signs.append("it speaks of translating")
    if surname and re.search(rf"\b{re.escape(surname)}\b", told):
        signs.append("it speaks of the author")
    helpers = [field(draft.text[: draft.start], name) for name in ("Translator", "Editor", "Contributor")]
    helpers += _FORM.HELPER.findall(draft.text, draft.start, title.start)
    helpers = [words_of(name) for name in helpers if not surname or surname.lower() not in name.lower()]
    for block in signed:
        name = block.line.strip(".,")
        if len(name) > 4 and words_of(name) in helpers:
            signs.append("one whom the title page names signs it")
        elif block is body[-1] and author and _FORM_OF_NAME.fullmatch(name):
            # It is neither the author's name, nor a place, nor that of a person of the story.
            words = re.findall(r"[A-Z]+", name)
            initials = all(len(word) == 1 for word in words)
            ours = words[-1] in author.upper() or words[-1].title() in draft.story.names
            if not initials and not ours and not _FORM.IMPRINT.search(name):
                # A friend who signs and knows the people may be one of the story.
                knows = not draft.story.names.isdisjoint(re.findall(r"\w+", told))
                signs += ["another signs it", "under the heading of a preface"][: 2 - knows]
    return signs


_FIRST_LINES, _LAST_LINES = 2, 4  # of a preface, in which place, date and name may stand
_FORM_OF_NAME = re.compile(r"(?:[A-Z]\. ?)*[A-Z][A-Z. ]{4,40}")


def _surname(author: str) -> str:
    """The family name of "Jane Austen", "Austen, Jane" or "Dumas, Alexandre, père"."""
    name = re.sub(r"[\[(].*?[\])]", "", author)
    if "," in name:
        return name.split(",")[0].strip()
    words = [w for w in name.split() if w.lower().strip(".") not in ("jr", "sr", "père", "pere", "fils")]
    return words[-1] if words else ""
