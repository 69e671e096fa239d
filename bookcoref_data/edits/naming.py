"""Which of the known characters a typed name may mean: in other case or accents, by another name or a part of
one, with one slip of the fingers. The page's `fitting` (6-names.js) follows the same rules."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from ..words import fold

_LEAST_LETTERS = 4
"""Of shorter words one letter is too much: "Tom" and "Tim" are two people."""

CONFIRM = ' Write that name, or add "confirmed": true'
MAKE = '; an edit "new" before this one makes a person'


def offered(names: Iterable[str]) -> str:
    """Who may be meant, as the end of a message: "; is it Anna Grey or Anna Hill?"; "" for nobody."""
    found = list(names)
    more = f" or {len(found) - 5} others" if len(found) > 5 else ""
    return f"; is it {' or '.join(found[:5])}{more}?" if found else ""


class Callings:
    """What characters are called; people are numbers that the caller chooses. Who is `joined` to another is
    that one by every name."""

    def __init__(self) -> None:
        self.joined: dict[int, int] = {}
        self._names: dict[str, set[int]] = defaultdict(set)
        self._aliases: dict[str, set[int]] = defaultdict(set)
        self._by_word: dict[str, set[int]] = defaultdict(set)
        self._slips: dict[str, set[str]] = defaultdict(set)

    def add(self, person: int, name: str, aliases: Iterable[str] = ()) -> None:
        """Take up a person, or more of what a person is called."""
        self._names[fold(name)].add(person)
        for alias in aliases:
            self._aliases[fold(alias)].add(person)
        for word in {w for text in (name, *aliases) for w in fold(text).split()}:
            self._by_word[word].add(person)
            for less in _shortened(word):
                self._slips[less].add(word)

    def final(self, person: int) -> int:
        """Who a person is now."""
        while person in self.joined:
            person = self.joined[person]
        return person

    def called(self, typed: str) -> set[int]:
        """Who has just this name, or else this other name; case, accents and punctuation aside."""
        plain = fold(typed)
        found = self._names.get(plain) or self._aliases.get(plain) if plain else None
        return set(map(self.final, found or ()))

    def offered(self, typed: str, names: Sequence[str], but: int = -1) -> str:
        """Who of `names`, in the order of people, may be meant, as the end of a message; "" for nobody."""
        return offered([names[i] for i in sorted(self.fitting(typed) - {but})])

    def fitting(self, typed: str) -> set[int]:
        """Whom a name may mean: who is called so, else has all these words in a name, else all but one and
        one that a slip of a letter makes of it."""
        words = fold(typed).split()
        having = [self._by_word.get(word, set()) for word in words]
        if not words:
            return set()
        if found := self.called(typed) or _all_of(having):
            return set(map(self.final, found))
        found = set()
        for k, word in enumerate(words):
            rest = [*having[:k], *having[k + 1 :]]
            if all(rest) and len(word) >= _LEAST_LETTERS:
                near = {known for less in _shortened(word) for known in self._slips.get(less, ())}
                meant = (w for w in near if len(w) >= _LEAST_LETTERS and _one_slip(word, w))
                found |= _all_of([set().union(*(self._by_word[w] for w in meant)), *rest])
        return set(map(self.final, found))


def _all_of(groups: list[set[int]]) -> set[int]:
    return set.intersection(*sorted(groups, key=len))


def _shortened(word: str) -> set[str]:
    """The word, and what is left of it without one letter."""
    return {word, *(word[:i] + word[i + 1 :] for i in range(len(word) if len(word) <= 40 else 0))}


def _one_slip(a: str, b: str) -> bool:
    if len(a) > len(b):
        a, b = b, a
    k = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), len(a))
    if len(a) < len(b):
        return a[k:] == b[k + 1 :]
    swapped = a[:k] + a[k : k + 2][::-1] + a[k + 2 :]
    return a[k + 1 :] == b[k + 1 :] or swapped == b
