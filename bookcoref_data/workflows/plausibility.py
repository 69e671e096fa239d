"""Could this annotation be right? Figures of one book that show when a cast does not fit its text.

Nothing here needs a key: a narrator who is hardly mentioned, or a name that never occurs, shows by itself.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..annotation.embedded.quotes import find_speech
from ..books import Book
from ..shapes import attributes
from ..words.pronouns import ALL_PRONOUNS, FIRST

FIRST_PERSON_BOOK = 0.01
"""Share of the words outside quotes that are I, me or my from which on a book is told by one of its people.
Of the 52 novels of BookCoref on Project Gutenberg those told from outside have at most 0.7 %, the others at
least 1.3 %."""
MOST_ABSENT = 0.25
LEAST_NARRATOR = 0.2
_TOP = 10


@dataclass(frozen=True, slots=True)
class Plausibility:
    """Figures of one annotated book; shares are between 0 and 1.

    `absent` are names of the cast without a mention, `near` (name, word, times) says how often the text has a
    word of such a name: "The Mad Hatter" may be "the Hatter". `shares` are (name, place in the cast, share of
    all mentions), the most mentioned first. `first_person` is the share of I, me, my among the words outside
    quotes, `first_person_linked` how many of these are mentions of somebody, `narrator` who has most of them.
    `pronouns` is the share of mentions that are pronouns. `warnings` are sentences for a person.
    """

    cast: int
    absent: tuple[str, ...]
    near: tuple[tuple[str, str, int], ...]
    shares: tuple[tuple[str, int, float], ...]
    first_person: float
    first_person_linked: float
    narrator: str
    pronouns: float
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        rounded = ("first_person", "first_person_linked", "pronouns")
        return attributes(self) | {name: round(getattr(self, name), 4) for name in rounded}


def plausibility(book: Book, cast: Sequence[str]) -> Plausibility:
    """The figures of a book annotated for the names of `cast`, in the order of the source."""
    words = [token.lower() for token in book.tokens]
    sentences = np.searchsorted(np.asarray(book.sentence_ends), np.arange(len(book.tokens)), side="right")
    quote = find_speech(book, sentences, {}).quote.tolist()
    # The words that the book itself tells, outside quotes
    told = [i for i, number in enumerate(quote) if number < 0 and any(c.isalpha() for c in words[i])]
    mine = {i for i in told if words[i] in FIRST}
    total = max(1, book.mention_count)
    single = [(c.name, m.start) for c in book.characters for m in c.mentions if m.start == m.end]
    said = {c.name: 0 for c in book.characters}
    for name, at in single:
        said[name] += at in mine
    narrator = max(said, key=lambda name: said[name], default="")
    present = {c.name for c in book.characters if c.mentions}
    absent = tuple(name for name in cast if name not in present)
    first = len(mine) / max(1, len(told))
    of_narrator = said.get(narrator, 0)
    share = of_narrator / max(1, len(mine))
    found = []
    if cast and len(absent) > MOST_ABSENT * len(cast):
        found.append(
            f"{len(absent)} of {len(cast)} names have no mention ({', '.join(absent[:5])}"
            f"{', ...' if len(absent) > 5 else ''}): the text may use other names"
        )
    if first > FIRST_PERSON_BOOK and share < LEAST_NARRATOR:
        most = f"{narrator!r} has {share:.0%} of them" if narrator and share else "nobody has any of them"
        found.append(
            f"{first:.1%} of the words outside quotes are I, me or my, and {most}: the book may be told by "
            "one of its people who was not found"
        )
    # For each absent name the word of it that the text has most often in this spelling, if any
    counts, near = Counter(book.tokens), []
    for name in absent:
        found_words = [word for word in re.findall(r"[^\W\d_]+", name) if word[0].isupper() and len(word) > 3]
        if best := max(filter(counts.get, found_words), key=counts.__getitem__, default=""):
            near.append((name, best, counts[best]))
    # (name, place in the cast, share of the mentions), the most mentioned first, absent names last.
    places = {name: place for place, name in enumerate(cast, 1)}
    ranked = sorted(book.characters, key=lambda c: -len(c.mentions))
    annotated = {c.name for c in ranked}
    shares = (
        *((c.name, places.get(c.name, 0), round(len(c.mentions) / total, 4)) for c in ranked),
        *((name, places[name], 0.0) for name in absent if name not in annotated),
    )
    return Plausibility(
        cast=len(cast), absent=absent, near=tuple(near),
        shares=shares, first_person=first,
        first_person_linked=sum(said.values()) / max(1, len(mine)),
        narrator=narrator if of_narrator else "",
        pronouns=sum(words[at] in ALL_PRONOUNS for _, at in single) / total,
        warnings=tuple(found),
    )  # fmt: skip


def summary_line(figures: Mapping[str, Any]) -> str:
    """The figures of a book (`Plausibility.to_dict`) in one sentence for a person."""
    most = (row for row in figures["shares"][:_TOP] if row[2])
    top = ", ".join(f"{name} {share:.0%} (no. {place})" for name, place, share in most)
    said = f"{figures['first_person']:.1%} of the words outside quotes are I, me or my"
    if figures["narrator"]:
        said += f", {figures['first_person_linked']:.0%} of them linked, most to {figures['narrator']}"
    near = {name: f" (but {word!r} {times} times)" for name, word, times in figures["near"]}
    absent = [f"{name}{near.get(name, '')}" for name in figures["absent"]]
    missing = f"; without a mention: {', '.join(absent)}" if absent else ""
    return f"mentions (no. in the cast): {top or 'none'}; {figures['pronouns']:.0%} pronouns; {said}{missing}"
