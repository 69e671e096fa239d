"""Who is on the reader's mind: the people of the discourse, and what distinguishes them as candidates.

Entities are the cast (first, in its order) and other people as they turn up. For each the state keeps
where and how it was last mentioned and how often lately; `features` turns that into numbers, one row per
candidate of one decision. Everything is kept in flat arrays, because a novel asks this 50,000 times.
"""

from math import exp, log1p
from pathlib import Path

import numpy as np

from ...words import word_lists, word_pairs
from . import namings, phrases
from .clauses import Clause
from .markables import OBJECT, OTHER, POSSESSIVE, SUBJECT, Markable

NAME, PRONOUN, NOMINAL = range(3)
KIND = {"name": NAME, "pronoun": PRONOUN, "nominal": NOMINAL, "plural": NOMINAL}
FAR = 10_000
MOST_COUNTED = 40
"""Mentions beyond this number count no more: the excerpts of the training have few longer clusters."""
SHORT, LONG = 60.0, 500.0
"""Decay lengths, in tokens, of the two counts of recent mentions."""

_LISTS = word_lists(Path(__file__).with_suffix(".txt").read_text(encoding="utf-8"))


def _names(part: str) -> tuple[str, ...]:
    return tuple(" ".join(name.split()) for name in _LISTS[part].split(","))


FEATURES = (*_names("FEATURES"), *namings.FEATURES, *phrases.FEATURES, *_names("LATER_FEATURES"))
INDEX = {name: i for i, name in enumerate(FEATURES)}
WIDTH = len(FEATURES)
_OF_THE_PLACE = [INDEX[name] for name in _names("OF_THE_PLACE")]
_MAY_FIT = 0.3
"""Least probability of gender and number at which a candidate counts as a rival."""
_CLOSE = 150
"""Tokens within which rivals count."""
_ROOM = 256
"""People beyond the cast for whom there is room from the start."""
_MOST_RECENT = 150
"""People who are remembered as candidates."""
_REACH_OF_STRANGERS = 400
"""Tokens within which people outside the cast are candidates."""
_EMPTY: dict[str, float] = {
    "subject_at": -FAR, "name_at": -FAR, "narrated_at": -FAR, "quoted_at": -FAR, "scene_at": -FAR,
    "talked_at": -FAR, "last": -FAR, "sentence": -FAR, "short": 0, "long": 0, "quoted": 0, "narrated": 0,
    "talked": 0, "count": 0, "in_paragraph": 0, "in_sentence": 0, "who": -1, "paragraph": -1, "role": OTHER,
    "kind": NAME, "quote": -1, "verb": -1, "subject_verb": -1, "main_sentence": -FAR, "subject_paragraph": -1,
}  # fmt: skip
"""What is kept of a person, and the values of somebody who was never mentioned."""
_AT = {name: k for k, name in enumerate(_EMPTY)}
_PLACES = slice(_AT["subject_at"], _AT["sentence"] + 1)
_AMOUNTS = slice(_AT["short"], _AT["talked"] + 1)
_WHERE, _AWAY, _LINES = slice(0, _AT["scene_at"] + 1), _AT["last"], _AT["sentence"]
_FADED = np.array([_AT[name] for name in ("last", "last", "quoted_at", "narrated_at", "talked_at")])
_LENGTHS = np.array([[SHORT], [LONG], [LONG], [LONG], [SHORT]])
"""Since when the amounts fade, and how fast."""
_LOGARITHMS = np.array([INDEX[name] for name in _names("LOGARITHMS")])
_IN_PARAGRAPH, _IN_SENTENCE = len(_LOGARITHMS) - 2, len(_LOGARITHMS) - 1
_SHARES = [INDEX["share lately"], INDEX["share of late"]]
_EQUALS = tuple(word_pairs(_LISTS["EQUALS"]).items())
"""Features that say whether something kept of a person has a certain value."""
_EQUAL = np.array([INDEX[name] for name, _ in _EQUALS])
_KEPT = np.array([_AT[name] for _, name in _EQUALS])
_SAME_PARAGRAPH, _SAME_PRONOUN = (
    [name for name, _ in _EQUALS].index(same) for same in ("same paragraph", "last same pronoun")
)
_NEVER = float("nan")


class Discourse:
    """The people known so far. The first `cast` entities are the characters.

    One column per person in `kept` (rows as in `_EMPTY`): token, sentence, paragraph, quote, role, kind and
    verb of the last mention; the verb, token and paragraph of the last mention as subject, and the last
    sentence whose main subject it was; the last token of a name, of a mention outside quotes and of one
    inside; how many mentions, in all (`count`), in the current sentence and paragraph, and decayed over
    `SHORT` and `LONG` tokens, of these also the ones outside quotes and inside. Of mentions in quotes that
    talk of somebody (`talked`: neither "I" nor "you" nor a name that calls): how many, decayed over `SHORT`
    tokens, and the last token; `scene_at` is the last token of any other mention. `p` holds the probabilities
    (male, female, plural), `nouns` what each person was called. `narrated_subject` is the person who was the
    last subject of a main clause outside quotes, and where (paragraph). `recent` has the last mention of
    those who may be candidates, newest last.
    """

    def __init__(self, cast: int, male: np.ndarray, female: np.ndarray, plural: np.ndarray) -> None:
        self.cast = self.size = cast
        room = cast + _ROOM
        self.p = np.zeros((room, 3))
        self.p[:cast] = np.stack([male, female, plural], axis=1)
        self._kept = _nobody(0, room)
        self.opener = (-1, -1)
        self.narrated_subject = (-1, -1)
        self.nouns: list[set[str]] = [set() for _ in range(cast)]
        self.last_by_gender = {"m": (-1, -FAR), "f": (-1, -FAR), "p": (-1, -FAR), "": (-1, -FAR)}
        self.recent: dict[int, int] = {}

    @property
    def last(self) -> np.ndarray:
        """The token of everybody's last mention."""
        line: np.ndarray = self._kept[_AWAY]
        return line

    @property
    def count(self) -> np.ndarray:
        """How often everybody was mentioned."""
        line: np.ndarray = self._kept[_AT["count"]]
        return line

    @property
    def subject_verb(self) -> np.ndarray:
        """The verb of everybody's last mention as a subject."""
        line: np.ndarray = self._kept[_AT["subject_verb"]]
        return line

    def add(self, gender: str, noun: str) -> int:
        """A new person outside the cast; returns its entity number."""
        room = len(self.p)
        if self.size == room:
            self.p = np.concatenate([self.p, np.zeros((room, 3))])
            self._kept = np.concatenate([self._kept, _nobody(room, 2 * room)], axis=1)
        e = self.size
        self.size += 1
        self.p[e] = {"m": (0.97, 0.02, 0.01), "f": (0.02, 0.97, 0.01), "p": (0.02, 0.02, 0.96)}.get(
            gender, (0.6, 0.35, 0.05)
        )
        self.nouns.append({noun})
        return e

    def mention(
        self, e: int, m: Markable, sentence: int, paragraph: int, quote: int, clause: Clause,
        talked_of: bool = False,
    ) -> None:  # fmt: skip
        """Entity `e` was mentioned by `m`; `talked_of` says that somebody talks of `e` there."""
        kept: list[float] = self._kept[:, e].tolist()
        a = _AT
        kept[a["in_sentence"]] = 1 + kept[a["in_sentence"]] * (kept[a["sentence"]] == sentence)
        kept[a["in_paragraph"]] = 1 + kept[a["in_paragraph"]] * (kept[a["paragraph"]] == paragraph)
        if paragraph != self.opener[0]:
            self.opener = (paragraph, e)
        at = m.at

        def count(amount: str, last: str, length: float) -> None:
            gap = max(at - kept[a[last]], 0.0)
            kept[a[amount]] = kept[a[amount]] * exp(-gap / length) + 1
            kept[a[last]] = at

        kept[a["long"]] = kept[a["long"]] * exp(-max(at - kept[a["last"]], 0.0) / LONG) + 1
        count("short", "last", SHORT)
        kept[a["sentence"]], kept[a["paragraph"]], kept[a["quote"]] = sentence, paragraph, quote
        kept[a["role"]], kept[a["kind"]], kept[a["verb"]] = m.role, KIND[m.kind], clause.verb
        kept[a["count"]] += 1
        if m.role == SUBJECT:
            kept[a["subject_at"]], kept[a["subject_paragraph"]] = at, paragraph
            kept[a["subject_verb"]] = clause.verb
            if clause.main:
                kept[a["main_sentence"]] = sentence
            if clause.main and quote < 0:
                self.narrated_subject = (e, paragraph)
        if m.kind == "name":
            kept[a["name_at"]] = at
        if quote < 0:
            count("narrated", "narrated_at", LONG)
        else:
            count("quoted", "quoted_at", LONG)
        if talked_of:
            count("talked", "talked_at", SHORT)
        else:
            kept[a["scene_at"]] = at
        self._kept[:, e] = kept
        if m.kind == "nominal":
            self.nouns[e].add(m.noun)
        if m.kind == "pronoun":
            self.last_by_gender[m.gender if m.person == 3 else ""] = (e, at)
            if e >= self.cast and m.person == 3 and m.gender in "mfp" and m.gender:
                self._lean(e, "mfp".index(m.gender))
        self.recent.pop(e, None)
        self.recent[e] = at
        if len(self.recent) > _MOST_RECENT:
            del self.recent[next(iter(self.recent))]

    def _lean(self, e: int, k: int) -> None:
        """A person outside the cast takes the gender of the pronoun that was read as it."""
        self.p[e] *= 0.3
        self.p[e, k] += 0.7

    def candidates(self, at: int, gender: str, *, most: int = 10, reach: int = 3000) -> list[int]:
        """Entities that a reference at `at` may mean: the most recent ones that fit its gender."""
        k = "mfp".find(gender) if gender else -1
        p = self.p.item
        found: list[int] = []
        for e, last in reversed(self.recent.items()):
            if at - last > reach or len(found) == most:
                break
            if e >= self.cast and at - last > _REACH_OF_STRANGERS:
                continue
            if (p(e, k) < 0.04) if k >= 0 else (e >= self.cast and p(e, 2) > 0.9):
                continue
            found.append(e)
        return found

    def features(
        self, ids: list[int], m: Markable, sentence: int, paragraph: int, quote: int, clause: Clause
    ) -> np.ndarray:
        """One row per candidate, and a last row for "nobody of these". Shape (len(ids) + 1, WIDTH)."""
        f = INDEX
        n = len(ids)
        rows = np.zeros((n + 1, WIDTH), dtype=np.float32, order="F")
        columns = rows.T
        of_place = (
            m.gender == "m", m.gender == "f", m.gender == "p", m.role == SUBJECT, m.role == OBJECT,
            m.role == POSSESSIVE, quote >= 0, m.reflexive,
        )  # fmt: skip
        columns[[k for k, holds in zip(_OF_THE_PLACE, of_place, strict=True) if holds]] = 1
        columns[f["none"], n] = 1
        if not n:
            return rows
        e = np.array(ids)
        kept = self._kept.take(e, axis=1)
        people = columns[:, :n]
        now = [m.at] * (_LINES + 1)
        now[_LINES] = sentence
        since = np.array(now, dtype=float)[:, None] - kept[_PLACES]
        past = np.maximum(since, 0)
        people[f["cast"]] = e < self.cast
        same_sentence = past[_LINES] == 0
        people[f["same sentence"]] = same_sentence
        people[f["sentence before"]] = past[_LINES] == 1
        same = self._mark_equal(people, kept, m, sentence, paragraph, quote)
        self._mark_logarithms(people, kept, since, past, same[_SAME_PARAGRAPH], same_sentence)
        fit = self._mark_gender(people, e, m)
        self._mark_order(columns, fit, past[_AWAY].tolist())
        self._mark_clause(people, kept, m, same_sentence, clause)
        columns[f["gender"], n] = people[f["gender"]].max()
        columns[f["tokens"], n] = people[f["tokens"]].min()
        columns[f["of late"], n] = people[f["of late"]].max()
        return rows

    def _mark_equal(
        self, people: np.ndarray, kept: np.ndarray, m: Markable, sentence: int, paragraph: int, quote: int
    ) -> np.ndarray:
        """How a candidate was mentioned last, and what of that is the same here; returns the rows."""
        outside = quote < 0
        subject, where = self.narrated_subject
        last, when = self.last_by_gender[m.gender if m.person == 3 else ""]
        opened, opener = self.opener
        values = [
            SUBJECT, OBJECT, POSSESSIVE, NAME, PRONOUN, NOMINAL, m.role, _NEVER if outside else quote,
            -1 if outside else _NEVER, paragraph, paragraph, sentence, sentence - 1, subject,
            subject if paragraph - where <= 1 else _NEVER, last, opener if opened == paragraph else _NEVER,
        ]  # fmt: skip
        same: np.ndarray = kept.take(_KEPT, axis=0) == np.array(values)[:, None]
        people[_EQUAL] = same
        if outside:
            people[INDEX["only quoted"]] = kept[_AT["quote"]] >= 0
        people[INDEX["since same pronoun"]] = same[_SAME_PRONOUN] * log1p(max(m.at - when, 0))
        return same

    @staticmethod
    def _mark_logarithms(
        people: np.ndarray, kept: np.ndarray, since: np.ndarray, past: np.ndarray,
        same_paragraph: np.ndarray, same_sentence: np.ndarray,
    ) -> None:  # fmt: skip
        """How far back each candidate was mentioned and how often, of late and in all, also against the
        others. `since` and `past` (no less than 0) are distances from `kept`."""
        values = np.empty((len(_LOGARITHMS), people.shape[1]))
        np.minimum(past[_WHERE], FAR, out=values[_WHERE])
        values[5], values[6] = past[_AWAY], past[_LINES]
        fading = since.take(_FADED, axis=0)
        fading[:2], fading[4] = past[_AWAY], past[_FADED[4]]
        amounts = values[7:12]
        np.multiply(kept[_AMOUNTS], np.exp(-fading / _LENGTHS), out=amounts)
        people[_SHARES] = amounts[:2] / (amounts[:2].sum(axis=1, keepdims=True) + 0.1)
        values[12:] = kept[_AT["count"] : _AT["in_sentence"] + 1]
        np.minimum(values[12], MOST_COUNTED, out=values[12])
        logarithms = np.log1p(values, out=values)
        logarithms[_IN_PARAGRAPH] *= same_paragraph
        logarithms[_IN_SENTENCE] *= same_sentence
        people[_LOGARITHMS] = logarithms

    def _mark_gender(self, people: np.ndarray, e: np.ndarray, m: Markable) -> list[float]:
        """How well gender and number fit; returns the probabilities (1 where the words have no gender)."""
        if not m.gender or m.gender not in "mfp":
            return [1.0] * len(e)
        fit = self.p[e, "mfp".index(m.gender)]
        people[INDEX["gender"]] = np.log(np.maximum(fit, 0.01))
        people[INDEX["gender sure"]] = fit > 0.9
        probabilities: list[float] = fit.tolist()
        return probabilities

    @staticmethod
    def _mark_order(columns: np.ndarray, fit: list[float], away: list[float]) -> None:
        """Who is nearest, how many others lie between, and how many come into question."""
        f = INDEX
        order = sorted(range(len(away)), key=away.__getitem__)
        columns[f["between"], order] = [log1p(k) for k in range(len(order))]
        good = [k for k in order if fit[k] > _MAY_FIT]
        columns[f["nearest"], good[:1]] = 1
        columns[f["second nearest"], good[1:2]] = 1
        columns[f["rivals"]] = sum(away[k] < _CLOSE for k in good)

    @staticmethod
    def _mark_clause(
        people: np.ndarray, kept: np.ndarray, m: Markable, same_sentence: np.ndarray, clause: Clause
    ) -> None:
        """Grammar: arguments of the same verb, subjects of the clauses above and beside."""
        f = INDEX
        subject_verb = kept[_AT["subject_verb"]]
        if clause.verb >= 0 and m.role == POSSESSIVE:
            people[f["subject over possessive"]] = subject_verb == clause.verb
        elif clause.verb >= 0:
            co = (kept[_AT["verb"]] == clause.verb) & (kept[_AT["role"]] != POSSESSIVE) & same_sentence
            people[f["coargument"]] = co
            people[f["coargument reflexive"]] = co & m.reflexive
        for v in clause.above:
            people[f["matrix subject"]] += subject_verb == v
        for v in clause.beside:
            people[f["conjunct subject"]] += subject_verb == v


def _nobody(first: int, end: int) -> np.ndarray:
    """What is kept of people `first` to `end` (exclusive) who were never mentioned."""
    kept = np.repeat(np.array([*_EMPTY.values()], dtype=float)[:, None], end - first, axis=1)
    kept[_AT["who"]] = np.arange(first, end)
    return kept


class Candidates:
    """The features of the candidates of one decision: `x` has a row for each of `ids`, and one for nobody."""

    def __init__(self, ids: list[int], x: np.ndarray) -> None:
        self.ids, self.x = ids, x
        self._row = {e: n for n, e in enumerate(ids)}

    def mark(self, e: int, name: str, value: float = 1.0) -> None:
        """Set a feature of a candidate; who is none is left out."""
        if e in self._row:
            self.x[self._row[e], INDEX[name]] = value

    def add(self, e: int, name: str, value: float) -> None:
        """Add to a feature of a candidate."""
        if e in self._row:
            self.x[self._row[e], INDEX[name]] += value

    def raise_to(self, e: int, name: str, value: float) -> None:
        """Set a feature of a candidate where it is less."""
        if e in self._row:
            cell = self._row[e], INDEX[name]
            self.x[cell] = max(self.x[cell], value)

    def every(self, name: str, value: float = 1.0) -> None:
        """Set a feature of the place itself: of all candidates, and of nobody."""
        self.x[:, INDEX[name]] = value
