"""Who is on the reader's mind: the people of the discourse, and what distinguishes them as candidates.

Entities are the cast (first, in its order) and other people as they turn up. For each the state keeps
where and how it was last mentioned and how often lately; `features` turns that into numbers, one row per
candidate of one decision. Everything is kept in flat arrays, because a novel asks this 50,000 times.
"""

from __future__ import annotations

import numpy as np

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
    "copula", "kin known", "same surname as owner", "owner", "noun of", "m male", "m female", "m plural",
    "m subject", "m object", "m possessive", "m quoted", "m tag", "m reflexive", "d the", "d this", "d a",
    "d own", "d none", "n vocative", "n kin", "n gendered", "tag pronoun fits", "tagged", "unheard",
    "between", "matrix subject", "conjunct subject", "subject over possessive", "main subject here",
    "main subject before", "in sentence", "in paragraph", "opened paragraph", "named ahead",
    "named ahead in sentence", "named ahead in paragraph", "m beat", "beat and last speaker",
    "beat and speaker before", "answers", "answers and last speaker", "answers and speaker before",
    "next but one speaker", "same turn speaker", "next tag fits", "next but one tag fits", "two turns ago",
    "turns since", "share of turns", "turn gap", "paragraph gap", "m turn",
    "real paragraphs", "kin by title",
)  # fmt: skip
INDEX = {name: i for i, name in enumerate(FEATURES)}
WIDTH = len(FEATURES)
_SINCE = slice(INDEX["since subject"], INDEX["since narration"] + 1)


class Discourse:
    """The people known so far. The first `cast` entities are the characters."""

    def __init__(self, cast: int, male: np.ndarray, female: np.ndarray, plural: np.ndarray) -> None:
        self.cast = self.size = cast
        room = cast + 256
        self.p = np.zeros((room, 3))
        self.p[:cast] = np.stack([male, female, plural], axis=1)
        self.last = np.full(room, -FAR)
        self.sentence = np.full(room, -FAR)
        self.paragraph = np.full(room, -1)
        self.role = np.full(room, OTHER)
        self.kind = np.full(room, NAME)
        self.quote = np.full(room, -1)
        self.verb = np.full(room, -1)
        self.subject_verb = np.full(room, -1)
        self.main_sentence = np.full(room, -FAR)
        self.in_sentence = np.zeros(room)
        self.in_paragraph = np.zeros(room)
        self.opener = (-1, -1)
        self.subject_at = np.full(room, -FAR)
        self.subject_paragraph = np.full(room, -1)
        self.name_at = np.full(room, -FAR)
        self.narrated_at = np.full(room, -FAR)
        self.count = np.zeros(room)
        self.short = np.zeros(room)
        self.long = np.zeros(room)
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
        for name, empty in (
            ("p", 0), ("last", -FAR), ("sentence", -FAR), ("paragraph", -1), ("role", OTHER), ("kind", NAME),
            ("quote", -1), ("verb", -1), ("subject_verb", -1), ("main_sentence", -FAR), ("in_sentence", 0),
            ("in_paragraph", 0), ("subject_at", -FAR), ("subject_paragraph", -1), ("name_at", -FAR),
            ("narrated_at", -FAR), ("count", 0), ("short", 0), ("long", 0),
        ):  # fmt: skip
            old = getattr(self, name)
            new = np.full((2 * len(old), *old.shape[1:]), empty, dtype=old.dtype)
            new[: len(old)] = old
            setattr(self, name, new)
        self.noun += [""] * len(self.noun)
        self.nouns += [set() for _ in range(len(self.nouns))]

    def mention(self, e: int, m: Markable, sentence: int, paragraph: int, quote: int, clause: Clause) -> None:
        """Entity `e` was mentioned by `m`."""
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
        if m.kind == "name":
            self.name_at[e] = at
        if quote < 0:
            self.narrated_at[e] = at
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
        x[:, f["m male"]] = m.gender == "m"
        x[:, f["m female"]] = m.gender == "f"
        x[:, f["m plural"]] = m.gender == "p"
        x[:, f["m subject"]] = m.role == SUBJECT
        x[:, f["m object"]] = m.role == OBJECT
        x[:, f["m possessive"]] = m.role == POSSESSIVE
        x[:, f["m quoted"]] = quote >= 0
        x[:, f["m reflexive"]] = m.reflexive
        x[n, f["none"]] = 1
        if not n:
            return x
        e = np.array(ids)
        at = m.at
        verb = clause.verb
        away = np.maximum(at - self.last[e], 0)
        lines = np.maximum(sentence - self.sentence[e], 0)
        r = x[:n]
        r[:, f["cast"]] = e < self.cast
        r[:, f["sentences"]] = np.log1p(lines)
        r[:, f["tokens"]] = np.log1p(away)
        r[:, f["same sentence"]] = lines == 0
        r[:, f["sentence before"]] = lines == 1
        role, kind = self.role[e], self.kind[e]
        r[:, f["was subject"]] = role == SUBJECT
        r[:, f["was object"]] = role == OBJECT
        r[:, f["was possessive"]] = role == POSSESSIVE
        r[:, f["was name"]] = kind == NAME
        r[:, f["was pronoun"]] = kind == PRONOUN
        r[:, f["was nominal"]] = kind == NOMINAL
        r[:, f["same role"]] = role == m.role
        short = self.short[e] * np.exp(-away / SHORT)
        long = self.long[e] * np.exp(-away / LONG)
        r[:, f["lately"]] = np.log1p(short)
        r[:, f["of late"]] = np.log1p(long)
        r[:, f["share lately"]] = short / (short.sum() + 0.1)
        r[:, f["share of late"]] = long / (long.sum() + 0.1)
        r[:, f["count"]] = np.log1p(np.minimum(self.count[e], MOST_COUNTED))
        k = "mfp".find(m.gender) if m.gender else -1
        if k >= 0:
            fit = self.p[e, k]
            r[:, f["gender"]] = np.log(np.maximum(fit, 0.01))
            r[:, f["gender sure"]] = fit > 0.9
        else:
            fit = np.ones(n)
        good = np.flatnonzero(fit > 0.3)
        if len(good):
            order = good[np.argsort(away[good], kind="stable")]
            r[order[0], f["nearest"]] = 1
            if len(order) > 1:
                r[order[1], f["second nearest"]] = 1
        r[np.argsort(away, kind="stable"), f["between"]] = np.log1p(np.arange(n))
        close = float(((fit > 0.3) & (away < 150)).sum())
        x[:, f["rivals"]] = close
        where = self.quote[e]
        r[:, f["same quote"]] = (where == quote) & (quote >= 0)
        r[:, f["both narration"]] = (where < 0) & (quote < 0)
        r[:, f["only quoted"]] = (where >= 0) & (quote < 0)
        since = np.stack((self.subject_at[e], self.name_at[e], self.narrated_at[e]), axis=1)
        r[:, _SINCE] = np.log1p(np.minimum(np.maximum(at - since, 0), FAR))
        r[:, f["same paragraph"]] = self.paragraph[e] == paragraph
        r[:, f["same paragraph subject"]] = self.subject_paragraph[e] == paragraph
        same, when = self.last_by_gender[m.gender if m.person == 3 else ""]
        hit = e == same
        r[:, f["last same pronoun"]] = hit
        r[:, f["since same pronoun"]] = hit * np.log1p(max(at - when, 0))
        co = (
            (self.verb[e] == verb)
            & (verb >= 0)
            & (role != POSSESSIVE)
            & (m.role != POSSESSIVE)
            & (lines == 0)
        )
        r[:, f["coargument"]] = co
        subject_verb = self.subject_verb[e]
        for v in clause.above:
            r[subject_verb == v, f["matrix subject"]] = 1
        for v in clause.beside:
            r[subject_verb == v, f["conjunct subject"]] = 1
        if m.role == POSSESSIVE:
            r[:, f["subject over possessive"]] = (subject_verb == verb) & (verb >= 0)
        main = sentence - self.main_sentence[e]
        r[:, f["main subject here"]] = main == 0
        r[:, f["main subject before"]] = main == 1
        r[:, f["in sentence"]] = np.log1p(self.in_sentence[e]) * (lines == 0)
        r[:, f["in paragraph"]] = np.log1p(self.in_paragraph[e]) * (self.paragraph[e] == paragraph)
        if self.opener[0] == paragraph:
            r[:, f["opened paragraph"]] = e == self.opener[1]
        r[:, f["coargument reflexive"]] = co & m.reflexive
        x[n, f["gender"]] = r[:, f["gender"]].max()
        x[n, f["tokens"]] = r[:, f["tokens"]].min()
        x[n, f["of late"]] = r[:, f["of late"]].max()
        return x
