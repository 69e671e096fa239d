"""Who may speak a quote and to whom, and what tells the candidates apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...words import honorifics, kin
from .clauses import NO_CLAUSE
from .discourse import Candidates
from .markables import OTHER, Markable, gender_of_noun
from .memory import Memory
from .turns import mark_last_quote, mark_turns

_CALLS = 1.0
"""What "papa" and "sir" say of who speaks (a logarithm)."""
_NO_NAME = 0.7
"""What speaks for people without a name who may have said a quote (a logarithm): the tags that were hidden to
train the rankers all named somebody."""


class Speakers:
    """The questions about quotes of a reading, whose memory is `known`; `bars` as in `Antecedents`."""

    def __init__(self, known: Memory, bars: bool) -> None:
        self._known, self._t, self._bars = known, known.t, bars

    def candidates(self, q: int) -> list[int]:
        """The entities that may speak quote `q`."""
        known, tag, a = self._known, self._t.tags[q], self._t.speech.spans[q][0]
        gender, subject = self._gender_of_tag(q), known.entity_of(tag.subject)
        ids = known.state.candidates(a, gender, most=8, reach=1500)
        for e in (
            subject,
            *known.conversation.last_speakers(a),
            known.entity_of(tag.before),
            known.entity_of(tag.after),
            *known.conversation.last_addressees(q),
        ):
            if e >= 0 and e not in ids and known.agrees(e, gender):
                ids.append(e)
        if tag.subject >= 0 and self._t.markables[tag.subject].person == 3 and self._bars:
            # "Said he": not the narrator, unless it is his name.
            teller = known.teller_near(a)
            ids = [e for e in ids if e == subject or e != teller]
        return ids

    def _gender_of_tag(self, q: int) -> str:
        """The gender of "he" or "she" in the tag of a quote; "" where it has neither."""
        subject = self._t.tags[q].subject
        if subject < 0 or self._t.markables[subject].kind != "pronoun":
            return ""
        return self._t.markables[subject].gender

    def features(self, ids: list[int], q: int) -> np.ndarray:
        """A row for each candidate, and one for nobody."""
        known, t, tag, talk = self._known, self._t, self._t.tags[q], self._known.conversation
        a, b = t.speech.spans[q]
        here = Markable(a, b, a, "quote", 3, self._gender_of_tag(q), OTHER)
        x = known.state.features(
            ids, here, int(t.parse.sentence[a]), int(t.speech.paragraph[a]), -1, NO_CLAUSE
        )
        rows = Candidates(ids, x)
        subject = known.entity_of(tag.subject)
        rows.every("tagged", tag.subject >= 0)
        rows.mark(known.narrator_at(a), "narrator")
        rows.mark(subject, "tag subject")
        if tag.subject >= 0 and t.markables[tag.subject].kind == "name":
            rows.mark(subject, "tag by name")
        last, before = talk.last_speakers(a)
        rows.mark(last, "last speaker")
        rows.mark(before, "speaker before")
        if talk.answers(q):
            rows.every("answers")
            rows.mark(last, "answers and last speaker")
            rows.mark(before, "answers and speaker before")
        # What is named inside is no longer ahead.
        known.mark_namings(rows, Markable(b, b, b, "quote", 3, "", OTHER))
        mark_last_quote(known, rows, q)
        rows.mark(known.entity_of(tag.before), "subject before")
        rows.mark(known.entity_of(tag.after), "subject after")
        mark_turns(known, rows, q)
        self._mark_named(rows, q)
        rows.mark(known.entity_of(tag.object), "tag object")
        spoke = talk.recent_speakers()
        for e in ids:
            rows.mark(e, "unheard", e not in spoke)
        return x

    def _mark_named(self, rows: Candidates, q: int) -> None:
        """Who is called or named in the quote, and whom the quote before spoke to and called."""
        known, t, talk = self._known, self._t, self._known.conversation
        for k in t.tags[q].vocatives:
            rows.mark(known.entity[k], "vocative here")
        for e in talk.last_addressees(q):
            rows.mark(e, "addressee before")
        if q and talk.goes_on(q):
            for k in t.tags[q - 1].vocatives:
                rows.mark(known.entity[k], "vocative before")
        for k in known.within_quote(q):
            if t.markables[k].kind == "name":
                rows.mark(known.entity[k], "named in quote")

    def lean_to_nameless(self, ids: Sequence[int]) -> np.ndarray:
        """What speaks against each of the cast (a logarithm each)."""
        return np.array([-_NO_NAME * (self._bars and e < len(self._t.people)) for e in ids])

    def lean_of_calls(self, turn: Sequence[int], ids: list[int]) -> np.ndarray:
        """What the words by which a turn calls somebody say of who speaks it: "papa" is said by who has a
        father in the book, "sir" by a woman where only one man talks."""
        known = self._known
        lean, male = np.zeros(len(ids)), known.state.p[ids, 0]
        talking = known.conversation.last_speakers(self._t.speech.spans[turn[0]][0])
        for k in (k for q in turn for k in self._t.tags[q].vocatives):
            m = self._t.markables[k]
            if m.kind == "name":
                continue
            if m.noun in kin.KIN:
                meant = [known.kin.who_is(e, m.noun) for e in ids]
                lean += [_CALLS * ((who in ids) - (e in meant)) for e, who in zip(ids, meant, strict=True)]
            gender = gender_of_noun(m.noun) or honorifics.honorific_gender(m.noun)
            of = male if gender == "m" else 1 - male
            fits = [n for n, e in enumerate(ids) if gender and e in talking and of[n] > 0.5]
            if len(fits) == 1:
                lean[fits[0]] -= _CALLS
        return lean

    def addressees(self, q: int, quotes: range) -> tuple[int, ...]:
        """Whom quote `q` of a paragraph with these `quotes` is spoken to: who is called in it, the object of
        its tag, who is called in another quote of the turn, the nearest first, or the other one in the
        conversation."""
        known, tags, talk = self._known, self._t.tags, self._known.conversation
        speaker = known.spoken[q].speaker
        others = (self._called_in(k) for k in self._rest_of_turn(q, quotes))
        for called in (self._called_in(q), [known.entity_of(tags[q].object)], *others):
            if told := tuple(dict.fromkeys(e for e in called if e >= 0 and e != speaker)):
                return told
        last, before = talk.last_speakers(self._t.speech.spans[q][0])
        other = last if last != speaker else before
        if other >= 0 and other != speaker:
            return (other,)
        if q and talk.goes_on(q) and known.spoken[q - 1].speaker == speaker:
            return known.spoken[q - 1].addressees
        follower = talk.named_ahead(q, 1)
        return (follower,) if follower >= 0 and follower != speaker else ()

    def _rest_of_turn(self, q: int, quotes: range) -> Iterator[int]:
        """The other quotes of a turn that may call somebody, the nearest first."""
        known, t = self._known, self._t
        for k in sorted(quotes, key=lambda k: (abs(k - q), k)):
            if k != q and known.spoken[k].speaker == known.spoken[q].speaker:
                a, b = t.speech.spans[k]
                words = t.book.tokens[a:b]
                # "Dr. Bull!" alone may be amazement.
                amazed = words[-1] in ("!", "?") and not any(map(str.islower, words))
                if known.conversation.are_one_turn(k, q) and not amazed:
                    yield k

    def _called_in(self, q: int) -> list[int]:
        """The entities whose names are vocatives in quote `q`."""
        ms = self._t.markables
        return [self._known.entity[k] for k in self._t.tags[q].vocatives if ms[k].kind == "name"]
