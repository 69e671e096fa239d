"""Project Gutenberg's own words in its files: header, footer, fields, numbers. The one place that knows them.

Since about 2003: `*** START OF THIS PROJECT GUTENBERG EBOOK EMMA ***` (also THE for THIS, also without
blanks, also over two lines) and `*** END OF ...`, with `End of the Project Gutenberg EBook of ...` above it.
1993 to 2003: a header that ends with `*END*THE SMALL PRINT! ...*END*`, a footer of one line.
Before: no line that ends the header.
"""

import re
from html import unescape

from ..resources import load_toml, resource

FORMS = load_toml(resource("manifests", "apparatus.toml"))

PROJECT = re.compile(r"project\s+gutenberg", re.I)
"""The name of the project, in any case and over a line end."""

_OPENING = r"\*\*\* ?START OF (?:THE|THIS) PROJECT GUTENBERG"
START = re.compile(rf"^{_OPENING}(?:[^\n]*?(?:\n[^\n]+?){{0,3}}?\*\*\*[ \t]*$|[^\n]*$)", re.M | re.I)
"""The line, or the two to four lines, that end a header since about 2003."""

SMALL_PRINT = re.compile(r"^\*END ?\*? ?THE SMALL PRINT[^\n]*$", re.M | re.I)
"""The line that ends a header of 1993 to 2003."""

HEADER_WORDS = re.compile(r"project gutenberg|gutenberg-tm|\betexts?\b|\be-texts?\b|small print", re.I)
"""Words that only the project uses in the header of a file from before 1993."""

FOOTER = re.compile(FORMS["markers"]["FOOTER"], re.M | re.I | re.X)
"""The line that begins a footer, in the forms of every era; find it with `footer_start`."""
# One of these words is in every form; finding a word is far faster than trying a pattern at every line.
_FOOTER_WORDS = ("Gutenberg", "GUTENBERG", "gutenberg", "FULL LICENSE", "should be named")


def footer_start(text: str, start: int = 0) -> int | None:
    """Where the first footer behind `start` begins; None when there is none."""
    found = []
    for word in _FOOTER_WORDS:
        at = text.find(word, start)
        while at >= 0:
            line = max(start, text.rfind("\n", start, at) + 1)
            if FOOTER.match(text, line):
                found.append(line)
                break
            at = text.find(word, at + len(word))
    return min(found, default=None)


_NUMBER = re.compile(r"\[?\be(?:book|text)\s*#\s*(\d+)", re.I)
_HTML = re.compile(r"<!doctype html|<html[\s>]|<head[\s>]|<body[\s>]|<\?xml\s", re.I)
_RTF = re.compile(r"\s*\{\\rtf\d?")
_TEX = re.compile(r"^\s*\\(?:documentclass|documentstyle|begin\{document\})", re.M)
_TAGS = re.compile(r"</?(?:p|br|div|span|i|em|b|h[1-6]|a|td|tr)\b[^<>\n]{0,200}>", re.I)
_LEFT_OVER = re.compile(
    r"(&(?:#\d+|#x[\da-f]+|[a-z]{2,8}\d{0,2});)|</?(?:i|b|em|strong|u|small|span|su[bp]|font|(p|div)|(br))\b[^<>]*>",
    re.I,
)
HEAD, _TAIL = 6000, 30_000
_LEAST_TAGS = 12


def as_on_a_page(text: str) -> str:
    """A plain text without the tags that a page of HTML left in it, and with characters for its "&quot;"."""
    return _LEFT_OVER.sub(lambda f: unescape(f[1] or "") or "\n" * (2 * bool(f[2]) + bool(f[3])), text)


def is_gutenberg(text: str) -> bool:
    """Whether a file is Project Gutenberg's: its head or its tail names the project."""
    return bool(PROJECT.search(text[:HEAD]) or PROJECT.search(text[-_TAIL:]))


def field(header: str, name: str) -> str:
    """A field of the header ("Title: Emma") with its continuation lines; "" when it is not there."""
    found = re.search(rf"^{name}: *([^\n]+(?:\n[ \t]+\S[^\n]*)*)", header, re.M)
    return " ".join(found.group(1).split()) if found else ""


def ebook_numbers(text: str) -> list[str]:
    """The eBook numbers that the head of a file names, its own first ("[EBook #1342]")."""
    return _NUMBER.findall(text[:HEAD])


def is_cut_off(text: str) -> bool:
    """Whether the file has a START line but nothing of a footer: half a file."""
    start = START.search(text[: 5 * HEAD])
    return start is not None and footer_start(text, start.end()) is None


def markup_of(text: str) -> str:
    """ "HTML", "RTF" or "TeX" when the file is no plain text but written in one of these, else "".

    Tags count from the first lines on, because pages are also saved without their head.
    """
    if _RTF.match(text):
        return "RTF"
    if _TEX.search(text[:HEAD]):
        return "TeX"
    if _HTML.search(text[:HEAD]) or len(_TAGS.findall(text[: 2 * HEAD])) >= _LEAST_TAGS:
        return "HTML"
    return ""
