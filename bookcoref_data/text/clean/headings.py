"""What a block of lines is: a heading that divides the book, the name of an apparatus, or prose."""

import re
from collections.abc import Callable

from ...words.numbers import ORDINALS, ROMAN, TENS, UNITS
from .evidence import Patterns
from .model import Block

_FORM = Patterns("headings")

_NUMBER = (
    rf"(?:{ROMAN}|\d+|(?:the )?(?:{'|'.join(ORDINALS)}|last)"
    rf"|{'|'.join(UNITS[1:])}|(?:{'|'.join(TENS)})\S*"
    r"|premi[eè]re?|deuxi[eè]me|seconde?|troisi[eè]me|quatri[eè]me|cinqui[eè]me|sixi[eè]me|derni[eè]re?"
    r"|(?:erst|zweit|dritt|viert|fünft|sechst|siebent?|acht|neunt|zehnt|letzt)e[rs]?)"
)
_UNIT = (
    r"(?:chapter|book|part|volume|vol|letter|canto|epoch|epoque|act|scene|stave|section|fit|tome"
    r"|chapitre|livre|partie|lettre|acte|sc[eè]ne|kapitel|buch|teil|theil|band|aufzug|auftritt|gesang)"
)
_DIVISION = re.compile(
    rf"(?:{_UNIT}\b\.?[ ,]+{_NUMBER}\b|(?:the )?{_NUMBER} {_UNIT}\b"
    r"|(?:prologue?|epilogue?|[ée]pilogue|prelude|finale|conclusion|interlude|the end of the story)\b.{0,40}$"
    rf"|(?!\d{{4}}){_NUMBER}[.:]?$)",
    re.I,
)
_CHAPTER = re.compile(rf"chapter\b\.?[ ,]+{_NUMBER}[.:]?$", re.I)
_BARE = re.compile(rf"(?:{_UNIT}\b\.?[ ,]+)?{_NUMBER}[.:]?$", re.I)

_ENOUGH = 3000  # characters from which the share of lower-case words is taken
_SENTENCE_END = re.compile(r"[.!?:;,\-—]['\"”’)\]_*]*$")
_LOWER_WORD = re.compile(r"\b[a-z]{2,}\b")


HeadingRule = Callable[[Block], bool]


def is_division(block: Block) -> bool:
    """Whether the block is the heading of a chapter, part, letter ... ("CHAPTER I", "FIRST PART", "XII.")."""
    if block.end - block.start > 400 or block.line_count > 6:
        return False
    line = block.line
    found = _DIVISION.match(line)
    if not found or len(line) > 90:
        return False
    rest = line[found.end() :]
    return not _LOWER_WORD.match(rest.lstrip()) or rest.lstrip()[:3] in ("the", "in ", "of ")


def is_titled_number(block: Block) -> bool:
    """Whether the block reads "1. Mr. Sherlock Holmes" or "II. The Mail"."""
    return block.line_count <= 3 and bool(_FORM.NUMERAL_TITLE.match(block.line)) and not is_prose(block)


def is_contents(block: Block) -> bool:
    """Whether the first line is the heading of a table: raised, and no sentence that goes on below it."""
    return block.line[:1].isupper() and bool(_FORM.CONTENTS.match(block.line)) and not is_prose(block)


def _named(names: re.Pattern[str]) -> HeadingRule:
    """Whether a short block that is no prose begins with one of the names."""

    def rule(block: Block) -> bool:
        short = block.end - block.start <= 400 and len(block.line) <= 80 and block.line_count <= 4
        return short and bool(names.match(block.line)) and not is_prose(block)

    return rule


is_preface, is_list, is_notes, is_back = map(_named, (_FORM.PREFACE, _FORM.LISTS, _FORM.NOTES, _FORM.BACK))


def is_prose(block: Block) -> bool:
    """Whether the block is running text: wrapped lines of lower-case words.

    Headings, entries of a table of contents, title pages and verse are not.
    """
    lines = [line for line in block.lines if line.strip()]
    words = block.text[:_ENOUGH].split()
    lower = sum(word[0].islower() for word in words)
    if len(words) < 12 or lower < 0.5 * len(words):
        return False
    if len(lines) == 1:
        return bool(_SENTENCE_END.search(lines[0].rstrip())) and len(words) >= 14
    return sum(len(line.rstrip()) >= 50 for line in lines[:-1]) >= 0.7 * (len(lines) - 1)


def is_verse(block: Block) -> bool:
    """Whether the block is a stanza: four lines or more that run on in lower case."""
    words, lines = block.text.split(), sum(bool(line.strip()) for line in block.lines)
    running = sum(word[0].islower() for word in words) >= 0.6 * len(words)
    return lines >= 4 and len(words) >= 24 and running


def words_of(line: str) -> str:
    """A heading reduced to lower-case letters and digits, for comparing it with an entry of the contents."""
    line = re.sub(r"[._ ]{2,}\d+\s*$|\s{2,}\d+\s*$", "", line.strip())
    return re.sub(r"[\W_]+", " ", line).strip().lower()


def is_heading(block: Block) -> bool:
    """Whether the block can stand in the list of chapters: set off by blank lines, short, not prose.

    One blank line is enough above a line that says "chapter" and a number, as in texts of one's own.
    """
    alone = len(block.lines) == 1 and _CHAPTER.match(block.line)
    long = block.end - block.start > 300 or block.line_count > 4
    if block.gap < (1 if alone else 2) or long or is_prose(block):
        return False
    return is_division(block) or is_titled_number(block) or (block.gap >= 3 and is_title(block))


def is_bare_number(block: Block) -> bool:
    """Whether the heading is only a number ("CHAPTER I", "XII."), so that its title may stand below."""
    return len(block.lines) == 1 and bool(_BARE.match(block.line))


def is_subtitle(block: Block) -> bool:
    """Whether the block, below a bare number, is the title of the chapter."""
    return block.gap <= 3 and len(block.lines) <= 3 and is_title(block)


def is_title(block: Block) -> bool:
    """Whether the words of the block are raised as in a title, and no sentence goes on behind it."""
    words = [word for word in re.findall(r"[^\W\d_]+", block.text) if len(word) > 3]
    raised = sum(word[0].isupper() for word in words)
    return 0 < len(words) <= 16 and raised >= 0.75 * len(words) and block.text.rstrip()[-1] not in ',:;”"'
