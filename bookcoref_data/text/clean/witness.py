"""Another edition of the same book as a witness of what is apparatus: the site's HTML, an EPUB, another text.

What its markup sets apart (notes, captions, page numbers) is no story. What it does not have at all is
seldom the author's: introductions, notes and adverts change with the publisher. It never decides alone.
"""

import re
from collections.abc import Iterable

from .evidence import Patterns
from .model import KINDS, Draft

_FORM = Patterns("notes")
_WORD = re.compile(r"[a-z0-9]+")
_SIGNS = str.maketrans("", "", "'’‘_")
_RUN = 4  # words
_FEWEST = 2  # words of a piece that can be told from another: "1" may be a chapter
_MOST, _LEAST = 0.8, 0.2  # shares of the runs of a piece that are found, or are not
_LONG = 200  # characters from which on a piece needs a form of its own, too
_CUT_AS = {
    "notes": "footnote", "marks of notes": "footnote", "page numbers": "page-number", "contents": "contents",
    "captions": "illustration", "notes of transcribers": "transcriber-note",
}  # fmt: skip


def _words(text: str) -> list[str]:
    return _WORD.findall(text.translate(_SIGNS).lower())


def _runs(words: list[str]) -> list[tuple[str, ...]]:
    """All runs of four words; of a shorter text the whole."""
    return [tuple(words[i : i + _RUN]) for i in range(max(1, len(words) - _RUN + 1))]


class Witness:
    """Runs of words of another edition: of its `text`, and of the pieces that its markup sets `apart`."""

    def __init__(self, text: str, apart: Iterable[tuple[str, str]] = ()) -> None:
        # A short paragraph is compared as a whole.
        self.text = {run for part in text.split("\n\n") for run in _runs(_words(part))}
        self.text.update(_runs(_words(text)))
        self.apart: dict[tuple[str, ...], str] = {}
        for kind, piece in apart:
            if kind in _CUT_AS:
                self.apart.update(dict.fromkeys(_runs(_words(piece)), kind))

    def kind_of(self, piece: str) -> str:
        """As what another edition sets a piece apart; "" when it does not, or has it in its text as well."""
        words = _words(piece)
        if len(words) < _FEWEST:
            return ""
        runs = _runs(words)
        found = [self.apart[run] for run in runs if run in self.apart]
        told = sum(run in self.text for run in runs)
        apart = len(found) >= _MOST * len(runs) and (told <= _LEAST * len(runs))
        return max(set(found), key=found.count) if found and apart else ""

    def tells(self, piece: str) -> bool:
        """Whether another edition has a piece in its text, and nowhere apart."""
        runs = _runs(_words(piece))
        told, apart = (sum(run in where for run in runs) for where in (self.text, self.apart))
        return told >= _MOST * len(runs) and apart <= _LEAST * len(runs)

    def sign(self, section: str) -> str:
        """What speaks against a whole section, in words; "" for nothing."""
        if kind := self.kind_of(section):
            return f"another edition sets it apart as {kind}"
        runs = _runs(_words(section))
        lacking = sum(run not in self.text and run not in self.apart for run in runs)
        return "another edition lacks it" if lacking >= _MOST * len(runs) else ""


def ask_witness(draft: Draft, witness: Witness) -> None:
    """Give back notes that another edition has in its text, and cut what it sets apart.

    A piece of more than 200 characters is cut only if it also looks like a note: it begins with a label, a
    star or a bracket.
    """
    if "notes" in witness.apart.values():
        note = KINDS.index("footnote") + 1
        # [start, end) of what is marked with a code, with at least a run of words in it
        found = re.finditer(re.escape(bytes([note])) + b"+", draft.marks)
        for start, end in [m.span() for m in found if len(_words(draft.text[m.start() : m.end()])) > _RUN]:
            if not _FORM.FOOTNOTE.match(draft.text, start) and witness.tells(draft.text[start:end]):
                draft.marks[start:end] = bytes(end - start)
                draft.decide("footnote", start, end, "another edition has it in its text", cut=False)
    for block in draft.blocks():
        kind = witness.kind_of(block.text)
        formed = len(block.text) <= _LONG or _FORM.OPENING.match(draft.text, block.start)
        if kind and formed:
            draft.cut(_CUT_AS[kind], block.start, block.end)
        elif kind:
            why = f"only another edition calls it {kind}"
            draft.decide(_CUT_AS[kind], block.start, block.end, why, cut=False)
