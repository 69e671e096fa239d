"""What each person was called so far (by which nouns and phrases, how often, and when last), and what a book
says that people with a name are: "Mr. Hill, the surgeon", "Mr. Hill was a surgeon"."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import log1p

import numpy as np

from ...books import Book
from ...words import word_set
from . import lexicon as lex
from .markables import Markable
from .parsing import Parse

FEATURES = ("noun of", "phrase of", "since so called", "last so called")
"""How often a candidate was called by the noun of the place, and by the whole phrase without its determiner
("old lady", "man with the beard"); tokens since the last time; and whether the noun was last used of the
candidate."""
_FAR = 10_000
_DETERMINERS = word_set("the a an this that these those my your his her its our their thy")


class NounPhrases:
    """The noun phrases that were read so far, by whom they meant (entities)."""

    def __init__(self) -> None:
        self._counts: dict[str, dict[int, int]] = defaultdict(dict)
        self._phrases: dict[str, dict[int, int]] = defaultdict(dict)
        self._last: dict[str, dict[int, int]] = defaultdict(dict)

    def note(self, m: Markable, e: int) -> None:
        """The phrase `m` meant entity `e`."""
        for key, counts in ((m.noun, self._counts), (phrase_of(m), self._phrases)):
            counts[key][e] = counts[key].get(e, 0) + 1
        # The newest comes last.
        self._last[m.noun].pop(e, None)
        self._last[m.noun][e] = m.at

    def called(self, noun: str) -> Mapping[int, int]:
        """How often a noun meant each entity."""
        return self._counts.get(noun, {})

    def called_all(self, m: Markable) -> Mapping[int, int]:
        """How often the whole phrase meant each entity."""
        return self._phrases.get(phrase_of(m), {})

    def nouns_of(self, e: int) -> list[str]:
        """The nouns that meant an entity, in order of the alphabet."""
        return sorted(noun for noun, read in self._counts.items() if e in read)

    def features(self, ids: Sequence[int], m: Markable) -> np.ndarray:
        """What earlier phrases say of the candidates. Shape (candidates, FEATURES)."""
        counts, last = self.called(m.noun), self._last.get(m.noun, {})
        phrases = self.called_all(m)
        newest = next(reversed(last)) if last else -1
        rows = [
            (
                log1p(counts.get(e, 0)),
                log1p(phrases.get(e, 0)),
                log1p(min(max(m.at - last.get(e, -_FAR), 0), _FAR)),
                float(e == newest),
            )
            for e in ids
        ]
        return np.array(rows, dtype=np.float32).reshape(len(ids), len(FEATURES))

    def of_noun(self, noun: str) -> tuple[dict[int, int], ...]:
        """All that is known of a noun without adjectives, for `take_back`."""
        return tuple(dict(known.get(noun, {})) for known in (self._counts, self._phrases, self._last))

    def take_back(self, noun: str, known: Sequence[dict[int, int]]) -> None:
        """Know of a noun what was known of it before."""
        for now, before in zip((self._counts, self._phrases, self._last), known, strict=True):
            now[noun] = before


def phrase_of(m: Markable) -> str:
    """A noun phrase without its determiner, and with the words that tell one such person from others."""
    return " ".join(word for word in (*m.text.split(), m.which) if word and word not in _DETERMINERS)


def living(noun: str) -> str:
    """A noun as livings are compared: a doctor may be called the surgeon, too."""
    return lex.LIVING.get(noun, noun)


def find_callings(
    book: Book, parse: Parse, names: Iterable[tuple[int, int, int]]
) -> defaultdict[int, set[str]]:
    """Character -> the nouns (as `living` has them) that apposition or "is" ties to their names.

    `names` are (first token, last token, character).
    """
    who = {i: character for start, end, character in names for i in range(start, end + 1)}
    subject = {int(parse.head[i]): who[i] for i in who if parse.dep[i] in ("nsubj", "nsubjpass")}
    found: defaultdict[int, set[str]] = defaultdict(set)
    for i, dep in enumerate(parse.dep):
        if dep not in ("appos", "attr"):
            continue
        up = int(parse.head[i])
        if dep == "appos" and i in who:
            noun, character = up, who[i]
        else:
            noun, character = i, (who if dep == "appos" else subject).get(up, -1)
        if character >= 0 and noun not in who and parse.tag[noun] == "NN":
            found[character].add(living(book.tokens[noun].lower()))
    return found
