"""Name, nominal or pronoun: the type of a mention, decided from its tokens by fixed rules.

No parser is used, so that results do not depend on a model. The rules, in order:

1. *pronoun*: every word is a personal, possessive, reflexive, demonstrative or relative pronoun
   ("somebody" and its like are nominal, as in LitBank).
2. The *head* is the last word before the first word that starts a modifier after the noun (a preposition,
   a relative pronoun, a comma, "named", ...); a closing "'s" or punctuation is not a head. So "Jones" in
   "Mr. Jones , of the Manor Farm", "sister" in "Mr. Bingley 's sister".
3. *name*: the head is capitalised, is not a bare title ("Sir", "Miss"), and either belongs to the name
   of a character or is used in this book as a name: inside sentences it stands with a capital at least
   as often as the same word stands in lower case anywhere.
4. *nominal*: everything else.

Agreement with LitBank's PROP / NOM / PRON labels is measured by the tests; see docs/evaluation.md.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from ..books.annotation import Annotation
from ..words import long_lists, word_set
from ..words.honorifics import HONORIFICS
from ..words.pronouns import ALL_PRONOUNS

TYPES = ("name", "nominal", "pronoun")


_AFTER_HEAD = word_set(long_lists()["AFTER_HEAD"])

_NO_HEAD = word_set("""'s ’s ' ’ . , ; : ! ? " ” “ ) ] - — _""") | {"\n", ""}

_OPENING = word_set("""" “ ‘ ' ( [ — -- - _ ``""") | {"\n"}


class TypeRules:
    """The rules applied to one book: `tokens`, exclusive sentence ends, names of its characters."""

    def __init__(
        self, tokens: Sequence[str], sentence_ends: Iterable[int] = (), names: Iterable[str] = ()
    ) -> None:
        self._tokens = tokens
        self._known = {w for name in names for w in name.replace(".", " ").split() if w[:1].isupper()}
        self._known -= {word for word in self._known if word.lower().rstrip(".") in HONORIFICS}
        self._lower = Counter(token for token in tokens if token.islower())
        self._capital = Counter(tokens)
        # The first word of every sentence, after opening quotes and line ends; also after an opening quote
        openers = set()
        for start, end in pairwise((0, *sentence_ends)):
            i = start
            while i < end - 1 and tokens[i] in _OPENING:
                i += 1
            openers.add(i)
        openers.update(i + 1 for i, token in enumerate(tokens[:-1]) if token in ("“", "``", '"'))
        self._capital.subtract(tokens[i] for i in openers)

    @classmethod
    def of(cls, annotation: Annotation) -> "TypeRules":
        """Those of an annotated book; names that were guessed are not taken for names."""
        names = [name for i, name in enumerate(annotation.names) if i not in annotation.guessed]
        return cls(annotation.book.tokens, annotation.book.sentence_ends, names)

    def type_of(self, start: int, end: int) -> str:
        """ "name", "nominal" or "pronoun"; mentions outside the text are "nominal"."""
        words = self._tokens[max(start, 0) : end + 1]
        if words and all(word.lower() in ALL_PRONOUNS for word in words):
            return "pronoun"
        head = head_of(self._tokens, start, end)
        return "name" if head is not None and self.is_name(self._tokens[head]) else "nominal"

    def is_name(self, word: str) -> bool:
        """Whether a word is used as a name in this book."""
        lower = word.lower()
        if not word[:1].isupper() or lower.rstrip(".") in HONORIFICS or lower in ALL_PRONOUNS:
            return False
        return word in self._known or self._lower[lower] <= self._capital[word]


def head_of(tokens: Sequence[str], start: int, end: int) -> int | None:
    """Offset of the head word of a mention by rule 2, None when it has no word inside the text."""
    start, end = max(start, 0), min(end, len(tokens) - 1)
    last = end
    for i in range(start + 1, end + 1):
        if tokens[i].lower() in _AFTER_HEAD and any(t not in _NO_HEAD for t in tokens[start:i]):
            last = i - 1
            break
    while last > start and tokens[last] in _NO_HEAD:
        last -= 1
    return last if start <= last and tokens[last] not in _NO_HEAD else None
