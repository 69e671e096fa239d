"""What one reading of a text knows so far: whom each place meant, who spoke, whose kin is whose."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from math import log1p

from ...words import kin
from ..narration import Narration
from . import lexicon as lex
from .conversation import Conversation
from .discourse import INDEX, Candidates, Discourse
from .kinship import Kin
from .markables import SUBJECT, Markable
from .namings import FEATURES as OF_NAMINGS
from .namings import Namings, identity
from .phrases import NounPhrases
from .saying import bare_word
from .text import Text

LEAST_GENDER = 0.04
"""Least probability of a gender that somebody may have."""
_BEFORE_CITED = 8
"""Tokens before words that somebody cites in which he says whose they are."""
_TELLS = 200
"""Tokens to either side of an "I" of the narration in which "he" is not its narrator."""
_AHEAD = 1000
"""Tokens after which it no longer matters where somebody is named next."""
_OF_NAMINGS = slice(INDEX[OF_NAMINGS[0]], INDEX[OF_NAMINGS[-1]] + 1)


class Memory:
    """What is known of the text `t` while it is read. People are entities: those of `t` first (the cast, as
    far as a reading goes), then others as they turn up.

    `entity` has the entity of every markable (-1: not known), `by_head` the markable of a head, `spoken` who
    speaks each quote, `state` who is on the reader's mind, `phrases` the noun phrases that were read,
    `namings` where names are.
    """

    def __init__(self, text: Text, narration: Sequence[Narration]) -> None:
        self.t = text
        self.state = Discourse(len(text.people), *text.genders)
        self.narration = tuple(narration)
        self._narration_starts = [n.start for n in self.narration]
        known = sum(n.end - n.start for n in self.narration) >= len(text.book.tokens)
        self._unknown_narrator = -1 if known else self.state.add("", "narrator")
        self.conversation = Conversation(text.book.tokens, text.speech, text.tags, text.markables)
        self.spoken = self.conversation.spoken
        self.entity = [-1] * len(text.markables)
        self.kin = Kin(text.people, text.genders[0])
        self.phrases = NounPhrases()
        self.namings = Namings(text.speech, text.markables, text.called)
        self._outsiders: dict[object, int] = {}
        self._identity: dict[int, object] = {}
        self.by_head = {m.head: k for k, m in enumerate(text.markables)}
        self._starts = [m.at for m in text.markables]
        self._tells = [m.at for m in text.markables if m.gender != "p" and text.is_tellers(m)]

    def within(self, start: int, end: int) -> range:
        """The markables from token `start` to before token `end`."""
        return range(bisect_left(self._starts, start), bisect_left(self._starts, end))

    def within_quote(self, q: int) -> range:
        """The markables of a quote."""
        a, b = self.t.speech.spans[q]
        return self.within(a, b + 1)

    def entity_of(self, k: int) -> int:
        """The entity of a markable, also of a name further on that is known already; -1 for none."""
        if k < 0:
            return -1
        return self.entity[k] if self.entity[k] >= 0 else self.t.markables[k].character

    def owner(self, m: Markable) -> int:
        """Whose a noun phrase is ("her brother"), as an entity; -1 for nobody's."""
        if m.owner < 0:
            # "Mamma is ill": the speaker's.
            own = (
                m.kind == "nominal" and m.definite == "" and (m.noun in kin.MOTHERS or m.noun in kin.FATHERS)
            )
            q = int(self.t.speech.quote[m.at])
            return self.spoken[q].speaker if own and q >= 0 else -1
        return self.entity_of(self.by_head.get(m.owner, -1))

    def outsider(self, m: Markable) -> int:
        """The entity of a person who is named but not in the cast, one per surname or name."""
        key = identity(m)
        if key not in self._outsiders:
            self._outsiders[key] = self.state.add(m.gender, "")
            self._identity[self._outsiders[key]] = key
        return self._outsiders[key]

    def crowd(self, noun: str) -> int:
        """The entity of "the soldiers", one per noun."""
        if ("p", noun) not in self._outsiders:
            self._outsiders["p", noun] = self.state.add("p", noun)
        return self._outsiders["p", noun]

    def agrees(self, e: int, gender: str) -> bool:
        """Whether an entity may have this gender."""
        return not gender or self.state.p[e, "mfp".index(gender)] >= LEAST_GENDER

    def narrator_at(self, at: int) -> int:
        """The entity that says "I" outside quotes at token `at`."""
        k = bisect_right(self._narration_starts, at) - 1
        if k >= 0 and at < self.narration[k].end:
            return self.narration[k].narrator
        return self._unknown_narrator

    def teller_near(self, at: int) -> int:
        """The narrator, where the narration says "I" near token `at`; -1 elsewhere."""
        k = bisect_left(self._tells, at - _TELLS)
        near = k < len(self._tells) and self._tells[k] <= at + _TELLS
        return self.narrator_at(at) if near else -1

    def cited_at(self, at: int) -> int:
        """The first token of what is cited at token `at` inside a quote; 0 where nothing is."""
        k = bisect_right(self.t.speech.inner, (at, at)) - 1
        a, b = self.t.speech.inner[k] if k >= 0 else (0, -1)
        return a if at <= b else 0

    def who_says(self, at: int, q: int) -> int:
        """Who is "I" at token `at` of quote `q`: its speaker, but in words that he cites whoever said them
        ("She said, 'I am tired.'"); -1 where that is not said."""
        cited = self.cited_at(at)
        if not cited:
            return self.spoken[q].speaker
        for k in reversed(self.within(max(cited - _BEFORE_CITED, self.t.speech.spans[q][0]), cited)):
            verb = self.t.clauses[k].verb
            said = self.t.markables[k].role == SUBJECT and 0 <= verb < cited
            if said and bare_word(self.t.book, verb) in lex.SPEECH_VERBS:
                return self.entity[k]
        return -1

    def mark_namings(self, rows: Candidates, m: Markable) -> None:
        """Where the book names each candidate, also after this place: a reader's eye runs ahead, too."""
        if not rows.ids:
            return
        x, parse, speech, here = rows.x, self.t.parse, self.t.speech, m.at
        whom = [e if e < self.state.cast else self._identity.get(e, "") for e in rows.ids]
        x[: len(whom), _OF_NAMINGS] = self.namings.features(whom, here)
        for n, who in enumerate(whom):
            place = self.namings.next_after(who, here)
            away = place - here if place >= 0 else _AHEAD
            x[n, INDEX["named ahead"]] = log1p(min(away, _AHEAD))
            if away < _AHEAD:
                x[n, INDEX["named ahead in paragraph"]] = speech.paragraph[place] == speech.paragraph[here]
                x[n, INDEX["named ahead in sentence"]] = parse.sentence[place] == parse.sentence[here]
