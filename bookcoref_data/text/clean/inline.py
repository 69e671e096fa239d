"""Marks inside lines: _emphasis_, =bold=, +spaced+."""

from __future__ import annotations

import re

from .model import Page

_PAIRS = re.compile(
    r"(?<![=\w])=(?=\S)[^=\n]{1,120}?\S=(?![=\w])|(?<![+\w])\+(?=[A-Za-z])[^+\n]{1,120}?[\w.,!?]\+(?![+\w])"
)
_UNDERSCORE = re.compile(r"(?<!_)_(?!_)")


def cut_emphasis(page: Page) -> None:
    """The marks around emphasised words go, the words stay. A blank such as "Lord ____" stays whole."""
    for found in _UNDERSCORE.finditer(page.text, page.start, page.end):
        page.cut("emphasis", *found.span())
    for found in _PAIRS.finditer(page.text, page.start, page.end):
        page.cut("emphasis", found.start(), found.start() + 1)
        page.cut("emphasis", found.end() - 1, found.end())
