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
from ...shapes import together
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

    `helpers` and `distractors` are -1 and -2 for a mention that is no pronoun, as published. `around` are the
    mentions that contain it or lie in it.
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
    around: tuple[int, ...]

    @property
    def net_distractors(self) -> int:
        return self.distractors - self.helpers


def score_mentions(document: Askable) -> list[MentionScores]:
    """The scores of every mention of a labelled entity, in the order of the text."""
    mentions, owners = document.mentions, document.owners
    texts = [document.book.text_of(m) for m in mentions]
    classes = [PRONOUN_CLASS.get(text.lower(), -1) for text in texts]
    around = overlapping(mentions)
    # The places of each entity: all, without pronouns, and those that show its phrase
    nominal = [i for i in range(len(mentions)) if document.categories[i] != "PRON"]
    phrases = [document.phrases[owner] or "" for owner in owners]
    surface = [i for i in nominal if phrases[i] and fuzzy_score(phrases[i], texts[i]) > SAME_SURFACE]
    kinds = [together((owners[i], i) for i in kind) for kind in (range(len(mentions)), nominal, surface)]
    scores = []
    for i, mention in enumerate(mentions):
        phrase = document.phrases[owners[i]]
        if phrase is None:
            continue
        pronoun = document.categories[i] == "PRON"
        away, nominal_away, surface_away = (_nearest(kind.get(owners[i], []), i) for kind in kinds)
        helpers, distractors = net_distractors(i, classes, owners) if pronoun else (-1, -2)
        scores.append(
            MentionScores(
                i, mention, document.categories[i], owners[i], texts[i],
                fuzzy_score(phrase, texts[i]), away, nominal_away, surface_away,
                classes[i] if pronoun else -1, helpers, distractors, tuple(around[i]),
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


def _nearest(places: Sequence[int], i: int) -> int:
    """The distance from `i` to the nearest other place; -1 if there is none."""
    at = bisect_left(places, i)
    return min((abs(place - i) for place in places[max(at - 1, 0) : at + 2] if place != i), default=-1)


def overlapping(mentions: Sequence[Mention]) -> list[list[int]]:
    """For each mention (sorted by start, then end) those that contain it or lie in it, edges included."""
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
