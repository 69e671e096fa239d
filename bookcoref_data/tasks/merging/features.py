"""What a chain of a part and an earlier document chain have in common, as numbers.

The features are general: words, pronouns, sizes, places. None depends on a genre or a word list of names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import log1p

import numpy as np

from ...books import Mention
from ...evaluate.mention_types import TypeRules, head_of
from ...words.honorifics import HONORIFICS, honorific_gender
from ...words.pronouns import FEMALE, FIRST, FIRST_PLURAL, MALE, NEUTER, PLURAL, SECOND
from .parts import SplitDocument

_CLASSES = (MALE, FEMALE, NEUTER, PLURAL | FIRST_PLURAL, FIRST, SECOND)
_FIRST_KINDS = ("indefinite", "definite", "possessive", "name", "pronoun", "bare")
_DETERMINERS = frozenset({"the", "a", "an", "this", "that", "these", "those", "such", "some", "any", "no"})
_INDEFINITE = frozenset({"a", "an", "some", "another", "any", "no", "one", "two", "three"})
_POSSESSIVE = frozenset({"his", "her", "their", "my", "your", "our", "its", "thy"})
_MALE_NOUNS = frozenset(
    [
        "man",
        "boy",
        "husband",
        "father",
        "brother",
        "son",
        "uncle",
        "king",
        "prince",
        "lord",
        "gentleman",
        "fellow",
    ]
)
_FEMALE_NOUNS = frozenset(
    ["woman", "girl", "wife", "mother", "sister", "daughter", "aunt", "queen", "princess", "lady", "maiden"]
)


@dataclass(slots=True)
class Profile:
    """What the mentions of a chain say. `genders` counts pronouns and nouns of the classes he, she, it,
    they, I, you; `strings` and `names` count noun phrases and names in lower case without determiners,
    `full` those as they stand; `modifiers` are the other words of noun phrases by head.
    """

    size: int = 0
    nouns: int = 0
    genders: list[float] = field(default_factory=lambda: [0.0] * 6)
    strings: Counter[str] = field(default_factory=Counter)
    full: Counter[str] = field(default_factory=Counter)
    names: Counter[str] = field(default_factory=Counter)
    name_words: set[str] = field(default_factory=set)
    heads: Counter[str] = field(default_factory=Counter)
    modifiers: dict[str, list[frozenset[str]]] = field(default_factory=dict)
    first: int = 0
    first_kind: str = ""
    last: int = -1

    def add(self, other: Profile) -> None:
        """Join the facts of a later chain of the same entity."""
        self.size += other.size
        self.nouns += other.nouns
        self.genders = [a + b for a, b in zip(self.genders, other.genders, strict=True)]
        for name in ("strings", "full", "names", "heads"):
            getattr(self, name).update(getattr(other, name))
        self.name_words |= other.name_words
        for head, sets in other.modifiers.items():
            self.modifiers.setdefault(head, []).extend(sets)
        self.last = max(self.last, other.last)

    @property
    def pronouns_only(self) -> bool:
        return not self.nouns


def profile_of(document: SplitDocument, rules: TypeRules, mentions: Sequence[Mention]) -> Profile:
    """The profile of one chain."""
    made = Profile(size=len(mentions), first=mentions[0].start, last=mentions[-1].start)
    for number, mention in enumerate(mentions):
        words = [t.lower() for t in document.tokens[mention.start : mention.end + 1] if t != "\n"]
        kind = rules.type_of(mention.start, mention.end)
        if number == 0:
            made.first_kind = _first_kind(kind, words)
        if kind == "pronoun":
            for i, class_ in enumerate(_CLASSES):
                made.genders[i] += words[0] in class_
            continue
        made.nouns += 1
        _add_noun(made, document, mention, words, kind == "name")
    return made


def _first_kind(kind: str, words: Sequence[str]) -> str:
    if kind != "nominal" or not words:
        return kind
    if words[0] in _INDEFINITE:
        return "indefinite"
    return "possessive" if words[0] in _POSSESSIVE else "definite" if words[0] in _DETERMINERS else "bare"


def _add_noun(
    made: Profile, document: SplitDocument, mention: Mention, words: list[str], is_name: bool
) -> None:
    bare = words[1:] if words[0] in _DETERMINERS and len(words) > 1 else words
    made.full[" ".join(words)] += 1
    made.strings[" ".join(bare)] += 1
    at = head_of(document.tokens, mention.start, mention.end)
    head = document.tokens[at].lower() if at is not None else bare[-1]
    made.heads[head] += 1
    made.modifiers.setdefault(head, []).append(frozenset(bare) - {head})
    if is_name:
        made.names[" ".join(bare)] += 1
        made.name_words |= {w for w in bare if w.isalpha() and w not in HONORIFICS and len(w) > 1}
    for word in {head, *(w.rstrip(".") for w in bare[:1])}:
        gender = honorific_gender(word)
        made.genders[0] += gender == "m" or word in _MALE_NOUNS
        made.genders[1] += gender == "f" or word in _FEMALE_NOUNS


def gender_of(profile: Profile) -> str:
    """ "m", "f", "n" or "p" when the pronouns and nouns of a chain agree, else ""."""
    counts = profile.genders[:4]
    best = max(range(4), key=lambda i: counts[i])
    return "mfnp"[best] if counts[best] > 0.7 * sum(counts) > 0 else ""


PAIR_NAMES = (
    "full string", "string", "share of c's strings", "share of d's strings", "same commonest string", "head",
    "same commonest head", "name", "name words", "name clash", "modifiers agree", "modifiers clash",
    "gender same", "gender clash", "both I", "both you", "pronouns only", "d pronouns only",
    "pronouns only, recent rank", "pronouns only, size rank", "log size c", "log size d", "log distance",
    "in last part", "share of last part", "size rank", "recent rank", "rivals by string", "rivals by head",
    "c indefinite", "c definite", "c possessive", "c name", "c pronoun first", "c bare", "c single",
    "string unique", "head unique", "long head", "word overlap", "same gender rivals", "head and definite",
    "string and indefinite", "string of several words",
)  # fmt: skip
NEW_NAMES = (
    "size", "single", "pronouns only", "name", "indefinite", "definite", "possessive", "bare",
    "pronoun first", "any string", "any head", "any name", "chains", "gender known",
    "same gender chains", "I", "you", "part",
)  # fmt: skip


class ChainCandidates:
    """The document chains that the chains of one part may join, with features of every pair."""

    def __init__(self, profiles: Sequence[Profile], last_part_start: int) -> None:
        self.profiles = list(profiles)
        self._last_part_start = last_part_start
        self._genders = [gender_of(p) for p in profiles]
        self._recent = _ranks([-p.last for p in profiles])
        self._large = _ranks([-p.size for p in profiles])
        self._with_string = Counter(s for p in profiles for s in p.strings)
        self._with_head = Counter(h for p in profiles for h in p.heads)

    def new_features(self, c: Profile, part: int) -> list[float]:
        """Features of the chain itself, which decide about New."""
        gender = gender_of(c)
        return [
            log1p(c.size), float(c.size == 1), float(c.pronouns_only), float(bool(c.names)),
            *(float(c.first_kind == k) for k in ("indefinite", "definite", "possessive", "bare", "pronoun")),
            float(any(s in self._with_string for s in c.strings)),
            float(any(h in self._with_head for h in c.heads)),
            float(any(c.name_words & p.name_words for p in self.profiles)), log1p(len(self.profiles)),
            float(bool(gender)), log1p(sum(g == gender for g in self._genders) if gender else 0),
            c.genders[4] / c.size, c.genders[5] / c.size, log1p(part),
        ]  # fmt: skip

    def pair_features(self, c: Profile) -> np.ndarray:
        """One row per document chain, see `PAIR_NAMES`."""
        mine = gender_of(c)
        rivals = sum(g == mine for g in self._genders) if mine else len(self.profiles)
        recent_like = _ranks_among([-p.last for p in self.profiles], [_like(mine, g) for g in self._genders])
        large_like = _ranks_among([-p.size for p in self.profiles], [_like(mine, g) for g in self._genders])
        rows = [
            self._row(c, i, mine, rivals, recent_like[i], large_like[i]) for i in range(len(self.profiles))
        ]
        return np.array(rows, dtype=np.float32).reshape(len(rows), len(PAIR_NAMES))

    def _row(
        self, c: Profile, i: int, mine: str, rivals: int, recent_like: float, large_like: float
    ) -> list[float]:
        d = self.profiles[i]
        strings, heads = set(c.strings) & set(d.strings), set(c.heads) & set(d.heads)
        agree, clash = _modifiers(c, d, heads)
        theirs = self._genders[i]
        distance = max(c.first - d.last, 0)
        only = float(c.pronouns_only)
        names = c.name_words & d.name_words
        least_string = min((self._with_string[s] for s in strings), default=0)
        least_head = min((self._with_head[h] for h in heads), default=0)
        words = [{w for s in p.strings for w in s.split()} for p in (c, d)]
        return [
            float(bool(set(c.full) & set(d.full))), float(bool(strings)), _share(c.strings, strings),
            _share(d.strings, strings), _same_top(c.strings, d.strings), float(bool(heads)),
            _same_top(c.heads, d.heads), float(bool(set(c.names) & set(d.names))), float(bool(names)),
            float(bool(c.name_words and d.name_words and not names)), agree, clash,
            float(bool(mine) and mine == theirs), float(bool(mine and theirs) and mine != theirs),
            min(c.genders[4], d.genders[4], 3) / 3, min(c.genders[5], d.genders[5], 3) / 3, only,
            float(d.pronouns_only), only * recent_like, only * large_like, log1p(c.size), log1p(d.size),
            log1p(distance) / 5, float(d.last >= self._last_part_start), self._share_of_last(d),
            self._large[i], self._recent[i], log1p(least_string), log1p(least_head),
            *(float(c.first_kind == k) for k in _FIRST_KINDS),
            float(c.size == 1), float(least_string == 1), float(least_head == 1),
            float(bool(heads) and max((len(h) for h in heads), default=0) > 6),
            len(words[0] & words[1]) / max(1, min(len(words[0]), len(words[1]))), log1p(rivals),
            float(bool(heads) and c.first_kind == "definite"),
            float(bool(strings) and c.first_kind == "indefinite"),
            float(any(" " in s for s in strings)),
        ]  # fmt: skip

    def _share_of_last(self, d: Profile) -> float:
        return 1 / (1 + log1p(max(self._last_part_start - d.last, 0)))


def _modifiers(c: Profile, d: Profile, heads: Iterable[str]) -> tuple[float, float]:
    """Whether noun phrases with the same head share a modifier, or both have some and share none."""
    agree = clash = False
    for head in heads:
        mine, theirs = (frozenset().union(*p.modifiers[head]) for p in (c, d))
        agree |= bool(mine & theirs)
        clash |= bool(mine and theirs and not mine & theirs)
    return float(agree), float(clash and not agree)


def _share(counts: Counter[str], shared: set[str]) -> float:
    total = sum(counts.values())
    return sum(counts[s] for s in shared) / total if total else 0.0


def _same_top(one: Counter[str], other: Counter[str]) -> float:
    return float(bool(one and other) and one.most_common(1)[0][0] == other.most_common(1)[0][0])


def _like(one: str, other: str) -> bool:
    return not one or not other or one == other


def _ranks(values: Sequence[float]) -> list[float]:
    """1 / (1 + rank) of each value, the smallest first."""
    return _ranks_among(values, [True] * len(values))


def _ranks_among(values: Sequence[float], allowed: Sequence[bool]) -> list[float]:
    order = sorted((v, i) for i, v in enumerate(values) if allowed[i])
    ranks = [0.0] * len(values)
    for rank, (_, i) in enumerate(order):
        ranks[i] = 1 / (1 + rank)
    return ranks
