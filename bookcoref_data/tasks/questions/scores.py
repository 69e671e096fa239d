"""How hard a mention is: fuzzy score, net distractor score, distances (IdentifyMe, section 3).

All distances are in mention indices: positions in the mentions of a document sorted by start, then end.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ...books import Mention
from ...errors import needing
from .entities import Askable
from .phrases import PRONOUN_CLASS

WINDOW = 10
SAME_SURFACE = 75
"""A mention shows an entity's phrase when its fuzzy score is above this."""


@lru_cache(maxsize=200_000)
def fuzzy_score(phrase: str, mention: str) -> int:
    """`partial_token_sort_ratio` of thefuzz, 0 to 100, with its default processing.

    Every character that is no letter or digit becomes a space first; without that step 11% of the
    published scores differ. Raises MissingExtraError without the extra `tasks`.
    """
    with needing("tasks", "rapidfuzz", "the fuzzy score of a mention"):
        from rapidfuzz import fuzz, utils
    ratio = fuzz.partial_token_sort_ratio(phrase.lower(), mention.lower(), processor=utils.default_process)
    return round(ratio)


@dataclass(frozen=True, slots=True)
class MentionScores:
    """What decides how hard a labelled mention is. A distance of -1 means that there is no such mention.

    `helpers` and `distractors` are -1 and -2 for a mention that is no pronoun, as published.
    """

    index: int
    mention: Mention
    category: str
    entity: int
    text: str
    fuzzy: int
    neighbour: int
    nominal_neighbour: int
    surface_neighbour: int
    pronoun_class: int
    helpers: int
    distractors: int
    nested: bool

    @property
    def net_distractors(self) -> int:
        return self.distractors - self.helpers


def score_mentions(document: Askable) -> list[MentionScores]:
    """The scores of every mention of a labelled entity, in the order of the text."""
    mentions, owners = document.mentions, document.owners
    texts = [document.book.text_of(m) for m in mentions]
    classes = [PRONOUN_CLASS.get(text.lower(), -1) for text in texts]
    # Whether each mention contains another or lies in another; equal borders count
    nested = [bool(found) for found in overlapping(mentions)]
    places = _Places(document, texts)
    scores = []
    for i, mention in enumerate(mentions):
        phrase = document.phrases[owners[i]]
        if phrase is None:
            continue
        pronoun = document.categories[i] == "PRON"
        helpers, distractors = net_distractors(i, classes, owners) if pronoun else (-1, -2)
        scores.append(
            MentionScores(
                i, mention, document.categories[i], owners[i], texts[i],
                fuzzy_score(phrase, texts[i]), *places.nearest(i),
                classes[i] if pronoun else -1, helpers, distractors, nested[i],
            )
        )  # fmt: skip
    return scores


def net_distractors(i: int, classes: Sequence[int], owners: Sequence[int]) -> tuple[int, int]:
    """(helpers, distractors) of pronoun mention `i` among the ten mentions on either side.

    Helpers have its class and its entity, and include the mention itself; distractors share one of the
    two. A mention without a pronoun class is not looked at, whatever is asked about.
    """
    helpers = distractors = 0
    for j in range(max(0, i - WINDOW), min(len(classes), i + WINDOW + 1)):
        if classes[j] < 0:
            continue
        same_class, same_entity = classes[j] == classes[i], owners[j] == owners[i]
        helpers += same_class and same_entity
        distractors += same_class != same_entity
    return helpers, distractors


class _Places:
    """Mention indices of each entity: all, without pronouns, and those that show its phrase."""

    def __init__(self, document: Askable, texts: Sequence[str]) -> None:
        size = len(document.phrases)
        self.owners = document.owners
        self.kinds: tuple[list[list[int]], ...] = tuple([[] for _ in range(size)] for _ in range(3))
        for i, owner in enumerate(document.owners):
            self.kinds[0][owner].append(i)
            phrase = document.phrases[owner]
            if document.categories[i] == "PRON":
                continue
            self.kinds[1][owner].append(i)
            if phrase is not None and fuzzy_score(phrase, texts[i]) > SAME_SURFACE:
                self.kinds[2][owner].append(i)

    def nearest(self, i: int) -> tuple[int, int, int]:
        """Of each kind the distance from `i` to the nearest other place; -1 if there is none."""
        found = []
        for kind in self.kinds:
            places = kind[self.owners[i]]
            at = bisect_left(places, i)
            around = places[max(at - 1, 0) : at + 2]
            found.append(min((abs(place - i) for place in around if place != i), default=-1))
        any_, nominal, surface = found
        return any_, nominal, surface


def overlapping(mentions: Sequence[Mention]) -> list[list[int]]:
    """For each mention (sorted by start, then end) the others that contain it or lie in it."""
    found: list[list[int]] = [[] for _ in mentions]
    open_: list[int] = []
    for i, mention in enumerate(mentions):
        open_ = [j for j in open_ if mentions[j].end >= mention.start]
        for j in open_:
            inside = mention.end <= mentions[j].end
            if inside or mentions[j].start == mention.start:
                found[i].append(j)
                found[j].append(i)
        open_.append(i)
    return found


class SpokenOf:
    """How often the words of a nominal stand in a book, and how often for each entity.

    A book says "the prisoner" of many people, and silver gives some of these to whom it knows.
    """

    def __init__(self, document: Askable) -> None:
        self._tokens = document.book.tokens
        self._text = f" {' '.join(self._tokens)} ".casefold()
        texts = (document.book.text_of(m).casefold() for m in document.mentions)
        self._given = Counter(zip(texts, document.owners, strict=True))

    def are_of_others(self, said: MentionScores, *, quoted: bool) -> bool:
        """Whether the words of a nominal stand for its entity in less than half of their places. Somebody who
        is spoken to, between marks, may be called what many are: "Yes, sir."."""
        start, end = said.mention
        around = (self._tokens[start - 1], *self._tokens[end + 1 : end + 2])
        if said.category != "NOM" or (quoted and not any(any(map(str.isalnum, t)) for t in around)):
            return False
        words = said.text.casefold()
        return 2 * self._given[words, said.entity] < self._text.count(f" {words} ")
