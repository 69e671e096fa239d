"""Questions to a person, those first whose answers are expected to repair most.

What a question is worth is its chance of being wrong times what hangs on it. On the speaker of a
turn hang the other quotes of the turn, "I" and "you" inside, and the turns around it: speakers take turns,
so one wrong turn makes the next ones wrong. On a pronoun hang the pronouns after it until somebody is named.
On a name hang all places with the same words. Questions with several people to choose from follow Li et al.
(ACL 2020, discrete annotation).
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from operator import itemgetter

from ..books.annotation import Annotation, Marked
from ..edits.naming import Callings
from ..shapes import together
from ..words import fold, honorifics, pronouns, word_set

Span = tuple[int, int]
Key = tuple[object, ...]
KINDS = ("speaker", "pronoun", "phrase", "name", "words", "same person")
OUTSIDERS: Key = ("outsider", "")
"""The sign of all names that nobody has."""
OFFERS_NO_PEOPLE = ("words", "same person")
"""Kinds whose two answers are no people of the cast."""
MOST_PEOPLE = 5
"""People who are offered in a question."""
_GAP = 250
"""Tokens after which a conversation is over."""
_SAME_TURN = 40
"""Tokens of narration inside one turn, at most."""
_SPREAD, _ONWARD, _SURE = 0.8, 0.4, 0.95
"""What of an error goes over to the next turn, to the next pronoun, and the score from which one stands for
itself. For pronouns 0, 0.4 and 0.8 were tried on LitBank's development part: 78.8, 79.4, 79.0 CoNLL after 20
answers."""
_REACHES = 0.5
"""The power of what hangs on one place in the worth of a question. Of 1 and 0.5, speakers after 100 answers:
The Gambler 98.0, 99.0; Where Angels Fear to Tread 91.3, 92.1; CoNLL of LitBank after 20: 82.9, 83.3."""
_REACH, _AHEAD = 300, 60
"""Tokens before and behind a place in which people are looked for."""
_DOUBTED_NAME, _DOUBTED_PAIR = 0.1, 0.3
"""Chance that a name that fits several people is another's, and that two with names that fit are one."""
OUTSIDER = 0.07, 0.23
"""Chance that somebody who is not listed is one who is, if he is named once, and if several times: 13 of 188
and 16 of 69 in six novels of PDNC and 38 documents of LitBank; with aliases listed 2 of 92 and 2 of 36."""
_DOUBTED_GROUP, _DOUBTED_STRESS = 0.3, 0.5
"""Chance that a noun or a "they" that nobody has is a group's, that "himself" behind a name is no mention."""
_OF_PHRASE, _LEAST_PHRASE, _LEAST_PRONOUN, _SCENE = 0.5, 0.05, 0.1, 2000
"""What a phrase that nobody has counts of its chance; the least chance of one, and of a pronoun (of those
that seem to be surely nobody's in LitBank one in eight is not); tokens in which a phrase is asked once."""
_BEHIND = 60
"""Tokens behind the noun of a group in which "they" may be the group."""
_SEVERAL = word_set("sheep people men women children folk police mice geese oxen deer cattle")
"""Nouns for several without an s at the end."""
_CERTAIN = 0.95
"""Most that a chance is raised to by the answers before."""
_NAMED_LEADS = 2
"""Decisions that go with a name, itself among them: pronouns and speakers are read from names."""
_FOLLOWS = ("same paragraph", "speech goes on")
_TAG, _BY_TAG = 5, ("said by pronoun", "said by noun")
"""Tokens from a quote to the pronoun or noun that says who speaks it, at most; the rules of such quotes."""


@dataclass(frozen=True, slots=True)
class ReviewQuestion:
    """One decision for a person: who speaks or is meant at tokens `start` to `end`, whether two are one, or
    which of two `people` are the words of a name.

    `now` is the answer of the annotation (None: nobody), `people` at most five who may be the right one,
    `chance` the probability that `now` is wrong, `hangs` the decisions that change with it. `places` are all
    mentions that one answer settles, where it is more than one. `since` is the token from which a reader
    needs the text: the likely people are named from there on (-1: they are not named before). With `stress`
    the words are "himself" behind a name, and asked is whether they are a mention of their own. `cast` is all
    who could be the answer.
    """

    kind: str
    start: int
    end: int
    now: str | None
    people: tuple[str, ...]
    chance: float
    hangs: float
    places: tuple[Span, ...] = ()
    since: int = -1
    stress: bool = False
    cast: tuple[str, ...] = ()

    @property
    def worth(self) -> float:
        """What an answer is expected to repair. How far an error of one place reaches is a guess, so that its
        root counts; the places of a name or a group are known."""
        one_place = self.now is not None and self.kind not in ("name", *OFFERS_NO_PEOPLE)
        return self.chance * (self.hangs**_REACHES if one_place else self.hangs)

    @property
    def key(self) -> Key:
        """What is decided; see `answers.settled`."""
        if self.kind == "same person":
            return pair_key(*self.people)
        if self.kind == "words":
            return "words", self.people[0]
        return ("quote" if self.kind == "speaker" else "mention", self.start, self.end)


def pair_key(one: str, other: str) -> Key:
    """What the question is about whether two people are one."""
    return "pair", min(one, other), max(one, other)


def signs(what: str, now: str, words: str) -> tuple[Key, ...]:
    """What is like a decision that somebody speaks or is meant: others of the same person; of mentions, those
    with the same words."""
    return ((what, now),) if what == "quote" else ((what, now), (what, now, words.lower()))


def likely_right(annotation: Annotation) -> float:
    """The share of mentions and speakers that is right by their probabilities; 1.0 where there are none."""
    scores = [m.score for m in annotation.mentions] + [q.score for q in annotation.quotes if q.rule]
    return sum(scores) / len(scores) if scores else 1.0


def speakers_of(a: Annotation) -> dict[Key, str]:
    """Who speaks each quote ("": nobody who is known), by the key of its question."""
    return {("quote", q.start, q.end): (*a.names, "")[q.speaker] for q in a.quotes}


def doubted(a: Annotation, drawn: Sequence[tuple[Mapping[Key, str], Mapping[Key, str]]]) -> dict[Key, float]:
    """The share of other readings that have a speaker of `a` otherwise.

    `drawn` are the `speakers_of` a reading and of another of the same time: the other has no say where that
    reading was otherwise than `a` is now, since answers changed it.
    """
    found: dict[Key, float] = {}
    for key, who in speakers_of(a).items():
        otherwise = [theirs.get(key) != who for mine, theirs in drawn if mine.get(key) == who]
        if otherwise:
            found[key] = sum(otherwise) / len(otherwise)
    return found


def make_queue(
    annotation: Annotation,
    settled: Collection[Key] = (),
    first: Collection[Key] = (),
    taught: Mapping[Key, float] | None = None,
    doubts: Mapping[Key, float] | None = None,
    nobodys: Sequence[Marked] = (),
    *,
    most: int = 25,
    about: Iterable[str] = KINDS,
) -> list[ReviewQuestion]:
    """The best questions to ask next, at most `most`, one for each thing that can be decided.

    `settled` was decided before, `first` is asked before all else, `taught` is what the answers before teach
    about the rest (`answers.taught`), `doubts` how often other readings differ (`doubted`), `nobodys` are
    places without a person (`EmbeddedBackend.nobodys`). Of questions whose answers reach each other, the
    later ones count for less: the next reading may answer them. Those of one scene follow the text.
    """
    book = Asking(annotation, nobodys)
    found = [q for q in book.questions(about) if q.key not in settled and (q.chance > 0 or q.key in first)]
    known = [book.as_known(q, taught or {}, doubts or {}) for q in found]
    return [book.with_people(q) for q in _by_scene(_by_worth(known, most, first), first)]


def _by_worth(found: list[ReviewQuestion], most: int, first: Collection[Key]) -> list[ReviewQuestion]:
    """The questions of most worth; one near another that is asked already counts for less."""
    worth = [q.worth + 1e9 * (q.key in first) for q in found]
    chosen: list[ReviewQuestion] = []
    for _ in range(min(most, len(found))):
        k = max(range(len(found)), key=worth.__getitem__)
        chosen.append(found[k])
        worth[k] = -1.0
        if found[k].kind in ("speaker", "pronoun"):
            for i, q in enumerate(found):
                away = abs(q.start - found[k].start)
                if q.kind == found[k].kind and away < _GAP:
                    worth[i] *= 1 - _SPREAD * (1 - away / _GAP)
        elif found[k].now is None and found[k].kind == "name":
            # Most are nobody, and the first answers say whether that holds for the rest (`answers.taught`).
            for i, q in enumerate(found):
                worth[i] /= 1 + found[k].chance * (q.now is None and q.kind == "name")
    return chosen


def _by_scene(chosen: Iterable[ReviewQuestion], first: Collection[Key]) -> list[ReviewQuestion]:
    """The same questions: those near each other follow the text, where the first of them stood."""
    scenes: list[list[ReviewQuestion]] = []
    for q in chosen:
        near = (s for s in scenes if abs(s[0].start - q.start) < _GAP)
        scene = next((s for s in near if (s[0].key in first) == (q.key in first)), None)
        if scene is None:
            scenes.append(scene := [])
        scene.append(q)
    return [q for scene in scenes for q in sorted(scene, key=lambda q: q.start)]


@dataclass
class Asking:
    """An annotation as its questions need it; `nobodys` as in `make_queue`."""

    a: Annotation
    nobodys: Sequence[Marked] = ()

    @cached_property
    def turns(self) -> list[list[int]]:
        """The quotes of each turn."""
        found = [[0]] if self.a.quotes else []
        for k, (last, q) in enumerate(pairwise(self.a.quotes), 1):
            joined = q.speaker == last.speaker and q.start - last.end <= _SAME_TURN
            if not (joined and (q.rule in _FOLLOWS or last.rule in _FOLLOWS)):
                found.append([])
            found[-1].append(k)
        return found

    def inside(self, start: int, end: int) -> Sequence[Marked]:
        """The mentions that begin at tokens `start` to `end`, both inclusive."""
        first, behind = (bisect_left(self.a.mentions, at, key=itemgetter(0)) for at in (start, end + 1))
        return self.a.mentions[first:behind]

    def questions(self, about: Iterable[str] = KINDS) -> Iterator[ReviewQuestion]:
        """All that can be asked, without the people who are offered."""
        kinds = frozenset(about)
        tags: set[Span] = set()
        if "speaker" in kinds:
            for n in range(len(self.turns)):
                question = self._of_turn(n)
                tags.update(question.places)
                yield question
        if kinds & {"pronoun", "phrase"}:
            yield from (q for q in self._of_mentions(kinds) if (q.start, q.end) not in tags)
        yield from self._of_nobody(kinds)
        rules = ("name", self._of_names), ("words", self._of_words), ("words", self._of_stress)
        for kind, rule in (*rules, ("same person", self._of_pairs)):
            yield from rule() if kind in kinds else ()

    # --- who speaks

    def _of_turn(self, n: int) -> ReviewQuestion:
        quotes = [self.a.quotes[k] for k in self.turns[n]]
        asked = next((q for q in quotes if q.rule not in _FOLLOWS), quotes[0])
        rules = [m.rule for q in quotes for m in self.inside(q.start, q.end)]
        hangs = float(len(quotes)) + rules.count("speaker of the quote") + rules.count("ranker: you")
        hangs += self._around(n, -1) + self._around(n, 1)
        name = self.a.names[asked.speaker] if asked.speaker >= 0 else None
        chance = 1 - asked.score if asked.rule else 0.5
        tag = self._tag(asked.start, asked.end, asked.speaker) if asked.rule in _BY_TAG else ()
        return ReviewQuestion("speaker", asked.start, asked.end, name, (), chance, hangs, tag)

    def _around(self, n: int, step: int) -> float:
        """The quotes of the turns before or behind turn `n` that an error there goes over to."""
        weight, found, k = _SPREAD, 0.0, n
        while 0 <= k + step < len(self.turns):
            here, there = sorted((k, k + step))
            gap = self.a.quotes[self.turns[there][0]].start - self.a.quotes[self.turns[here][-1]].end
            k += step
            turn = [self.a.quotes[i] for i in self.turns[k]]
            score = min(q.score for q in turn)
            if gap > _GAP or score >= _SURE:
                break
            found += weight * min(1.0, 2 * (1 - score)) * len(turn)
            weight *= _SPREAD
        return found

    def _tag(self, start: int, end: int, speaker: int) -> tuple[Span, ...]:
        """The pronoun beside a quote that says who speaks it."""
        beside = [*self.inside(end + 1, end + _TAG), *reversed(self.inside(start - _TAG, start - 1))]
        near = [m for m in beside if m.kind == "pronoun" and m.character == speaker]
        return ((near[0].start, near[0].end),) if near and near[0].rule.startswith("ranker") else ()

    # --- who is meant

    def _of_mentions(self, kinds: frozenset[str]) -> Iterator[ReviewQuestion]:
        hanging = self._hanging()
        for i, m in enumerate(self.a.mentions):
            kind = "pronoun" if m.kind == "pronoun" else "phrase"
            if m.rule.startswith("ranker") and kind in kinds:
                yield ReviewQuestion(kind, *m.mention, self.a.names[m.character], (), 1 - m.score, hanging[i])

    def _hanging(self) -> list[float]:
        """For every mention the pronouns behind it that are what they are because of it, and itself."""
        found = [1.0] * len(self.a.mentions)
        next_of: dict[int, int] = {}
        for i in range(len(self.a.mentions) - 1, -1, -1):
            m = self.a.mentions[i]
            k = next_of.get(m.character, -1)
            if k >= 0:
                later = self.a.mentions[k]
                if later.rule.startswith("ranker") and later.start - m.end <= _REACH and later.score < _SURE:
                    found[i] += _ONWARD * min(1.0, 2 * (1 - later.score)) * found[k]
            next_of[m.character] = i
        return found

    # --- names

    def _of_names(self) -> Iterator[ReviewQuestion]:
        """A question for every form of name that fits several people: its first place stands for all."""
        for (_, who), places in self._forms(",").items():
            middle, now = places[len(places) // 2], self.a.names[who]
            hangs = float(_NAMED_LEADS * len(places))
            yield ReviewQuestion("name", *middle, now, (), _DOUBTED_NAME, hangs, tuple(places))

    def _forms(self, rule: str = "") -> dict[tuple[str, int], list[Span]]:
        """The places of every form of name of somebody, where `rule` is in the rule that gave it."""
        tokens = self.a.book.tokens
        named = (m for m in self.a.mentions if m.kind == "name" and rule in m.rule)
        return together(
            ((" ".join(tokens[m.start : m.end + 1]), m.character), (m.start, m.end)) for m in named
        )

    def _of_words(self) -> Iterator[ReviewQuestion]:
        """A question for every form of name with a word before it that is no part of the name and no "Mr.":
        people mark "old Benjamin" and "Comrade Napoleon" with that word or without it, but always alike. A
        word that is never written small, as in "Edward Hyde", is a name."""
        small = {token for token in self.a.book.tokens if token.islower()}
        for (words, who), places in (forms := self._forms()).items():
            first, _, rest = words.partition(" ")
            word = first.lower().rstrip(".")
            of_name = {*fold(self.a.names[who]).split(), *honorifics.ABBREVIATED}
            bare = (rest, who) in forms and word in small and word not in of_name
            if bare and not honorifics.honorific_gender(word):
                hangs = float(_NAMED_LEADS * len(places))
                middle, now, people = places[len(places) // 2], self.a.names[who], (words, rest)
                yield ReviewQuestion("words", *middle, now, people, _DOUBTED_NAME, hangs, tuple(places))

    def _of_stress(self) -> Iterator[ReviewQuestion]:
        """A question for "himself" right behind a name or a pronoun ("Napoleon himself"): some count it as a
        mention of its own, others never do."""
        forms: dict[str, list[tuple[Marked, Marked]]] = defaultdict(list)
        for last, m in pairwise(self.a.mentions):
            word, adjoins = self.a.book.tokens[m.start], last.end + 1 == m.start
            if adjoins and last.character == m.character and word.lower() in pronouns.REFLEXIVE:
                forms[word].append((last, m))
        for word, marked in forms.items():
            last, m = marked[len(marked) // 2]
            named = " ".join(self.a.book.tokens[last.start : m.start])
            places, hangs = tuple(one.mention for _, one in marked), float(len(marked))
            now, pair = self.a.names[m.character], (word, named)
            yield ReviewQuestion("words", *m.mention, now, pair, _DOUBTED_STRESS, hangs, places, stress=True)

    def _of_nobody(self, kinds: frozenset[str]) -> Iterator[ReviewQuestion]:
        """Questions about what nobody has: "he" and "his" of one sentence together, the places of "the child"
        in one scene, all names of somebody outside the cast; of several who go by one noun ("The Dogs") the
        noun, and "they" behind it."""
        tokens, ends = self.a.book.tokens, self.a.book.sentence_ends
        found: dict[Key, list[tuple[Span, float]]] = defaultdict(list)
        for m in self.nobodys:
            words = " ".join(tokens[m.start : m.end + 1]).lower()
            if m.kind == "name":
                found["name", "", max(m.character, 0) or words].append((m.mention, 0.0))
            elif m.kind == "nominal":
                chance = max(_LEAST_PHRASE, _OF_PHRASE * m.score)
                found["phrase", "", words, m.start // _SCENE].append(((m.start, m.end), chance))
            else:
                one = words in pronouns.FEMALE, bisect_left(ends, m.start + 1)
                found["pronoun", "", one].append(((m.start, m.end), max(_LEAST_PRONOUN, m.score)))
        taken = {i for m in self.a.mentions for i in range(m.start, m.end + 1)}
        nouns = {fold(name).removeprefix("the "): name for name in self.a.names if fold(name)[:4] == "the "}
        several = {noun: name for noun, name in nouns.items() if noun.endswith("s") or noun in _SEVERAL}
        last, group = -_BEHIND, ""
        for i, word in enumerate(map(str.lower, tokens) if several else ()):
            if word in several:
                last, group = i, several[word]
                if i not in taken:
                    found["phrase", group, i].append(((i, i), _DOUBTED_GROUP))
            elif word in pronouns.PLURAL and i not in taken and i - last < _BEHIND:
                found["pronoun", group, bisect_left(ends, i + 1)].append(((i, i), _DOUBTED_GROUP))
        for (kind, who, *_), marked in found.items():
            if kind in kinds:
                places, n = tuple(span for span, _ in marked), float(len(marked))
                chance, people = sum(p for _, p in marked) / n, (str(who),) if who else ()
                if kind == "name":
                    chance, n = OUTSIDER[n > 1], n * _NAMED_LEADS
                yield ReviewQuestion(str(kind), *places[0], None, people, chance, n, places[1:] and places)

    def _of_pairs(self) -> Iterator[ReviewQuestion]:
        """A question for every two people of whom one has a name that could be the other's."""
        counts = [len(group) for group in self.a.by_character]
        for i, name in enumerate(self.a.names):
            alone = Callings()
            alone.add(i, name)
            for k, other in enumerate(self.a.names):
                shorter = len(fold(other).split()) < len(fold(name).split())
                if shorter and (fewer := min(counts[i], counts[k])) and alone.fitting(other):
                    group, pair = self.a.by_character[k], (other, name)
                    at = next((m for m in group if m.kind == "name"), group[0])
                    yield ReviewQuestion("same person", *at.mention, other, pair, _DOUBTED_PAIR, fewer)

    # --- who may be the right one

    def as_known(
        self, q: ReviewQuestion, taught: Mapping[Key, float], doubts: Mapping[Key, float]
    ) -> ReviewQuestion:
        """The question with its chance as other readings and the answers to questions like it have it."""
        if q.now is None and q.kind == "name":
            return replace(q, chance=q.chance * taught.get(OUTSIDERS, 1.0))
        if q.now is None or q.kind not in ("speaker", "pronoun", "phrase"):
            return q
        chance, words = q.chance, " ".join(self.a.book.tokens[q.start : q.end + 1])
        chance = (chance + doubts.get(q.key, chance)) / 2
        for sign in signs(str(q.key[0]), q.now, words):
            chance *= taught.get(sign, 1.0)
        return replace(q, chance=min(chance, max(q.chance, _CERTAIN)))

    def with_people(self, question: ReviewQuestion) -> ReviewQuestion:
        """The question with at most five people: whom the annotation has, its next best, those around."""
        if question.kind in OFFERS_NO_PEOPLE:
            return question
        weights: dict[int, float] = defaultdict(float)
        here, end = question.start, question.end
        for m in self.inside(here - _REACH, end + _AHEAD):
            weights[m.character] += (3 if m.kind == "name" else 1) / (20 + abs(m.start - here))
        for q in self.a.quotes:
            if here - _REACH <= q.start <= end + _GAP:
                for who in (q.speaker, *q.addressees):
                    weights[who] += (who >= 0) * 3 / (20 + abs(q.start - here))
        for m in (*self.inside(here, here), *self.nobodys):
            if m.mention == (here, end):
                for who, p in m.others:
                    weights[who] += 5 * p
        if question.kind == "name":
            words = set(fold(" ".join(self.a.book.tokens[here : end + 1])).split())
            for who, name in enumerate(self.a.names):
                weights[who] += 10 * len(words & set(fold(name).split()))
        found = [self.a.names[who] for who in sorted(weights, key=lambda w: -weights[w]) if weights[who]]
        people = dict.fromkeys([*([question.now] if question.now else []), *question.people, *found])
        named = {m.character: m.start for m in self.inside(here - _REACH, here - 1) if m.kind == "name"}
        since = min((at for who, at in named.items() if self.a.names[who] in tuple(people)[:2]), default=-1)
        return replace(question, people=tuple(people)[:MOST_PEOPLE], since=since, cast=self.a.names)
