"""Read a book once from left to right and say of every pronoun, phrase and quote whom it means.

Paragraph by paragraph: first the narration (names are known, pronouns and noun phrases are ranked), then
who speaks each quote and to whom, then what is said inside ("I" is the speaker, "you" the addressee, the
rest is ranked). Decisions feed the discourse state that the next decisions look at.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import log1p
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ...books import Book
from ...words import honorifics, kin
from ..cast import split_range
from ..narration import Narration
from . import lexicon as lex
from .clauses import NO_CLAUSE, Clause, clause_of, is_heard
from .conversation import Conversation, Spoken
from .couples import find_couples
from .discourse import INDEX, Discourse
from .markables import OTHER, SUBJECT, Markable, gender_of_noun, is_person_noun, is_vocative
from .names import Person
from .namings import FEATURES as OF_NAMINGS
from .namings import Namings, identity
from .network import Ranker
from .parsing import Parse
from .phrases import FEATURES as OF_PHRASES
from .phrases import NounPhrases, find_callings, living, phrase_of
from .quotes import Speech
from .saying import bare_word
from .tags import Tag, find_tags
from .voices import Voices

if TYPE_CHECKING:
    from .scenes import Guesses

Mark = Callable[..., None]
"""Sets a feature of a candidate: the entity, the name of the feature, and a value where it is not 1."""
_INTERRUPTION = 15
"""Most tokens of narration inside one turn where paragraphs are guessed."""
_MOST_OTHERS, _CHANCE = 3, 0.02
"""Candidates that are kept beside the chosen one, and the least probability of one."""
_ON_SCENE, _EXPLAINED = 150, 130
"""Tokens for which somebody who was mentioned stays on the scene, and those within which a book says who a
speaker is whom it has only described."""
_CALLS = 1.0
"""What "papa" and "sir" say of who speaks (a logarithm)."""
_NO_NAME = 0.7
"""What speaks for people without a name who may have said a quote (a logarithm): the tags that were hidden to
train the rankers all named somebody."""
_BY_TITLE = 0.9
"""Score of a wife whom the cast calls so: Mrs. Hill is the wife of Mr. Hill."""
_KNOWN = frozenset(["the", "this"])
_SAME_PHRASE, _RECALLED = 4000, 2.0
"""Tokens to either side in which a phrase of the earlier reading tells whom it means here, and what it
says if it always meant one person (a logarithm)."""
_BEFORE_CITED = 8
"""Tokens before words that somebody cites in which he says whose they are."""
_TELLS = 200
"""Tokens to either side of an "I" of the narration in which "he" is not its narrator."""
_BESIDE = 6
"""Markables beside a pronoun among which those of its clause are looked for."""
_SAME_ONE = frozenset(["appos", "attr", "npadvmod", "conj"])
"""Relations of a name that may be the subject's own, or belongs to another verb."""
_OBJECTS, _TO = frozenset(["dobj", "dative"]), frozenset(["to", "at", "of", "for", "upon"])
_AHEAD = 1000
"""Tokens after which it no longer matters where somebody is named next."""
_GOES_ON, _REPLIES = lex.words("GOES_ON"), lex.words("REPLIES")
_OF_NAMINGS = slice(INDEX[OF_NAMINGS[0]], INDEX[OF_NAMINGS[-1]] + 1)
_OF_PHRASES = slice(INDEX[OF_PHRASES[0]], INDEX[OF_PHRASES[-1]] + 1)
_SURELY_YOUNG = 3
"""Times that somebody was called a boy or a child, and no less often than a man, that make him no man."""
_BOY = 3
"""What "boy" or "child" counts more than "man": men are seldom called so, women are called girls."""
_OFTEN_MISS, _SELDOM = 3, 0.1
"""Times that "Miss" makes somebody no mother, and how often she may be "Mrs." for each of them."""
NOBODY = -1
"""In the answers of the language model: nobody of the cast."""
_POINTED, _LEAST_POINTED = 0.3, -4.0
"""What the logarithms count by which a language model points at people beside those of the rankers (best of
0.2, 0.3, 0.5 and 1 on seven novels of PDNC), and the least of one."""
_FADES, _STRANGER = 0.8, 0.3
"""What a vote on somebody's kin weighs after the next one, and what one for somebody outside the cast weighs:
that is often one of the cast who was not recognised."""
SURE, _SURE_BESIDE = 0.9, 0.947
"""Least score of a line that teaches how somebody talks, and of one that takes its speaker from another."""
_SURE_RULES = frozenset(["said by name", "said by pronoun", "said by noun", "same paragraph"])
_KEPT_KIN, _LEAST_KIN = 0.5, 0.2
"""Share of its votes that a tie of kin keeps in the next reading, and the least votes that it must have."""


class Teacher(Protocol):
    """Knows the answers while the rankers are trained; see `training.teach`."""

    def choose(self, kind: str, ids: list[int], x: np.ndarray, key: object, model: int) -> int: ...

    def settled(self, key: object, entity: int) -> None: ...


@dataclass(slots=True)
class Decision:
    """Markable `index` means cast member `character` by `rule`, with the ranker's probability.

    `others` are the next best members of the cast with theirs.
    """

    index: int
    character: int
    rule: str
    score: float
    others: tuple[tuple[int, float], ...] = ()


@dataclass(slots=True)
class Text:
    """A book prepared for reading: everything that does not depend on decisions.

    `beats` are the subjects beside quotes without a tag, `called` the names and nouns in quotes that call
    somebody (markables), `nouns` says who of the cast is called by a mere noun ("The Lad"), `notes` what
    of the cast the text contradicts.
    """

    book: Book
    parse: Parse
    speech: Speech
    markables: list[Markable]
    tags: list[Tag]
    people: list[Person]
    genders: tuple[np.ndarray, np.ndarray, np.ndarray]
    clauses: list[Clause] = field(default_factory=list)
    beats: frozenset[int] = frozenset()
    called: frozenset[int] = frozenset()
    nouns: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def is_tellers(self, m: Markable) -> bool:
        """Whether a markable is an "I", "my" or "we" of the narration."""
        return m.kind == "pronoun" and m.person == 1 and bool(self.speech.quote[m.at] < 0)


def prepare(
    book: Book, parse: Parse, speech: Speech, markables: list[Markable], people: list[Person],
    genders: tuple[np.ndarray, np.ndarray, np.ndarray], nouns: Mapping[str, int],
) -> Text:  # fmt: skip
    """Find tags, clauses and beats once."""
    for m in markables:
        if speech.quote[m.at] >= 0 and m.noun in lex.PLAIN_VOCATIVES and is_vocative(book, m):
            # "Sir" means whom "you" means.
            m.person, m.gender = 2, ""
    tags = find_tags(book, parse, speech, markables)
    clauses = [clause_of(parse, m) for m in markables]
    beats = frozenset(k for t in tags if t.subject < 0 for k in (t.after, t.before) if k >= 0)
    called = frozenset(k for k, m in enumerate(markables) if speech.quote[m.at] >= 0 and is_vocative(book, m))
    return Text(book, parse, speech, markables, tags, people, genders, clauses, beats, called, nouns)


_AGES = lex.CHILDREN | lex.GROWN


def fits_age(person: Person, called: Mapping[str, int], noun: str) -> bool:
    """Whether a noun fits somebody's age: a child is no gentleman, and Mrs. Hale no girl.

    `called` says how often each noun for an age was read as this person.
    """
    if noun in lex.CHILDREN:
        return honorifics.MARRIED.isdisjoint(person.titles)
    if noun not in lex.GROWN:
        return True
    young, old = (sum(called.get(n, 0) for n in nouns) for nouns in (lex.CHILDREN, lex.GROWN))
    small = young - sum(called.get(noun, 0) for noun in lex.GIRLS)
    return young < _SURELY_YOUNG or old > young + _BOY * small


_NO_ROLES = (
    kin.KIN | lex.CHILDREN | lex.GROWN | {"master", "lord", "lady", "sir", "madam", "mistress", "miss", "one"}
)


def roles_of(person: Person) -> set[str]:
    """The titles and nouns before somebody's names: "chief" in "Chief Joseph", "elder" in "the Elder"; not
    "aunt" or "lady", as which many go."""
    roles = {*person.titles}
    for name in (person.entry.name, *person.entry.aliases):
        words = [word.strip(".") for word in split_range(name)[0].lower().split()]
        titles = words[1:] if words[:1] == ["the"] else words[:-1]
        roles |= {w for w in titles if is_person_noun(w) or w in lex.TITLE_NOUNS.values()} - _NO_ROLES
    return roles - lex.FIRST_NAMES


class OneReading:
    """One reading of one text. `read` returns the decisions; `spoken` then tells of every quote.

    `fixed` are decisions of earlier steps (markable index -> character, -1 for somebody else), `told` the
    speaker and addressees of quotes (by the number of the quote); both are taken as they are.
    """

    def __init__(
        self, text: Text, rankers: Mapping[str, Ranker], *, narration: Sequence[Narration] = (),
        fixed: Mapping[int, int] | None = None,
        told: Mapping[int, tuple[int, tuple[int, ...]]] | None = None,
        thresholds: Mapping[str, float] | None = None, always_somebody: bool = False,
        teacher: Teacher | None = None, earlier: OneReading | None = None, scenes: Guesses | None = None,
    ) -> None:  # fmt: skip
        self.t = text
        self.rankers = rankers
        self.fixed = fixed or {}
        self.told = told or {}
        self.thresholds = thresholds or {}
        self.always_somebody = always_somebody
        self.teacher = teacher
        # Whom grammar rules out; rankers that never see such people learn less.
        self.bars = teacher is None
        self.state = Discourse(len(text.people), *text.genders)
        self.narration = tuple(narration)
        self._narration_starts = [n.start for n in self.narration]
        known = sum(n.end - n.start for n in self.narration) >= len(text.book.tokens)
        self._unknown_narrator = -1 if known else self.state.add("", "narrator")
        self.conversation = Conversation(text.book.tokens, text.speech, text.tags, text.markables)
        self.spoken = self.conversation.spoken
        self.decisions: list[Decision] = []
        self.entity = [-1] * len(text.markables)
        self.maybe: dict[int, tuple[tuple[int, float], ...]] = {}
        self.kin: dict[tuple[int, str], dict[int, float]] = defaultdict(dict)
        self.phrases = NounPhrases()
        self._meant: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self.others: dict[object, int] = {}
        self.namings = Namings(text.speech, text.markables, text.called)
        self._key: dict[int, object] = {}
        self._relatives: dict[str, list[int]] = defaultdict(list)
        self._titled: dict[str, list[int]] = defaultdict(list)
        for e, person in enumerate(text.people):
            self._relatives[person.family].append(e)
            for role in roles_of(person):
                self._titled[role].append(e)
        self._by_head = {m.head: k for k, m in enumerate(text.markables)}
        self._starts = [m.at for m in text.markables]
        self._named = {m.character for m in text.markables if m.kind == "name"}
        self._named -= {e for e, person in enumerate(text.people) if person.common}
        self._tagged = {tag.subject for tag in text.tags}
        self._scenes = scenes
        self._tells = [m.at for m in text.markables if m.gender != "p" and text.is_tellers(m)]
        self._heard = {k for k, m in enumerate(text.markables) if is_heard(text.parse, m)}
        self._bridges = self._find_bridges()
        self._callings = self._find_callings()
        self._unmarried = self._find_unmarried()
        self._couples = find_couples(text.people)
        self._voices = Voices(text.book, text.speech.spans, earlier.sure_lines()) if earlier else None
        if earlier:
            self._take_over(earlier)

    def sure_lines(self) -> dict[int, int]:
        """The quotes that surely are a character's: number of the quote -> character."""
        return {
            q: s.speaker
            for q, s in enumerate(self.spoken)
            if 0 <= s.speaker < self.state.cast
            and s.rule in _SURE_RULES
            and s.score >= (_SURE_BESIDE if s.like else SURE)
        }

    def _take_over(self, earlier: OneReading) -> None:
        """Know from the start whose kin was whose in an earlier reading (one vote for the best of each, which
        what is read now can outvote), and whom each noun phrase meant."""
        cast = self.state.cast
        for m, e in zip(self.t.markables, earlier.entity, strict=True):
            if m.kind == "nominal" and m.definite in _KNOWN and 0 <= e < cast:
                self._meant[phrase_of(m)].append((m.at, e))
        for (owner, noun), votes in earlier.kin.items():
            who = max(votes, key=lambda e: votes[e])
            if max(owner, who) < cast and votes[who] >= _LEAST_KIN:
                self.kin[owner, noun][who] = _KEPT_KIN * votes[who]

    # --- the walk -----------------------------------------------------------------------------------------

    def read(self) -> list[Decision]:
        """Read everything; decisions in the order in which they were taken."""
        at = q = 0
        ms, speech = self.t.markables, self.t.speech
        quote_paragraphs = [int(speech.paragraph[a]) for a, _ in speech.spans]
        while at < len(ms) or q < len(speech.spans):
            now = min(
                int(speech.paragraph[ms[at].at]) if at < len(ms) else 1 << 30,
                quote_paragraphs[q] if q < len(speech.spans) else 1 << 30,
            )
            end = at
            while end < len(ms) and speech.paragraph[ms[end].at] == now:
                end += 1
            q_end = q
            while q_end < len(speech.spans) and quote_paragraphs[q_end] == now:
                q_end += 1
            self._paragraph(range(at, end), range(q, q_end))
            at, q = end, q_end
        return self.decisions

    def _paragraph(self, markables: Sequence[int], quotes: range) -> None:
        quote_of, ms = self.t.speech.quote, self.t.markables
        inner = []
        subjects = {self.t.tags[q].subject: q for q in quotes if self.t.tags[q].subject >= 0}
        for i in markables:
            if quote_of[ms[i].at] >= 0 and ms[i].kind != "name":
                inner.append(i)
            else:
                self._refer(i, tag=subjects.get(i, -1))
        self._speakers(quotes)
        for i in inner:
            self._refer(i)

    # --- references ---------------------------------------------------------------------------------------

    def _refer(self, i: int, tag: int = -1) -> None:
        m = self.t.markables[i]
        q = int(self.t.speech.quote[m.at])
        if i in self.fixed:
            # Somebody who is not in the cast is somebody all the same.
            known = self.fixed[i] if self.fixed[i] >= 0 else self.state.add(m.gender, m.noun)
            self._settle(i, known, "", 1.0)
        elif m.kind == "name":
            self._settle(i, m.character if m.character >= 0 else self._other(m), "", 1.0)
        elif m.kind == "plural":
            if ("p", m.noun) not in self.others:
                self.others["p", m.noun] = self.state.add("p", m.noun)
            self._settle(i, self.others["p", m.noun], "", 1.0)
        elif m.kind == "nominal" and m.person == 3:
            self._rank(i, "nominal", q, tag)
        elif m.person == 3:
            self._rank(i, "third", q, tag)
        elif m.person == 1:
            if q < 0:
                self._settle(i, self.narrator_at(m.at), "narrator", 0.9)
            elif (who := self._who_says(m.at, q)) >= 0:
                self._settle(i, who, "speaker of the quote", self.spoken[q].score)
        elif q >= 0 and not self._cited_at(m.at):
            self._rank(i, "second", q, tag)

    def _cited_at(self, at: int) -> int:
        """The first token of what is cited at token `at` inside a quote; 0 where nothing is."""
        k = bisect_right(self.t.speech.inner, (at, at)) - 1
        a, b = self.t.speech.inner[k] if k >= 0 else (0, -1)
        return a if at <= b else 0

    def _who_says(self, at: int, q: int) -> int:
        """Who is "I" at token `at` of quote `q`: its speaker, but in words that he cites whoever said them
        ("She said, 'I am tired.'"); -1 where that is not said."""
        cited = self._cited_at(at)
        if not cited:
            return self.spoken[q].speaker
        first = bisect_left(self._starts, max(cited - _BEFORE_CITED, self.t.speech.spans[q][0]))
        for k in reversed(range(first, bisect_left(self._starts, cited))):
            verb = self.t.clauses[k].verb
            said = self.t.markables[k].role == SUBJECT and 0 <= verb < cited
            if said and bare_word(self.t.book, verb) in lex.SPEECH_VERBS:
                return self.entity[k]
        return -1

    def narrator_at(self, at: int) -> int:
        """The entity that says "I" outside quotes at token `at`."""
        k = bisect_right(self._narration_starts, at) - 1
        if k >= 0 and at < self.narration[k].end:
            return self.narration[k].narrator
        return self._unknown_narrator

    def _teller_near(self, at: int) -> int:
        """The narrator, where the narration says "I" near token `at`; -1 elsewhere."""
        k = bisect_left(self._tells, at - _TELLS)
        near = k < len(self._tells) and self._tells[k] <= at + _TELLS
        return self.narrator_at(at) if near else -1

    def _other(self, m: Markable) -> int:
        """The entity of a person who is named but not in the cast, one per surname or name."""
        key = identity(m)
        if key not in self.others:
            self.others[key] = self.state.add(m.gender, "")
            self._key[self.others[key]] = key
        return self.others[key]

    def _rank(self, i: int, kind: str, q: int, tag: int) -> None:
        m = self.t.markables[i]
        described = tag >= 0 and kind == "nominal"
        if described and m.definite == "a" and (newcomer := self._newcomer(tag, m)) >= 0:
            self._settle(i, newcomer, "", 1.0)
            return
        if kind == "nominal" and (spouse := self._spouse(i)) >= 0:
            self._settle(i, spouse, kind, _BY_TITLE)
            return
        ids = self._reference_candidates(i, kind, q)
        bearer = self._bearer_of_noun(m) if kind == "nominal" else -1
        if bearer >= 0:
            ids = [bearer, *(e for e in ids if e in self._named and e != bearer)]
        x = self._reference_features(ids, i, kind, q, tag)
        name = kind
        if kind == "third":
            name = "they" if m.gender == "p" else "third in a quote" if q >= 0 else kind
        elif kind == "nominal" and q >= 0:
            name = "nominal in a quote"
        # "Replied the other": one of those on the scene.
        on_scene = tag >= 0 and m.noun == "other" and m.definite == "the"
        lean = None
        if recalled := self._recall(m):
            lean = np.array([_RECALLED * recalled[e] / (recalled.total() + 2) for e in ids])
        if tag >= 0 and kind == "third" and self._voices:
            # "Said he": one of them talks so.
            lean = self._voices.lean(self.conversation.turn_of(tag), ids)
        pointed = self._pointed_at(i, kind, q)
        row, p = self._decide(kind, ids, x, i, name, somebody=on_scene, lean=lean, pointed=pointed)
        score, others = float(p[row]), self._others(ids, p, row)
        self.maybe[i] = others
        apposed = self._apposed(i) if kind == "nominal" else -1
        if row < len(ids) and (ids[row] < self.state.cast or apposed < 0):
            self._settle(i, ids[row], kind, score, others)
        elif bearer >= 0:
            self._settle(i, bearer, kind, score)
        elif kind == "nominal":
            e = apposed if apposed >= 0 or not described or m.definite == "a" else self._newcomer(tag, m)
            self._settle(i, e if e >= 0 else self.state.add(m.gender, m.noun), "", score)
        elif self.teacher:
            self.teacher.settled(i, -1)

    def _recall(self, m: Markable) -> Counter[int]:
        """Whom the same phrase meant how often at other places around this one, in the earlier reading: "the
        old lady" is Mrs. Bedwin before the book names her."""
        places = self._meant.get(phrase_of(m), ()) if m.definite in _KNOWN else ()
        return Counter(e for at, e in places if 0 < abs(at - m.at) <= _SAME_PHRASE)

    def _bearer_of_noun(self, m: Markable) -> int:
        """Who of the cast has "the lad" for a name, if he has no other; -1 for nobody."""
        bare = m.definite == "the" and m.start + 1 == m.head == m.end
        return self.t.nouns.get(m.noun, -1) if bare else -1

    def _spouse(self, i: int) -> int:
        """The husband or wife whom a phrase means by the name beside it ("Anna Hill, his wife"), or by the
        names of the cast where nothing that was read says who it is; -1 for nobody. A teacher is asked
        instead."""
        m = self.t.markables[i]
        if self.teacher or m.noun not in ("wife", "husband"):
            return -1
        owner = self._owner(m)
        if beside := self._bridges.get(i):
            named = [k for k, why in beside if why == "apposed" and self.t.markables[k].kind == "name"]
            apposed = self._entity(named[0]) if named else -1
            return apposed if apposed != owner and self._agrees(apposed, m.gender) else -1
        known, spouse = self._kin_of(owner, m.noun), self._couples.get(owner, -1)
        other = known != spouse and 0 <= known < self.state.cast
        return -1 if other or not self._agrees(spouse, m.gender) else spouse

    def _apposed(self, i: int) -> int:
        """Whose name stands beside a phrase that is no mention of its own ("Eeyore, the old grey donkey"), so
        that "the donkey" is known from there; -1 for nobody. A teacher is asked instead."""
        m, ms = self.t.markables[i], self.t.markables
        for k, why in self._bridges.get(i, ()) if not self.teacher else ():
            apart = max(m.start, ms[k].start) - min(m.end, ms[k].end) > 2
            if why == "apposed" and ms[k].kind == "name" and k not in self.t.called and not apart:
                return self._entity(k) if self._agrees(self._entity(k), m.gender) else -1
        return -1

    def _newcomer(self, q: int, m: Markable) -> int:
        """Who is named right after quote `q`, and was not on the scene before: "said a voice" is explained at
        once ("It was Anna", "Oh, good night, Anna"); -1 for nobody. A teacher is asked instead."""
        if self.teacher:
            return -1
        a, b = self.t.speech.spans[q]
        ms, quote = self.t.markables, self.t.speech.quote
        before = range(bisect_left(self._starts, a - _ON_SCENE), bisect_left(self._starts, a))
        reply = next(iter(self.conversation.next_turns(q, 1)), range(0))
        known = {self.entity[k] for k in before if quote[ms[k].at] < 0}
        voice = m.noun in lex.VOICES
        # Who answers is somebody else.
        known |= {self._entity(self.t.tags[n].subject) for n in reply}
        for k in range(bisect_right(self._starts, b), bisect_right(self._starts, b + _EXPLAINED)):
            who = ms[k].character
            if who < 0 or ms[k].kind != "name" or (quote[ms[k].at] >= 0 and k not in self.t.called):
                continue
            plain = voice or self._is_plainly_meant(k, q, reply)
            if plain and who not in known and self._agrees(who, m.gender):
                return who
        return -1

    def _is_plainly_meant(self, k: int, q: int, reply: range) -> bool:
        """Whether name `k` behind quote `q` may explain "the clerk", who is mostly somebody without a name:
        the reply calls him by it, or it is the subject of the narration beside."""
        m = self.t.markables[k]
        inside = int(self.t.speech.quote[m.at])
        if inside >= 0:
            return inside in reply
        paragraphs = self.t.speech.paragraph
        beside = paragraphs[m.at] - paragraphs[self.t.speech.spans[q][1]] <= 1
        return bool(m.role == SUBJECT and beside and k not in self._tagged)

    def _others(self, ids: list[int], p: np.ndarray, row: int) -> tuple[tuple[int, float], ...]:
        """The next best candidates of the cast, those with a chance at all."""
        left = [n for n, e in enumerate(ids) if n != row and e < self.state.cast and p[n] >= _CHANCE]
        left.sort(key=lambda n: -p[n])
        return tuple((ids[n], round(float(p[n]), 3)) for n in left[:_MOST_OTHERS])

    def _reference_candidates(self, i: int, kind: str, q: int) -> list[int]:
        """The entities that a pronoun or noun phrase may mean."""
        m = self.t.markables[i]
        gender = m.gender
        if kind == "second":
            gender = gender_of_noun(m.noun) or honorifics.honorific_gender(m.noun)
        ids = self.state.candidates(m.at, gender)
        talking = (*self.spoken[q].addressees, self.spoken[q].speaker) if q >= 0 else ()
        for e in (*talking, *self._bridged(i, kind)):
            if e >= 0 and e not in ids and self._agrees(e, gender):
                ids.append(e)
        if q < 0 and self.bars:
            # Who tells the story is "I" in it.
            teller = self._teller_near(m.at)
            ids = [e for e in ids if e != teller]
        if kind == "third" and self.bars:
            others = self._named_beside(i)
            ids = [e for e in ids if e not in others] or ids
        if kind == "third" and i in self._heard and not m.reflexive:
            # "Anna heard her say": not herself. Where nobody else is left, the parse is not believed.
            verb = self.t.clauses[i].verb
            ids = [e for e in ids if self.state.subject_verb[e] != verb] or ids
        if kind == "nominal":
            # Nobody is his own brother.
            owner = self._owner(m)
            ids = [e for e in ids if e != owner and self._may_be_called(e, i)]
        if q >= 0 and (kind == "second" or (kind == "nominal" and i in self.t.called)):
            # Nobody says "you" or "my dear" to himself.
            ids = [e for e in ids if e != self.spoken[q].speaker]
        return ids

    def _named_beside(self, i: int) -> set[int]:
        """Who is named in the clause of a pronoun and is not meant by it: Anna in "she took Anna's hand",
        "she wished that Anna would go" and "Anna spoke to her" (binding principles B and C)."""
        ms, m, parse, clauses = self.t.markables, self.t.markables[i], self.t.parse, self.t.clauses
        verb, dep, quote = clauses[i].verb, parse.dep[m.head], self.t.speech.quote
        near: Iterator[int] = iter(())
        if verb >= 0 and m.role == SUBJECT:
            behind = range(i + 1, min(i + _BESIDE, len(ms)))
            clear = (k for k in behind if parse.dep[ms[k].head] not in _SAME_ONE)
            near = (
                k for k in clear
                if verb in clauses[k].above or (clauses[k].verb == verb and ms[k].role != SUBJECT)
            )  # fmt: skip
        elif verb >= 0 and not m.reflexive:
            # "She looked about her" is herself.
            to = dep == "pobj" and self.t.book.tokens[int(parse.head[m.head])].lower() in _TO
            before = range(max(0, i - _BESIDE), i if to or dep in _OBJECTS else 0)
            near = (k for k in before if clauses[k].verb == verb and ms[k].role == SUBJECT)
        return {ms[k].character for k in near if ms[k].kind == "name" and quote[ms[k].at] == quote[m.at]}

    def _may_be_called(self, e: int, i: int) -> bool:
        """Whether a phrase may mean somebody with a name: "the surgeon" only if the book says somewhere that
        he is one, and not by "a surgeon came", which is somebody new."""
        m = self.t.markables[i]
        if e >= self.state.cast:
            return True
        if m.noun in kin.MOTHERS and e in self._unmarried:
            return False
        called = {noun: self.phrases.called(noun).get(e, 0) for noun in _AGES} if m.noun in _AGES else {}
        if not fits_age(self.t.people[e], called, m.noun):
            return False
        if any(self._entity(k) == e for k, _ in self._bridges.get(i, ())):
            return True
        outside = self.t.speech.quote[m.at] < 0
        if m.which and outside:
            # Who has a name is not told from others by his waistcoat.
            return e in self.phrases.called_all(m)
        if m.definite == "a" and outside and (m.role == SUBJECT or i in self._tagged):
            return False
        bearers = self._bearers(m.noun)
        if m.definite not in ("the", "this") or not (bearers or m.noun in lex.CALLINGS):
            return True
        return e in bearers or living(m.noun) in self._callings[e]

    def _bearers(self, noun: str) -> list[int]:
        """The characters among whose names the noun or its title is: "the chief" is Chief Umatilla."""
        return self._titled.get(noun) or self._titled.get(lex.TITLE_NOUNS.get(noun, ""), [])

    def _reference_features(self, ids: list[int], i: int, kind: str, q: int, tag: int) -> np.ndarray:
        m, t = self.t.markables[i], self.t
        x = self.state.features(
            ids, m, int(t.parse.sentence[m.at]), int(t.speech.paragraph[m.at]), q, t.clauses[i]
        )
        self._mark_reference(x, ids, i, kind, q, tag)
        return x

    def _mark_namings(self, x: np.ndarray, ids: list[int], m: Markable) -> None:
        """Where the book names each candidate, also after this place: a reader's eye runs ahead, too."""
        if not ids:
            return
        f, parse, speech = INDEX, self.t.parse, self.t.speech
        here = m.at
        whom = [e if e < self.state.cast else self._key.get(e, "") for e in ids]
        x[: len(ids), _OF_NAMINGS] = self.namings.features(whom, here)
        for n, who in enumerate(whom):
            place = self.namings.next_after(who, here)
            away = place - here if place >= 0 else _AHEAD
            x[n, f["named ahead"]] = log1p(min(away, _AHEAD))
            if away < _AHEAD:
                x[n, f["named ahead in paragraph"]] = speech.paragraph[place] == speech.paragraph[here]
                x[n, f["named ahead in sentence"]] = parse.sentence[place] == parse.sentence[here]

    def _agrees(self, e: int, gender: str) -> bool:
        return not gender or self.state.p[e, "mfp".index(gender)] >= 0.04

    def _decide(
        self, kind: str, ids: list[int], x: np.ndarray, key: object, name: str = "", somebody: bool = False,
        lean: np.ndarray | None = None, pointed: Mapping[int, float] | None = None,
    ) -> tuple[int, np.ndarray]:  # fmt: skip
        """(row, probabilities of all rows); the last row means none of the candidates, which `somebody`
        excludes. `name` is a part of `kind` that may have a ranker of its own; `lean` is what else speaks for
        the candidates (a logarithm each), `pointed` what a language model says of characters."""
        ranker = self.rankers.get(name) or self.rankers.get(kind)
        row = len(ids)
        if ranker is not None:
            p = ranker.probabilities(x)
            if lean is not None:
                p[:-1] *= np.exp(lean)
                p /= p.sum()
            if pointed and ids:
                p = self._weigh(p, ids, pointed)
            row = int(p.argmax())
            least = self.thresholds.get(name or kind, 0.0)
            if row < len(ids) and ids[row] < self.state.cast and p[row] < least:
                row = len(ids)
            if somebody and ids:
                row = int(p[:-1].argmax())
        if self.teacher:
            row = self.teacher.choose(kind, ids, x, key, row)
        if ranker is None:
            p = np.ones(len(ids) + 1)
        return row, p

    def _settle(
        self, i: int, e: int, rule: str, score: float, others: tuple[tuple[int, float], ...] = ()
    ) -> None:
        t, m = self.t, self.t.markables[i]
        self.entity[i] = e
        if self.teacher:
            self.teacher.settled(i, e)
        q = int(t.speech.quote[m.at])
        if q not in t.speech.letters or m.person == 3:
            # Who writes a letter, and to whom, is not on the scene where it is read.
            sentence, paragraph = int(t.parse.sentence[m.at]), int(t.speech.paragraph[m.at])
            talked_of = q >= 0 and m.person == 3 and i not in t.called
            self.state.mention(e, m, sentence, paragraph, q, t.clauses[i], talked_of)
        if m.kind == "nominal":
            self.phrases.note(m, e)
            if any(self._entity(k) == e for k, _ in self._bridges.get(i, ())):
                self._callings[e].add(living(m.noun))
            owner = self._owner(m)
            if owner >= 0 and m.noun in kin.KIN:
                self._note_kin(owner, m.noun, e, score)
        if rule and e < self.state.cast:
            self.decisions.append(Decision(i, e, rule, score, others))

    # --- what is special about references -------------------------------------------------------

    def _mark_reference(self, x: np.ndarray, ids: list[int], i: int, kind: str, q: int, tag: int) -> None:
        f = INDEX
        m = self.t.markables[i]
        place = {e: n for n, e in enumerate(ids)}

        def mark(e: int, name: str, value: float = 1.0) -> None:
            if e in place:
                x[place[e], f[name]] = value

        mark(self.narrator_at(m.at), "narrator")
        last, before = self.conversation.last_speakers(m.at)
        mark(last, "last speaker")
        mark(before, "speaker before")
        self._mark_namings(x, ids, m)
        x[:, f["real paragraphs"]] = self.t.speech.real_paragraphs
        if i in self.t.beats:
            x[:, f["m beat"]] = 1
            mark(last, "beat and last speaker")
            mark(before, "beat and speaker before")
        if tag >= 0:
            x[:, f["m tag"]] = 1
            mark(last, "tag and last speaker")
            mark(before, "tag and speaker before")
            self._mark_tag(x, ids, mark, tag)
        if q >= 0:
            spoken = self.spoken[q]
            mark(spoken.speaker, "is speaker")
            for e in spoken.addressees:
                mark(e, "is addressee")
            mark(self.conversation.named_ahead(q, 1), "next speaker")
            self._mark_last_quote(x, q)
            # Who takes turns in the conversation around is seldom "he" or "she" in it.
            self._mark_past_turns(x, ids, q)
            self._mark_later_turns(x, ids, q)
            for k in self.t.tags[q].vocatives:
                mark(self.entity[k], "vocative here")
            if kind == "second":
                mark(self._entity(self.t.tags[q].object), "tag object")
        if kind == "nominal":
            self._mark_nominal(x, ids, mark, m, i)

    def _mark_tag(self, x: np.ndarray, ids: list[int], mark: Mark, q: int) -> None:
        """The subject of a tag speaks quote `q`: what tells of the speaker tells of whom "she" means."""
        ms = self.t.markables
        for k in self.conversation.turn_of(q):
            for n in self.t.tags[k].vocatives:
                mark(self._entity(n), "vocative here")
            for n in self._inside(k):
                if ms[n].kind == "name":
                    mark(self._entity(n), "named in quote")
        for e in self.conversation.last_addressees(q):
            mark(e, "tag addressee before")
        if self.conversation.answers(q):
            last, before = self.conversation.last_speakers(self.t.speech.spans[q][0])
            x[:, INDEX["answers"]] = 1
            mark(last, "answers and last speaker")
            mark(before, "answers and speaker before")
        self._mark_verb(x, mark, q)
        self._mark_turns(x, ids, mark, q)

    def _mark_verb(self, x: np.ndarray, mark: Mark, q: int) -> None:
        """ "He continued": the last speaker most likely, or who has a tag in this turn already; "he replied":
        somebody else."""
        tags, turn = self.t.tags, self.conversation.turn_of(q)
        before = [tags[k].subject for k in turn if k < q and tags[k].subject not in (-1, tags[q].subject)]
        last, _ = self.conversation.last_speakers(self.t.speech.spans[turn[0]][0])
        who = self._entity(before[-1]) if before else last
        if before:
            mark(who, "same turn speaker")
        verb = bare_word(self.t.book, tags[q].verb) if tags[q].verb >= 0 else ""
        for verbs, name in ((_GOES_ON, "tag goes on"), (_REPLIES, "tag replies")):
            if verb in verbs:
                x[:, INDEX[name]] = 1
                mark(who, f"{name} and last speaker")

    def _mark_nominal(self, x: np.ndarray, ids: list[int], mark: Mark, m: Markable, i: int) -> None:
        f = INDEX
        known = m.definite or "none"
        if f"d {known}" in f:
            x[:, f[f"d {known}"]] = 1
        x[:, f["n vocative"]] = is_vocative(self.t.book, m)
        x[:, f["n kin"]] = m.noun in kin.KIN
        x[:, f["n gendered"]] = bool(m.gender)
        x[:, f["n with more"]] = m.end > m.head
        x[: len(ids), _OF_PHRASES] = self.phrases.features(ids, m)
        for e in ids:
            mark(e, "same noun", float(m.noun in self.state.nouns[e]))
        owner = self._owner(m)
        mark(owner, "owner")
        mark(self._kin_of(owner, m.noun), "kin known")
        for e in self._bearers(m.noun):
            mark(e, "title noun")
        for e in self._of_the_family(owner, m.noun):
            mark(e, "same surname as owner")
            if self._kin_by_title(e, m.noun):
                mark(e, "kin by title")
        for k, name in self._bridges.get(i, ()):
            mark(self._entity(k), name)

    def _mark_last_quote(self, x: np.ndarray, q: int) -> None:
        if q and self.conversation.goes_on(q):
            a, b = self.t.speech.spans[q][0], self.t.speech.spans[q - 1][1]
            x[:, INDEX["last quote adjoins"]] = a - b <= 2
            x[:, INDEX["last quote same paragraph"]] = (
                self.t.speech.paragraph[a] == self.t.speech.paragraph[b]
            )

    def _bridged(self, i: int, kind: str) -> list[int]:
        """Entities beyond the recent ones that grammar or kinship points to."""
        if kind != "nominal":
            return []
        m = self.t.markables[i]
        found = [self._entity(k) for k, _ in self._bridges.get(i, ())]
        owner = self._owner(m)
        found.append(self._kin_of(owner, m.noun))
        found += [e for e, times in self._recall(m).items() if times > 1]
        if m.definite in ("the", ""):
            found += [e for e in self._bearers(m.noun) if self.state.count[e]]
        found += self._of_the_family(owner, m.noun)
        return [e for e in dict.fromkeys(found) if e >= 0]

    def _note_kin(self, owner: int, noun: str, e: int, score: float) -> None:
        """Remember that `e` is the `noun` of `owner`; where both are of the cast, also the converse."""
        cast = self.state.cast
        self._vote(owner, kin.plain(noun), e, score if e < cast else _STRANGER * score)
        if max(owner, e) < cast and (back := kin.converse(noun, self.state.p[owner, 0] > 0.5)):
            self._vote(e, back, owner, score)

    def _vote(self, owner: int, noun: str, e: int, weight: float) -> None:
        votes = self.kin[owner, noun]
        for other in votes:
            votes[other] *= _FADES
        votes[e] = votes.get(e, 0.0) + weight

    def _kin_of(self, owner: int, noun: str) -> int:
        """Who the `noun` of `owner` is, by what was read before; -1 where that is not known."""
        votes = self.kin.get((owner, kin.plain(noun)))
        return max(votes, key=lambda e: votes[e]) if votes else -1

    def _of_the_family(self, owner: int, noun: str) -> list[int]:
        """Characters with the surname of the one whose kin a noun names."""
        if not 0 <= owner < self.state.cast or noun not in kin.KIN:
            return []
        surname = self.t.people[owner].family
        return [e for e in self._relatives[surname] if e != owner] if surname else []

    def _kin_by_title(self, e: int, noun: str) -> bool:
        """Whether a title fits the kin: Mrs. Hale is the mother and the wife, Mr. Hale father and husband."""
        person = self.t.people[e]
        if noun in kin.MOTHERS or noun == "wife":
            return bool(honorifics.MARRIED & {*person.titles})
        if noun in kin.FATHERS or noun == "husband":
            return person.gender == "m" and bool(person.titles) and not person.first
        return False

    def _find_bridges(self) -> dict[int, list[tuple[int, str]]]:
        """Nominals tied by grammar: apposition ("Anna, my sister") and copula ("Anna was the owner")."""
        ms, parse = self.t.markables, self.t.parse
        by_head = self._by_head
        found: dict[int, list[tuple[int, str]]] = defaultdict(list)
        for k, m in enumerate(ms):
            up = int(parse.head[m.head])
            if parse.dep[m.head] == "appos" and up in by_head:
                found[k].append((by_head[up], "apposed"))
                found[by_head[up]].append((k, "apposed"))
            elif parse.dep[m.head] == "attr":
                for j in range(max(0, k - 6), min(len(ms), k + 4)):
                    if ms[j].role == SUBJECT and int(parse.head[ms[j].head]) == up and j != k:
                        found[k].append((j, "copula"))
        return found

    def _find_callings(self) -> defaultdict[int, set[str]]:
        """What somebody with a name is said to be, anywhere in the book, and the words of the names."""
        named = [m for m in self.t.markables if m.kind == "name" and m.character >= 0]
        found = find_callings(self.t.book, self.t.parse, ((m.start, m.end, m.character) for m in named))
        for e, person in enumerate(self.t.people):
            names = (person.entry.name, *person.entry.aliases)
            found[e].update(living(word) for name in names for word in name.lower().split())
        return found

    def _find_unmarried(self) -> set[int]:
        """Whom the whole book calls Miss, and hardly ever Mrs."""
        seen: dict[int, list[int]] = defaultdict(lambda: [0, 0])
        for m in self.t.markables:
            if m.kind == "name" and m.character >= 0:
                words = m.text.lower().replace(".", " ").split()
                for n, titles in enumerate((honorifics.UNMARRIED, honorifics.MARRIED)):
                    seen[m.character][n] += not titles.isdisjoint(words)
        return {e for e, (miss, mrs) in seen.items() if miss >= _OFTEN_MISS and mrs <= _SELDOM * miss}

    def _entity(self, k: int) -> int:
        """The entity of a markable, also of a name further on that is known already."""
        if k < 0:
            return -1
        return self.entity[k] if self.entity[k] >= 0 else self.t.markables[k].character

    def _owner(self, m: Markable) -> int:
        if m.owner < 0:
            # "Mamma is ill": the speaker's.
            own = (
                m.kind == "nominal" and m.definite == "" and (m.noun in kin.MOTHERS or m.noun in kin.FATHERS)
            )
            q = int(self.t.speech.quote[m.at])
            return self.spoken[q].speaker if own and q >= 0 else -1
        k = self._by_head.get(m.owner, -1)
        return self._entity(k)

    # --- speakers -------------------------------------------------------------------------------------------

    def _speakers(self, quotes: range) -> None:
        """Decide the quotes of a paragraph: one speaker, unless two tags name two people."""
        if not quotes:
            return
        for q in quotes:
            if q in self.told:
                speaker, addressees = self.told[q]
                self.spoken[q] = Spoken(speaker, addressees, "given", 1.0)
        for q in self._spoken_first(quotes):
            self._speaker(q)
        for q in quotes:
            if not self.spoken[q].rule:
                self._speaker_of_the_turn(q, quotes)
        for q in quotes:
            self._addressee(q, quotes)
            if q not in self.t.speech.letters:
                self.conversation.remember(q)

    def _spoken_first(self, quotes: range) -> list[int]:
        """The quotes of a paragraph that do not take their speaker from the others: those with a tag,
        letters, speech that goes on, and the first. Where paragraphs are known, a tag anywhere in the turn
        tells of all its quotes."""
        tagged = [q for q in quotes if self.t.tags[q].subject >= 0]
        wait = bool(tagged) and self.t.speech.real_paragraphs
        return [
            q
            for q in quotes
            if q in tagged
            or (q == quotes[0] and not wait)
            or q in self.t.speech.letters
            or self.conversation.continues(q)
        ]

    def _speaker_of_the_turn(self, q: int, quotes: range) -> None:
        """Quote `q` has the speaker of the nearest quote of its turn that has one; else it stands alone."""
        decided = [k for k in quotes if self.spoken[k].rule and self._belongs(k, q)]
        if not decided:
            self._speaker(q)
            return
        s = self.spoken[min(decided, key=lambda k: (abs(k - q), k))]
        self._say(q, s.speaker, "same paragraph", s.score, like=s.scale)

    def _say(
        self, q: int, speaker: int, rule: str, score: float, addressees: tuple[int, ...] = (), like: str = ""
    ) -> None:
        """Quote `q` is spoken by `speaker`."""
        self.spoken[q] = Spoken(speaker, addressees, rule, score, like)
        if self.teacher:
            self.teacher.settled(("quote", q), speaker)

    def _belongs(self, k: int, q: int) -> bool:
        """Whether quotes `k` and `q` of one paragraph are one turn; guessed paragraphs may be too long."""
        if self.t.speech.real_paragraphs:
            return True
        first, second = min(k, q), max(k, q)
        return self.t.speech.spans[second][0] - self.t.speech.spans[first][1] <= _INTERRUPTION

    def _speaker(self, q: int) -> None:
        if q in self.told:
            return
        if q in self.t.speech.spoken_by:
            self.spoken[q] = Spoken(self.t.speech.spoken_by[q], (), "speaker line", 1.0)
            return
        if q in self.t.speech.letters:
            letter = self.t.speech.letters[q]
            self.spoken[q] = Spoken(
                letter.writer, (letter.reader,) if letter.reader >= 0 else (), "letter", 0.9
            )
            return
        if self.conversation.continues(q):
            s = self.spoken[q - 1]
            self._say(q, s.speaker, "speech goes on", s.score, s.addressees, s.scale)
            return
        tag = self.t.tags[q]
        teller = self.conversation.teller(q) if tag.subject < 0 else -1
        if tag.stranger:
            self._say(q, -1, "said by someone else", 0.8)
        elif teller >= 0:
            self._say(q, teller, "story goes on", 0.8)
        else:
            self._rank_speaker(q)

    def _rank_speaker(self, q: int) -> None:
        """Choose among those who may speak a quote."""
        a, b = self.t.speech.spans[q]
        tag = self.t.tags[q]
        subject = self._entity(tag.subject)
        if subject >= self.state.cast and self.t.markables[tag.subject].definite == "a":
            # "Cried a girl": whoever else is on the scene, it is not them.
            self._say(q, subject, "said by someone else", 0.8)
            return
        m = Markable(a, b, a, "quote", 3, "", OTHER)
        if tag.subject >= 0 and self.t.markables[tag.subject].kind == "pronoun":
            m.gender = self.t.markables[tag.subject].gender
        ids = self.state.candidates(a, m.gender, most=8, reach=1500)
        last, before = self.conversation.last_speakers(a)
        heard = [self.entity[k] for k in tag.vocatives]
        for e in (
            subject,
            last,
            before,
            self._entity(tag.before),
            self._entity(tag.after),
            *self.conversation.last_addressees(q),
        ):
            if e >= 0 and e not in ids and self._agrees(e, m.gender):
                ids.append(e)
        if tag.subject >= 0 and self.t.markables[tag.subject].person == 3 and self.bars:
            # "Said he": not the narrator, unless it is his name.
            teller = self._teller_near(a)
            ids = [e for e in ids if e == subject or e != teller]
        x = self.state.features(
            ids, m, int(self.t.parse.sentence[a]), int(self.t.speech.paragraph[a]), -1, NO_CLAUSE
        )
        self._mark_speaker(x, ids, q, subject, heard)
        lean = np.array([-_NO_NAME * (self.bars and e < len(self.t.people)) for e in ids])
        if self._voices and tag.subject < 0:
            turn = self.conversation.turn_of(q)
            lean += self._voices.lean(turn, ids) + self._lean_of_calls(turn, ids)
        row, p = self._decide(
            "speaker", ids, x, ("quote", q), somebody=self.always_somebody, lean=lean,
            pointed=self._pointed_speakers(q),
        )  # fmt: skip
        score = float(p[row])
        e = ids[row] if row < len(ids) else -1
        said = self.t.markables[tag.subject].kind.replace("nominal", "noun") if tag.subject >= 0 else ""
        self._say(q, e, f"said by {said}" if said else "turn", score)

    def _pointed_at(self, i: int, kind: str, q: int) -> Mapping[int, float] | None:
        """Whom the language model takes "he", "she" or "you" for."""
        if self._scenes is None or kind not in ("third", "second"):
            return None
        if kind == "third":
            return self._scenes.pronouns.get(i)
        return self._scenes.spoken_to.get(self.conversation.turn_of(q).start)

    def _pointed_speakers(self, q: int) -> Mapping[int, float] | None:
        """Whom the language model takes for the speaker; None where a name says it, and for a speech of
        several paragraphs: who tells a long story was seldom named on the page that the model sees."""
        subject = self.t.tags[q].subject
        if self._scenes is None or (subject >= 0 and self.t.markables[subject].kind == "name"):
            return None
        turn = self.conversation.turn_of(q)
        goes_on = turn.stop < len(self.spoken) and self.conversation.continues(turn.stop)
        return None if goes_on else self._scenes.turns.get(turn.start)

    def _weigh(self, p: np.ndarray, ids: list[int], pointed: Mapping[int, float]) -> np.ndarray:
        """The probabilities of candidates, and of none, where the language model points at people. Its
        "nobody" is none of them and who has no name. It may raise what these have, and never lowers it: it
        knows no strangers, so it takes them for somebody of the cast.
        """
        named = np.array([*(e < len(self.t.people) for e in ids), False])
        if not named.any():
            return p
        says = np.maximum([pointed.get(e, _LEAST_POINTED) for e in (*ids, NOBODY)], _LEAST_POINTED)
        says[~named] = says[-1]
        moved: np.ndarray = p * np.exp(_POINTED * says)
        moved /= moved.sum()
        before, now = p[~named].sum(), moved[~named].sum()
        if now < before:
            moved[named] *= (1 - before) / (1 - now)
            moved[~named] = p[~named]
        return moved

    def _lean_of_calls(self, turn: Sequence[int], ids: list[int]) -> np.ndarray:
        """What the words by which a turn calls somebody say of who speaks it: "papa" is said by who has a
        father in the book, "sir" by a woman where only one man talks."""
        lean, male = np.zeros(len(ids)), self.state.p[ids, 0]
        last, before = self.conversation.last_speakers(self.t.speech.spans[turn[0]][0])
        for k in (k for q in turn for k in self.t.tags[q].vocatives):
            m = self.t.markables[k]
            if m.kind == "name":
                continue
            if m.noun in kin.KIN:
                meant = [self._kin_of(e, m.noun) for e in ids]
                lean += [_CALLS * ((who in ids) - (e in meant)) for e, who in zip(ids, meant, strict=True)]
            gender = gender_of_noun(m.noun) or honorifics.honorific_gender(m.noun)
            of = male if gender == "m" else 1 - male
            fits = [n for n, e in enumerate(ids) if gender and e in (last, before) and of[n] > 0.5]
            if len(fits) == 1:
                lean[fits[0]] -= _CALLS
        return lean

    def _mark_speaker(self, x: np.ndarray, ids: list[int], q: int, subject: int, heard: list[int]) -> None:
        f = INDEX
        tag, ms = self.t.tags[q], self.t.markables
        a, b = self.t.speech.spans[q]
        place = {e: n for n, e in enumerate(ids)}

        def mark(e: int, name: str) -> None:
            if e in place:
                x[place[e], f[name]] = 1

        x[:, f["tagged"]] = tag.subject >= 0
        mark(self.narrator_at(a), "narrator")
        mark(subject, "tag subject")
        if tag.subject >= 0 and ms[tag.subject].kind == "name":
            mark(subject, "tag by name")
        last, before = self.conversation.last_speakers(a)
        mark(last, "last speaker")
        mark(before, "speaker before")
        if self.conversation.answers(q):
            x[:, f["answers"]] = 1
            mark(last, "answers and last speaker")
            mark(before, "answers and speaker before")
        self._mark_namings(x, ids, Markable(b, b, b, "quote", 3, "", OTHER))
        self._mark_last_quote(x, q)
        mark(self._entity(tag.before), "subject before")
        mark(self._entity(tag.after), "subject after")
        self._mark_turns(x, ids, mark, q)
        for e in heard:
            mark(e, "vocative here")
        for e in self.conversation.last_addressees(q):
            mark(e, "addressee before")
        if q and self.conversation.goes_on(q):
            for k in self.t.tags[q - 1].vocatives:
                mark(self.entity[k], "vocative before")
        for k in self._inside(q):
            if ms[k].kind == "name":
                mark(self.entity[k], "named in quote")
        mark(self._entity(tag.object), "tag object")
        spoke = self.conversation.recent_speakers()
        for n, e in enumerate(ids):
            x[n, f["unheard"]] = e not in spoke

    def _inside(self, q: int) -> range:
        a, b = self.t.speech.spans[q]
        return range(bisect_left(self._starts, a), bisect_left(self._starts, b + 1))

    def _mark_turns(self, x: np.ndarray, ids: list[int], mark: Mark, q: int) -> None:
        """What the turns around a quote say about its speaker."""
        f = INDEX
        mark(self.conversation.named_ahead(q, 0), "same turn speaker")
        mark(self.conversation.named_ahead(q, 1), "next speaker")
        mark(self.conversation.named_ahead(q, 2), "next but one speaker")
        for turns, name in ((1, "next tag fits"), (2, "next but one tag fits")):
            k = self.conversation.tag_ahead(q, turns)
            if k >= 0 and (gender := self.t.markables[k].gender) in ("m", "f"):
                for n, e in enumerate(ids):
                    x[n, f[name]] = self.state.p[e, "mf".index(gender)] - 0.5
        x[:, f["real paragraphs"]] = self.t.speech.real_paragraphs
        for step, name in ((1, "called next"), (-1, "called before")):
            for k in self.conversation.called_beside(q, step):
                mark(self._entity(k), name)
        self._mark_later_turns(x, ids, q)
        past = self._mark_past_turns(x, ids, q)
        x[:, f["m turn"]] = np.log1p(len(past))
        if len(past) > 1:
            mark(past[1], "two turns ago")
        if past:
            tokens, paragraphs = self.conversation.gap_before(q)
            x[:, f["turn gap"]] = np.log1p(max(tokens, 0))
            x[:, f["paragraph gap"]] = min(paragraphs, 6)
        self._mark_exchange(x, ids, q)

    def _mark_exchange(self, x: np.ndarray, ids: list[int], q: int) -> None:
        """Whom the turns of an exchange call: at an odd distance likely the one who speaks here, at an even
        distance, as in this turn, the other one."""
        f = INDEX
        around = self.conversation.exchange(q)
        x[:, f["exchange before"]] = sum(away < 0 for away, _ in around)
        for away, turn in [(0, self.conversation.turn_of(q)), *around]:
            if away == -1:
                x[:, f["asked"]] = self.t.book.tokens[self.t.speech.spans[turn[-1]][1] - 1] == "?"
            for k in (k for n in turn for k in self.t.tags[n].vocatives):
                self._mark_call(x, ids, k, away)

    def _mark_call(self, x: np.ndarray, ids: list[int], k: int, away: int) -> None:
        """What the call `k` says of the candidates, that many turns away from it."""
        f, m, near = INDEX, self.t.markables[k], 1 / (1 + abs(away))

        def mark(e: int, name: str) -> None:
            if e in ids:
                x[ids.index(e), f[name]] = max(x[ids.index(e), f[name]], near)

        if m.kind == "name":
            mark(self._entity(k), "called odd turns away" if away % 2 else "called even turns away")
        elif away % 2:
            for e in ids if m.noun in kin.KIN else ():
                mark(self._kin_of(e, m.noun), "called as kin")
            gender = gender_of_noun(m.noun) or honorifics.honorific_gender(m.noun)
            if gender in ("m", "f"):
                x[:-1, f["odd call fits"]] += near * (self.state.p[ids, "mf".index(gender)] - 0.5)

    def _mark_past_turns(self, x: np.ndarray, ids: list[int], q: int) -> list[int]:
        """Who spoke before quote `q`, how long ago and how often; returns the speakers, last one first."""
        f = INDEX
        past = self.conversation.past_turns(q)
        for n, e in enumerate(ids):
            if e in past:
                x[n, f["turns since"]] = 1.0 / (1 + past.index(e))
                x[n, f["share of turns"]] = past.count(e) / len(past)
        return past

    def _mark_later_turns(self, x: np.ndarray, ids: list[int], q: int) -> None:
        """Whom the tags of later turns name, at even and odd distance from quote `q`."""
        f = INDEX
        later = self.conversation.named_later(q)
        place = {e: n for n, e in enumerate(ids)}
        for ahead, e in later:
            if e in place:
                row = x[place[e]]
                side = f["named odd turns ahead" if ahead % 2 else "named even turns ahead"]
                row[side] = max(row[side], 1.0 / ahead)
                row[f["share of tags ahead"]] += 1.0 / len(later)

    def _called_in(self, q: int) -> list[int]:
        """The entities whose names are vocatives in quote `q`."""
        return [self.entity[k] for k in self.t.tags[q].vocatives if self.t.markables[k].kind == "name"]

    def _addressee(self, q: int, quotes: range) -> None:
        """Who is spoken to: a vocative, the object of the tag, a vocative in another quote of the turn, the
        nearest, or the other one in the conversation."""
        s = self.spoken[q]
        if s.addressees:
            return
        turn = [k for k in quotes if k != q and self.spoken[k].speaker == s.speaker and self._belongs(k, q)]
        words = {k: self.t.book.tokens[slice(*self.t.speech.spans[k])] for k in turn}
        # "Dr. Bull!" alone may be amazement.
        turn = [k for k in turn if words[k][-1] not in ("!", "?") or any(map(str.islower, words[k]))]
        others = (self._called_in(k) for k in sorted(turn, key=lambda k: (abs(k - q), k)))
        for called in (self._called_in(q), [self._entity(self.t.tags[q].object)], *others):
            if told := tuple(dict.fromkeys(e for e in called if e >= 0 and e != s.speaker)):
                s.addressees = told
                return
        last, before = self.conversation.last_speakers(self.t.speech.spans[q][0])
        other = last if last != s.speaker else before
        if other >= 0 and other != s.speaker:
            s.addressees = (other,)
            return
        if q and self.conversation.goes_on(q) and self.spoken[q - 1].speaker == s.speaker:
            s.addressees = self.spoken[q - 1].addressees
            return
        follower = self.conversation.named_ahead(q, 1)
        if follower >= 0 and follower != s.speaker:
            s.addressees = (follower,)
