"""Hide the name of a character in its description, as LiSCU's identification task does.

LiSCU publishes its masks as lists of changes to its own texts; the rule here is ours. The longest name of
anybody in the guide is read first, so that "Jane Brook" in a text about Ada Brook stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ...words.honorifics import HONORIFICS

MASK = "[MASK]"
_SMALL = frozenset({"the", "a", "an", "of", "de", "la", "le", "von", "van", "du", "des"})
_PART = re.compile(r"[^\W\d_][\w'’-]*\.?")


def mask_name(text: str, names: Sequence[str], others: Iterable[Sequence[str]] = ()) -> tuple[str, int]:
    """The text with a person's names replaced by `MASK`, and how many were replaced.

    `names` are the person's name and aliases; each is hidden whole, and so is every part of it that is no
    title or small word. `others` are the names of the other persons: a full name of theirs is left alone,
    and what is only theirs, too. A part that several persons share ("Brook") is hidden where it stands alone.
    """
    mine = _forms(names)
    theirs = {form for other in others for form in _forms(other)} - mine
    if not mine:
        return text, 0
    forms = sorted(mine | theirs, key=lambda form: (-len(form), form))
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(_loose, forms))})(?!\w)")
    count = 0

    def hide(match: re.Match[str]) -> str:
        nonlocal count
        if " ".join(match.group().replace("’", "'").split()) not in mine:
            return match.group()
        count += 1
        return MASK

    return pattern.sub(hide, text), count


def _forms(names: Sequence[str]) -> set[str]:
    """What may stand for the person: every name, the name without its titles, and its single parts."""
    found: set[str] = set()
    for name in names:
        words = name.replace("’", "'").split()
        parts = [word for word in words if _tells(word)]
        found |= {" ".join(words), *parts} - {""}
        if parts:
            found.add(" ".join(parts))
    return found


def _tells(word: str) -> bool:
    """Whether a word alone names somebody: a capitalised word that is no title."""
    plain = word.rstrip(".,").casefold()
    titles = plain in HONORIFICS or f"{plain}." in HONORIFICS
    capital = word[:1].isupper() and len(plain) > 1
    return bool(_PART.fullmatch(word)) and capital and not titles and plain not in _SMALL


def _loose(form: str) -> str:
    """A pattern for a form with any white space and either apostrophe."""
    return r"\s+".join(re.escape(word).replace("'", "['’]") for word in form.split())
