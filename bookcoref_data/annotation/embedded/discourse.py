"""Who is on the reader's mind: the people of the discourse, and what distinguishes them as candidates.

Entities are the cast (first, in its order) and other people as they turn up. For each the state keeps
where and how it was last mentioned and how often lately; `features` turns that into numbers, one row per
candidate of one decision. Everything is kept in flat arrays, because a novel asks this 50,000 times.
"""

from __future__ import annotations

import numpy as np

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

FEATURES = (
    "none", "cast", "sentences", "tokens", "same sentence", "sentence before", "was subject", "was object",
    "was possessive", "was name", "was pronoun", "was nominal", "same role", "lately", "of late",
    "share lately",
    "share of late", "count", "gender", "gender sure", "nearest", "second nearest", "rivals", "same quote",
    "both narration", "only quoted", "since subject", "since name", "since narration", "same paragraph",
    "last same pronoun", "since same pronoun", "coargument", "coargument reflexive", "same paragraph subject",
    "is speaker", "is addressee", "last speaker", "speaker before", "tag and last speaker",
    "tag and speaker before", "narrator", "vocative here", "named in quote", "tag subject", "tag by name",
    "last quote same paragraph", "last quote adjoins", "subject before", "subject after", "vocative before",
    "addressee before", "tag object", "next speaker", "you before", "same noun", "title noun", "apposed",
    "copula", "kin known", "same surname as owner", "owner", "m male", "m female", "m plural",
    "m subject", "m object", "m possessive", "m quoted", "m tag", "m reflexive", "d the", "d this", "d a",
    "d own", "d none", "n vocative", "n kin", "n gendered", "tag pronoun fits", "tagged", "unheard",
    "between", "matrix subject", "conjunct subject", "subject over possessive", "main subject here",
    "main subject before", "in sentence", "in paragraph", "opened paragraph", "named ahead",
    "named ahead in sentence", "named ahead in paragraph", "m beat", "beat and last speaker",
    "beat and speaker before", "answers", "answers and last speaker", "answers and speaker before",
    "next but one speaker", "same turn speaker", "next tag fits", "next but one tag fits", "two turns ago",
    "turns since", "share of turns", "turn gap", "paragraph gap", "m turn",
    "real paragraphs", "kin by title",
    "called next", "called before", "named even turns ahead", "named odd turns ahead", "share of tags ahead",
    "tag addressee before", "since quoted", "quoted lately", "narrated lately", "narrated subject",
    "narrated subject beside", "talked of lately", "since on the scene", *namings.FEATURES, *phrases.FEATURES,
    "n with more",
)  # fmt: skip
INDEX = {name: i for i, name in enumerate(FEATURES)}
WIDTH = len(FEATURES)
_SINCE = slice(INDEX["since subject"], INDEX["since narration"] + 1)
_OF_THE_PLACE = [
    INDEX[f"m {name}"]
    for name in ("male", "female", "plural", "subject", "object", "possessive", "quoted", "reflexive")
]
_MAY_FIT = 0.3
"""Least probability of gender and number at which a candidate counts as a rival."""
_CLOSE = 150
"""Tokens within which rivals count."""


_ROOM = 256
"""People beyond the cast for whom there is room from the start."""
_EMPTY: dict[str, int | float] = {
    "last": -FAR, "sentence": -FAR, "paragraph": -1, "role": OTHER, "kind": NAME, "quote": -1, "verb": -1,
    "subject_verb": -1, "main_sentence": -FAR, "in_sentence": 0.0, "in_paragraph": 0.0, "subject_at": -FAR,
    "subject_paragraph": -1, "name_at": -FAR, "narrated_at": -FAR, "quoted_at": -FAR, "count": 0.0,
    "short": 0.0, "long": 0.0, "narrated": 0.0, "quoted": 0.0, "talked": 0.0, "talked_at": -FAR,
    "scene_at": -FAR,
}  # fmt: skip
"""The arrays with one value per person, and the value of somebody who was never mentioned."""


class Discourse:
    """The people known so far. The first `cast` entities are the characters.

    One value per person: token, sentence, paragraph, quote, role, kind and verb of the last mention; the
    verb, token and paragraph of the last mention as subject, and the last sentence whose main subject it was;
    the last token of a name, of a mention outside quotes and of one inside; how many mentions, in all
    (`count`), in the current sentence and paragraph, and decayed over `SHORT` and `LONG` tokens, of these
    also the ones outside quotes and inside. Of mentions in quotes that talk of somebody (`talked`: neither
    "I" nor "you" nor a name that calls): how many, decayed over `SHORT` tokens, and the last token;
    `scene_at` is the last token of any other mention. `p` holds the probabilities (male, female, plural).
    `narrated_subject` is the person who was the last subject of a main clause outside quotes, and where
    (paragraph).
    """

    p: np.ndarray
    last: np.ndarray
    sentence: np.ndarray
    paragraph: np.ndarray
    role: np.ndarray
    kind: np.ndarray
    quote: np.ndarray
    verb: np.ndarray
    subject_verb: np.ndarray
    main_sentence: np.ndarray
    in_sentence: np.ndarray
    in_paragraph: np.ndarray
    subject_at: np.ndarray
    subject_paragraph: np.ndarray
    name_at: np.ndarray
    narrated_at: np.ndarray
    quoted_at: np.ndarray
    count: np.ndarray
    short: np.ndarray
    long: np.ndarray
    narrated: np.ndarray
    quoted: np.ndarray
    talked: np.ndarray
    talked_at: np.ndarray
    scene_at: np.ndarray

    def __init__(self, cast: int, male: np.ndarray, female: np.ndarray, plural: np.ndarray) -> None:
        self.cast = self.size = cast
        room = cast + _ROOM
        self.p = np.zeros((room, 3))
        self.p[:cast] = np.stack([male, female, plural], axis=1)
        for name, empty in _EMPTY.items():
            setattr(self, name, np.full(room, empty))
        self.opener = (-1, -1)
        self.narrated_subject = (-1, -1)
        self.noun = [""] * room
        self.nouns: list[set[str]] = [set() for _ in range(room)]
        self.last_by_gender = {"m": (-1, -FAR), "f": (-1, -FAR), "p": (-1, -FAR), "": (-1, -FAR)}
        self.recent: list[int] = []

    def add(self, gender: str, noun: str) -> int:
        """A new person outside the cast; returns its entity number."""
        if self.size == len(self.last):
            self._grow()
        e = self.size
        self.size += 1
        self.p[e] = {"m": (0.97, 0.02, 0.01), "f": (0.02, 0.97, 0.01), "p": (0.02, 0.02, 0.96)}.get(
            gender, (0.6, 0.35, 0.05)
        )
        self.noun[e] = noun
        self.nouns[e] = {noun}
        return e

    def _grow(self) -> None:
        room = len(self.last)
        self.p = np.concatenate([self.p, np.zeros((room, 3))])
        for name, empty in _EMPTY.items():
            old = getattr(self, name)
            setattr(self, name, np.concatenate([old, np.full(room, empty, dtype=old.dtype)]))
        self.noun += [""] * room
        self.nouns += [set() for _ in range(room)]

    def mention(
        self,
        e: int,
        m: Markable,
        sentence: int,
        paragraph: int,
        quote: int,
        clause: Clause,
        talked_of: bool = False,
    ) -> None:
        """Entity `e` was mentioned by `m`; `talked_of` says that somebody talks of `e` there."""
        verb = clause.verb
        self.in_sentence[e] = 1 + self.in_sentence[e] * (self.sentence[e] == sentence)
        self.in_paragraph[e] = 1 + self.in_paragraph[e] * (self.paragraph[e] == paragraph)
        if paragraph != self.opener[0]:
            self.opener = (paragraph, e)
        at = m.at
        gap = max(at - self.last[e], 0)
        self.short[e] = self.short[e] * np.exp(-gap / SHORT) + 1
        self.long[e] = self.long[e] * np.exp(-gap / LONG) + 1
        self.last[e], self.sentence[e], self.paragraph[e] = at, sentence, paragraph
        self.role[e], self.kind[e], self.quote[e], self.verb[e] = m.role, KIND[m.kind], quote, verb
        self.count[e] += 1
        if m.role == SUBJECT:
            self.subject_at[e], self.subject_paragraph[e] = at, paragraph
            self.subject_verb[e] = verb
            if clause.main:
                self.main_sentence[e] = sentence
            if clause.main and quote < 0:
                self.narrated_subject = (e, paragraph)
        if m.kind == "name":
            self.name_at[e] = at
        if quote < 0:
            self.narrated[e] = 1 + self.narrated[e] * np.exp(-max(at - self.narrated_at[e], 0) / LONG)
            self.narrated_at[e] = at
        else:
            self.quoted[e] = 1 + self.quoted[e] * np.exp(-max(at - self.quoted_at[e], 0) / LONG)
            self.quoted_at[e] = at
        if talked_of:
            self.talked[e] = 1 + self.talked[e] * np.exp(-max(at - self.talked_at[e], 0) / SHORT)
            self.talked_at[e] = at
        else:
            self.scene_at[e] = at
        if m.kind == "nominal":
            self.nouns[e].add(m.noun)
        if m.kind == "pronoun":
            self.last_by_gender[m.gender if m.person == 3 else ""] = (e, at)
            if e >= self.cast and m.person == 3 and m.gender in "mfp" and m.gender:
                self._lean(e, "mfp".index(m.gender))
        if e in self.recent:
            self.recent.remove(e)
        self.recent.append(e)
        if len(self.recent) > 150:
            del self.recent[0]

    def _lean(self, e: int, k: int) -> None:
        """A person outside the cast takes the gender of the pronoun that was read as it."""
        self.p[e] *= 0.3
        self.p[e, k] += 0.7

    def candidates(self, at: int, gender: str, *, most: int = 10, reach: int = 3000) -> list[int]:
        """Entities that a reference at `at` may mean: the most recent ones that fit its gender."""
        k = "mfp".find(gender) if gender else -1
        found = []
        for e in reversed(self.recent):
            if at - self.last[e] > reach:
                break
            if e >= self.cast and at - self.last[e] > 400:
                continue
            if (self.p[e, k] < 0.04) if k >= 0 else (e >= self.cast and self.p[e, 2] > 0.9):
                continue
            found.append(e)
            if len(found) == most:
                break
        return found

    def features(
        self, ids: list[int], m: Markable, sentence: int, paragraph: int, quote: int, clause: Clause
    ) -> np.ndarray:
        """One row per candidate, and a last row for "nobody of these". Shape (len(ids) + 1, WIDTH)."""
        f = INDEX
        n = len(ids)
        x = np.zeros((n + 1, WIDTH), dtype=np.float32)
        x[:, _OF_THE_PLACE] = (
            m.gender == "m", m.gender == "f", m.gender == "p", m.role == SUBJECT, m.role == OBJECT,
            m.role == POSSESSIVE, quote >= 0, m.reflexive,
        )  # fmt: skip
        x[n, f["none"]] = 1
        if not n:
            return x
        e = np.array(ids)
        away = np.maximum(m.at - self.last[e], 0)
        lines = np.maximum(sentence - self.sentence[e], 0)
        rows = x[:n]
        self._mark_last_mention(rows, e, m, away, lines)
        self._mark_counts(rows, e, m.at, away)
        fit = self._mark_gender(rows, e, m)
        x[:, f["rivals"]] = float(((fit > _MAY_FIT) & (away < _CLOSE)).sum())
        self._mark_order(rows, fit, away)
        self._mark_place(rows, e, m, sentence, paragraph, quote)
        self._mark_clause(rows, e, m, lines, clause)
        x[n, f["gender"]] = rows[:, f["gender"]].max()
        x[n, f["tokens"]] = rows[:, f["tokens"]].min()
        x[n, f["of late"]] = rows[:, f["of late"]].max()
        return x

    def _mark_last_mention(
        self, rows: np.ndarray, e: np.ndarray, m: Markable, away: np.ndarray, lines: np.ndarray
    ) -> None:
        """How far back and how each candidate was mentioned last."""
        f = INDEX
        role, kind = self.role[e], self.kind[e]
        rows[:, f["cast"]] = e < self.cast
        rows[:, f["sentences"]] = np.log1p(lines)
        rows[:, f["tokens"]] = np.log1p(away)
        rows[:, f["same sentence"]] = lines == 0
        rows[:, f["sentence before"]] = lines == 1
        rows[:, f["was subject"]] = role == SUBJECT
        rows[:, f["was object"]] = role == OBJECT
        rows[:, f["was possessive"]] = role == POSSESSIVE
        rows[:, f["was name"]] = kind == NAME
        rows[:, f["was pronoun"]] = kind == PRONOUN
        rows[:, f["was nominal"]] = kind == NOMINAL
        rows[:, f["same role"]] = role == m.role

    def _mark_counts(self, rows: np.ndarray, e: np.ndarray, at: int, away: np.ndarray) -> None:
        """How often each candidate was mentioned, of late and in all, also against the others."""
        f = INDEX
        short = self.short[e] * np.exp(-away / SHORT)
        long = self.long[e] * np.exp(-away / LONG)
        rows[:, f["lately"]] = np.log1p(short)
        rows[:, f["of late"]] = np.log1p(long)
        rows[:, f["share lately"]] = short / (short.sum() + 0.1)
        rows[:, f["share of late"]] = long / (long.sum() + 0.1)
        rows[:, f["count"]] = np.log1p(np.minimum(self.count[e], MOST_COUNTED))
        quoted = self.quoted[e] * np.exp(-(at - self.quoted_at[e]) / LONG)
        narrated = self.narrated[e] * np.exp(-(at - self.narrated_at[e]) / LONG)
        rows[:, f["quoted lately"]], rows[:, f["narrated lately"]] = np.log1p(quoted), np.log1p(narrated)
        talked = self.talked[e] * np.exp(-np.maximum(at - self.talked_at[e], 0) / SHORT)
        rows[:, f["talked of lately"]] = np.log1p(talked)
        rows[:, f["since on the scene"]] = np.log1p(np.minimum(np.maximum(at - self.scene_at[e], 0), FAR))

    def _mark_gender(self, rows: np.ndarray, e: np.ndarray, m: Markable) -> np.ndarray:
        """How well gender and number fit; returns the probabilities (1 where the words have no gender)."""
        if not m.gender or m.gender not in "mfp":
            return np.ones(len(e))
        fit: np.ndarray = self.p[e, "mfp".index(m.gender)]
        rows[:, INDEX["gender"]] = np.log(np.maximum(fit, 0.01))
        rows[:, INDEX["gender sure"]] = fit > 0.9
        return fit

    @staticmethod
    def _mark_order(rows: np.ndarray, fit: np.ndarray, away: np.ndarray) -> None:
        """Who is nearest, and how many others lie between."""
        f = INDEX
        good = np.flatnonzero(fit > _MAY_FIT)
        order = good[np.argsort(away[good], kind="stable")]
        for name, at in (("nearest", 0), ("second nearest", 1)):
            if len(order) > at:
                rows[order[at], f[name]] = 1
        rows[np.argsort(away, kind="stable"), f["between"]] = np.log1p(np.arange(len(rows)))

    def _mark_place(
        self, rows: np.ndarray, e: np.ndarray, m: Markable, sentence: int, paragraph: int, quote: int
    ) -> None:
        """Quotes, paragraphs and sentences that a candidate shares with this place."""
        f = INDEX
        where = self.quote[e]
        rows[:, f["same quote"]] = (where == quote) & (quote >= 0)
        rows[:, f["both narration"]] = (where < 0) & (quote < 0)
        rows[:, f["only quoted"]] = (where >= 0) & (quote < 0)
        since = np.stack((self.subject_at[e], self.name_at[e], self.narrated_at[e]), axis=1)
        rows[:, _SINCE] = np.log1p(np.minimum(np.maximum(m.at - since, 0), FAR))
        rows[:, f["since quoted"]] = np.log1p(np.minimum(np.maximum(m.at - self.quoted_at[e], 0), FAR))
        rows[:, f["narrated subject"]] = e == self.narrated_subject[0]
        if paragraph - self.narrated_subject[1] <= 1:
            rows[:, f["narrated subject beside"]] = e == self.narrated_subject[0]
        here = self.paragraph[e] == paragraph
        rows[:, f["same paragraph"]] = here
        rows[:, f["same paragraph subject"]] = self.subject_paragraph[e] == paragraph
        same, when = self.last_by_gender[m.gender if m.person == 3 else ""]
        hit = e == same
        rows[:, f["last same pronoun"]] = hit
        rows[:, f["since same pronoun"]] = hit * np.log1p(max(m.at - when, 0))
        main = sentence - self.main_sentence[e]
        rows[:, f["main subject here"]] = main == 0
        rows[:, f["main subject before"]] = main == 1
        rows[:, f["in paragraph"]] = np.log1p(self.in_paragraph[e]) * here
        if self.opener[0] == paragraph:
            rows[:, f["opened paragraph"]] = e == self.opener[1]

    def _mark_clause(
        self, rows: np.ndarray, e: np.ndarray, m: Markable, lines: np.ndarray, clause: Clause
    ) -> None:
        """Grammar: arguments of the same verb, subjects of the clauses above and beside."""
        f = INDEX
        same_verb = (self.verb[e] == clause.verb) & (clause.verb >= 0)
        co = same_verb & (self.role[e] != POSSESSIVE) & (m.role != POSSESSIVE) & (lines == 0)
        rows[:, f["coargument"]] = co
        rows[:, f["coargument reflexive"]] = co & m.reflexive
        subject_verb = self.subject_verb[e]
        for v in clause.above:
            rows[subject_verb == v, f["matrix subject"]] = 1
        for v in clause.beside:
            rows[subject_verb == v, f["conjunct subject"]] = 1
        if m.role == POSSESSIVE:
            rows[:, f["subject over possessive"]] = (subject_verb == clause.verb) & (clause.verb >= 0)
        rows[:, f["in sentence"]] = np.log1p(self.in_sentence[e]) * (lines == 0)
