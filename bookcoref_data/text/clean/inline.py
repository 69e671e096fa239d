"""Marks inside lines: _emphasis_, =bold=, +spaced+."""

from __future__ import annotations

import re

from .model import Draft

_PAIRS = re.compile(
    r"(?<![=\w])=(?=\S)[^=\n]{1,120}?\S=(?![=\w])|(?<![+\w])\+(?=[A-Za-z])[^+\n]{1,120}?[\w.,!?]\+(?![+\w])"
)
# An underscore before a brace lowers what follows ("C_{2}HCl_{3}O"): it is no mark of emphasis.
_UNDERSCORE = re.compile(r"_(?<!__)(?![_{])")


def cut_emphasis(draft: Draft) -> None:
    """The marks around emphasised words go, the words stay. A blank such as "Lord ____" stays whole."""
    for found in _UNDERSCORE.finditer(draft.text, draft.start, draft.end):
        draft.cut("emphasis", *found.span())
    if "=" not in draft.text and "+" not in draft.text:
        return
    for found in _PAIRS.finditer(draft.text, draft.start, draft.end):
        draft.cut("emphasis", found.start(), found.start() + 1)
        draft.cut("emphasis", found.end() - 1, found.end())
