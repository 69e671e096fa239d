"""Whom a pronoun or a noun phrase may mean, and what tells the candidates apart."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ...words import honorifics, kin
from ..cast import split_range
from . import lexicon as lex
from .clauses import is_heard
from .discourse import INDEX, Candidates
from .markables import SUBJECT, Markable, gender_of_noun, is_person_noun, is_vocative
from .memory import Memory
from .names import Person
from .phrases import FEATURES as OF_PHRASES
from .phrases import find_callings, living, phrase_of
from .saying import bare_word
from .turns import mark_last_quote, mark_later_turns, mark_past_turns, mark_turns

_ON_SCENE = 150
"""Tokens for which somebody who was mentioned stays on the scene."""
_EXPLAINED = 130
"""Tokens within which a book says whose voice it was."""
_RECALLED = 2.0
"""What a phrase of the earlier reading says if it always meant one person (a logarithm)."""
_SAME_PHRASE = 4000
"""Tokens to either side in which a phrase of the earlier reading tells whom it means here."""
_KNOWN = frozenset(["the", "this"])
_BESIDE = 6
"""Markables beside a pronoun among which those of its clause are looked for."""
_SAME_ONE = frozenset(["appos", "attr", "npadvmod", "conj"])
"""Relations of a name that may be the subject's own, or belongs to another verb."""
_OBJECTS, _TO = frozenset(["dobj", "dative"]), frozenset(["to", "at", "of", "for", "upon"])
_GOES_ON, _REPLIES = lex.words("GOES_ON"), lex.words("REPLIES")
_OF_PHRASES = slice(INDEX[OF_PHRASES[0]], INDEX[OF_PHRASES[-1]] + 1)
_AGES = lex.CHILDREN | lex.GROWN
_SURELY_YOUNG = 3
"""Times that somebody was called a boy or a child, and no less often than a man, that make him no man."""
_BOY = 3
"""What "boy" or "child" counts more than "man": men are seldom called so, women are called girls."""
_OFTEN_MISS, _SELDOM = 3, 0.1
"""Times that "Miss" makes somebody no mother, and how often she may be "Mrs." for each of them."""
_NO_ROLES = (
    kin.KIN | lex.CHILDREN | lex.GROWN | {"master", "lord", "lady", "sir", "madam", "mistress", "miss", "one"}
)


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


def roles_of(person: Person) -> set[str]:
    """The titles and nouns before somebody's names: "chief" in "Chief Joseph", "elder" in "the Elder"; not
    "aunt" or "lady", as which many go."""
    roles = {*person.titles}
    for name in (person.entry.name, *person.entry.aliases):
        words = [word.strip(".") for word in split_range(name)[0].lower().split()]
        titles = words[1:] if words[:1] == ["the"] else words[:-1]
        roles |= {w for w in titles if is_person_noun(w) or w in lex.TITLE_NOUNS.values()} - _NO_ROLES
    return roles - lex.FIRST_NAMES


class Antecedents:
    """The questions about pronouns and noun phrases of a reading, whose memory is `known`.

    `bars` says whether grammar rules people out; `taught` that a teacher is asked in place of the rules that
    need no ranker.
    """

    def __init__(self, known: Memory, bars: bool, taught: bool) -> None:
        self._known, self._t, self._bars, self._taught = known, known.t, bars, taught
        self._meant: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._titled: dict[str, list[int]] = defaultdict(list)
        for e, person in enumerate(self._t.people):
            for role in roles_of(person):
                self._titled[role].append(e)
        ms = self._t.markables
        self._named = {m.character for m in ms if m.kind == "name"}
        self._named -= {e for e, person in enumerate(self._t.people) if person.common}
        self._tagged = {tag.subject for tag in self._t.tags}
        self._heard = {k for k, m in enumerate(ms) if is_heard(self._t.parse, m)}
        self._bridges = self._find_bridges()
        self._callings = self._find_callings()
        self._unmarried = self._find_unmarried()

    def take_over(self, earlier: Memory) -> None:
        """Know from the start whom each noun phrase meant in an earlier reading."""
        for m, e in zip(self._t.markables, earlier.entity, strict=True):
            if m.kind == "nominal" and m.definite in _KNOWN and 0 <= e < self._known.state.cast:
                self._meant[phrase_of(m)].append((m.at, e))

    def remember(self, i: int, e: int, score: float) -> None:
        """Noun phrase `i` meant entity `e`."""
        m = self._t.markables[i]
        self._known.phrases.note(m, e)
        if self._is_tied(i, e):
            self._callings[e].add(living(m.noun))
        owner = self._known.owner(m)
        if owner >= 0 and m.noun in kin.KIN:
            self._known.kin.note(owner, m.noun, e, score)

    # --- what needs no ranker -----------------------------------------------------------------------------

    def recalled(self, m: Markable) -> Counter[int]:
        """Whom the same phrase meant how often at other places around this one, in the earlier reading: "the
        old lady" is Mrs. Bedwin before the book names her."""
        places = self._meant.get(phrase_of(m), ()) if m.definite in _KNOWN else ()
        return Counter(e for at, e in places if 0 < abs(at - m.at) <= _SAME_PHRASE)

    def lean_of_recalled(self, m: Markable, ids: Sequence[int]) -> np.ndarray | None:
        """What that says of the candidates (a logarithm each); None for nothing."""
        recalled = self.recalled(m)
        return np.array([_RECALLED * recalled[e] / (recalled.total() + 2) for e in ids]) if recalled else None

    def bearer(self, m: Markable) -> int:
        """Who of the cast has "the lad" for a name, if he has no other; -1 for nobody."""
        bare = m.definite == "the" and m.start + 1 == m.head == m.end
        return self._t.nouns.get(m.noun, -1) if bare else -1

    def is_named(self, e: int) -> bool:
        """Whether the text names an entity by a name that is no common noun."""
        return e in self._named

    def spouse(self, i: int) -> int:
        """The husband or wife whom a phrase means by the name beside it ("Anna Hill, his wife"), or by the
        names of the cast where nothing that was read says who it is; -1 for nobody."""
        m, known = self._t.markables[i], self._known
        if self._taught or m.noun not in ("wife", "husband"):
            return -1
        owner = known.owner(m)
        if beside := self._bridges.get(i):
            named = [k for k, why in beside if why == "apposed" and self._t.markables[k].kind == "name"]
            apposed = known.entity_of(named[0]) if named else -1
            return apposed if apposed != owner and known.agrees(apposed, m.gender) else -1
        likely, spouse = known.kin.who_is(owner, m.noun), known.kin.spouse_of(owner)
        other = likely != spouse and 0 <= likely < known.state.cast
        return -1 if other or not known.agrees(spouse, m.gender) else spouse

    def apposed(self, i: int) -> int:
        """Whose name stands beside a phrase that is no mention of its own ("Eeyore, the old grey donkey"), so
        that "the donkey" is known from there; -1 for nobody."""
        m, ms = self._t.markables[i], self._t.markables
        for k, why in self._bridges.get(i, ()) if not self._taught else ():
            apart = max(m.start, ms[k].start) - min(m.end, ms[k].end) > 2
            if why == "apposed" and ms[k].kind == "name" and k not in self._t.called and not apart:
                who = self._known.entity_of(k)
                return who if self._known.agrees(who, m.gender) else -1
        return -1

    def whose_voice(self, q: int, m: Markable) -> int:
        """Who is named right after quote `q`, and was not on the scene before: "said a voice" is explained at
        once ("It was Anna", "Oh, good night, Anna"); -1 for nobody. Not asked where nobody is ruled out:
        training hides names."""
        if not self._bars or m.noun not in lex.VOICES:
            return -1
        known, ms, quote = self._known, self._t.markables, self._t.speech.quote
        a, b = self._t.speech.spans[q]
        reply = next(iter(known.conversation.next_turns(q, 1)), range(0))
        on_scene = {known.entity[k] for k in known.within(a - _ON_SCENE, a) if quote[ms[k].at] < 0}
        # Who answers is somebody else.
        on_scene |= {known.entity_of(self._t.tags[n].subject) for n in reply}
        for k in known.within(b + 1, b + _EXPLAINED + 1):
            who = ms[k].character if quote[ms[k].at] < 0 or k in self._t.called else -1
            if ms[k].kind == "name" and who >= 0 and who not in on_scene and known.agrees(who, m.gender):
                return who
        return -1

    # --- candidates ---------------------------------------------------------------------------------------

    def candidates(self, i: int, kind: str, q: int) -> list[int]:
        """The entities that a pronoun or noun phrase may mean."""
        m, known = self._t.markables[i], self._known
        gender = m.gender
        if kind == "second":
            gender = gender_of_noun(m.noun) or honorifics.honorific_gender(m.noun)
        ids = known.state.candidates(m.at, gender)
        talking = (*known.spoken[q].addressees, known.spoken[q].speaker) if q >= 0 else ()
        for e in (*talking, *(self._bridged(i) if kind == "nominal" else ())):
            if e >= 0 and e not in ids and known.agrees(e, gender):
                ids.append(e)
        if q < 0 and self._bars:
            # Who tells the story is "I" in it.
            teller = known.teller_near(m.at)
            ids = [e for e in ids if e != teller]
        if kind == "third" and self._bars:
            others = self._named_beside(i)
            ids = [e for e in ids if e not in others] or ids
        if kind == "third" and i in self._heard and not m.reflexive:
            # "Anna heard her say": not herself. Where nobody else is left, the parse is not believed.
            verb = self._t.clauses[i].verb
            ids = [e for e in ids if known.state.subject_verb[e] != verb] or ids
        if kind == "nominal":
            # Nobody is his own brother.
            owner = known.owner(m)
            ids = [e for e in ids if e != owner and self.may_be_called(e, i)]
        if q >= 0 and (kind == "second" or (kind == "nominal" and i in self._t.called)):
            # Nobody says "you" or "my dear" to himself.
            ids = [e for e in ids if e != known.spoken[q].speaker]
        return ids

    def _named_beside(self, i: int) -> set[int]:
        """Who is named in the clause of a pronoun and is not meant by it: Anna in "she took Anna's hand",
        "she wished that Anna would go" and "Anna spoke to her" (binding principles B and C)."""
        t = self._t
        ms, m, parse, clauses, quote = t.markables, t.markables[i], t.parse, t.clauses, t.speech.quote
        verb, dep = clauses[i].verb, parse.dep[m.head]
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
            to = dep == "pobj" and t.book.tokens[int(parse.head[m.head])].lower() in _TO
            before = range(max(0, i - _BESIDE), i if to or dep in _OBJECTS else 0)
            near = (k for k in before if clauses[k].verb == verb and ms[k].role == SUBJECT)
        return {ms[k].character for k in near if ms[k].kind == "name" and quote[ms[k].at] == quote[m.at]}

    def may_be_called(self, e: int, i: int) -> bool:
        """Whether a phrase may mean somebody with a name: "the surgeon" only if the book says somewhere that
        he is one, and not by "a surgeon came", which is somebody new."""
        m, phrases = self._t.markables[i], self._known.phrases
        if e >= self._known.state.cast:
            return True
        if m.noun in kin.MOTHERS and e in self._unmarried:
            return False
        called = {noun: phrases.called(noun).get(e, 0) for noun in _AGES} if m.noun in _AGES else {}
        if not fits_age(self._t.people[e], called, m.noun):
            return False
        if self._is_tied(i, e):
            return True
        outside = self._t.speech.quote[m.at] < 0
        if m.which and outside:
            # Who has a name is not told from others by his waistcoat.
            return e in phrases.called_all(m)
        if m.definite == "a" and outside and (m.role == SUBJECT or i in self._tagged):
            return False
        bearers = self._bearers(m.noun)
        if m.definite not in _KNOWN or not (bearers or m.noun in lex.CALLINGS):
            return True
        return e in bearers or living(m.noun) in self._callings[e]

    def _is_tied(self, i: int, e: int) -> bool:
        """Whether grammar ties a noun phrase to an entity."""
        return any(self._known.entity_of(k) == e for k, _ in self._bridges.get(i, ()))

    def _bearers(self, noun: str) -> list[int]:
        """The characters among whose names the noun or its title is: "the chief" is Chief Umatilla."""
        return self._titled.get(noun) or self._titled.get(lex.TITLE_NOUNS.get(noun, ""), [])

    def _bridged(self, i: int) -> list[int]:
        """Entities beyond the recent ones that grammar or kinship points to."""
        m, known = self._t.markables[i], self._known
        found = [known.entity_of(k) for k, _ in self._bridges.get(i, ())]
        owner = known.owner(m)
        found.append(known.kin.who_is(owner, m.noun))
        found += [e for e, times in self.recalled(m).items() if times > 1]
        if m.definite in ("the", ""):
            found += [e for e in self._bearers(m.noun) if known.state.count[e]]
        found += known.kin.family_of(owner, m.noun)
        return [e for e in dict.fromkeys(found) if e >= 0]

    # --- what tells them apart ----------------------------------------------------------------------------

    def features(self, ids: list[int], i: int, kind: str, q: int, tag: int) -> np.ndarray:
        """A row for each candidate, and one for nobody; markable `i` stands in the tag of quote `tag`."""
        m, t, known = self._t.markables[i], self._t, self._known
        x = known.state.features(
            ids, m, int(t.parse.sentence[m.at]), int(t.speech.paragraph[m.at]), q, t.clauses[i]
        )
        rows = Candidates(ids, x)
        rows.mark(known.narrator_at(m.at), "narrator")
        last, before = known.conversation.last_speakers(m.at)
        rows.mark(last, "last speaker")
        rows.mark(before, "speaker before")
        known.mark_namings(rows, m)
        rows.every("real paragraphs", t.speech.real_paragraphs)
        if i in t.beats:
            rows.every("m beat")
            rows.mark(last, "beat and last speaker")
            rows.mark(before, "beat and speaker before")
        if tag >= 0:
            rows.every("m tag")
            rows.mark(last, "tag and last speaker")
            rows.mark(before, "tag and speaker before")
            self._mark_tag(rows, tag)
        if q >= 0:
            self._mark_quote(rows, kind, q)
        if kind == "nominal":
            self._mark_nominal(rows, i)
        return x

    def _mark_quote(self, rows: Candidates, kind: str, q: int) -> None:
        """Who speaks the quote around, to whom, and in which conversation."""
        known, tag = self._known, self._t.tags[q]
        rows.mark(known.spoken[q].speaker, "is speaker")
        for e in known.spoken[q].addressees:
            rows.mark(e, "is addressee")
        rows.mark(known.conversation.named_ahead(q, 1), "next speaker")
        mark_last_quote(known, rows, q)
        # Who takes turns in the conversation around is seldom "he" or "she" in it.
        mark_past_turns(known, rows, q)
        mark_later_turns(known, rows, q)
        for k in tag.vocatives:
            rows.mark(known.entity[k], "vocative here")
        if kind == "second":
            rows.mark(known.entity_of(tag.object), "tag object")

    def _mark_tag(self, rows: Candidates, q: int) -> None:
        """The subject of a tag speaks quote `q`: what tells of the speaker tells of whom "she" means."""
        known, talk = self._known, self._known.conversation
        for k in talk.turn_of(q):
            for n in self._t.tags[k].vocatives:
                rows.mark(known.entity_of(n), "vocative here")
            for n in known.within_quote(k):
                if self._t.markables[n].kind == "name":
                    rows.mark(known.entity_of(n), "named in quote")
        for e in talk.last_addressees(q):
            rows.mark(e, "tag addressee before")
        if talk.answers(q):
            last, before = talk.last_speakers(self._t.speech.spans[q][0])
            rows.every("answers")
            rows.mark(last, "answers and last speaker")
            rows.mark(before, "answers and speaker before")
        self._mark_verb(rows, q)
        mark_turns(known, rows, q)

    def _mark_verb(self, rows: Candidates, q: int) -> None:
        """ "He continued": the last speaker most likely, or who has a tag in this turn already; "he replied":
        somebody else."""
        tags, talk = self._t.tags, self._known.conversation
        turn = talk.turn_of(q)
        before = [tags[k].subject for k in turn if k < q and tags[k].subject not in (-1, tags[q].subject)]
        last, _ = talk.last_speakers(self._t.speech.spans[turn[0]][0])
        who = self._known.entity_of(before[-1]) if before else last
        if before:
            rows.mark(who, "same turn speaker")
        verb = bare_word(self._t.book, tags[q].verb) if tags[q].verb >= 0 else ""
        for verbs, name in ((_GOES_ON, "tag goes on"), (_REPLIES, "tag replies")):
            if verb in verbs:
                rows.every(name)
                rows.mark(who, f"{name} and last speaker")

    def _mark_nominal(self, rows: Candidates, i: int) -> None:
        """Whom the noun and the whole phrase meant, whose kin it is, and to whom grammar ties it."""
        m, known = self._t.markables[i], self._known
        if (determined := f"d {m.definite or 'none'}") in INDEX:
            rows.every(determined)
        rows.every("n vocative", is_vocative(self._t.book, m))
        rows.every("n kin", m.noun in kin.KIN)
        rows.every("n gendered", bool(m.gender))
        rows.every("n with more", m.end > m.head)
        rows.x[: len(rows.ids), _OF_PHRASES] = known.phrases.features(rows.ids, m)
        for e in rows.ids:
            rows.mark(e, "same noun", float(m.noun in known.state.nouns[e]))
        owner = known.owner(m)
        rows.mark(owner, "owner")
        rows.mark(known.kin.who_is(owner, m.noun), "kin known")
        for e in self._bearers(m.noun):
            rows.mark(e, "title noun")
        for e in known.kin.family_of(owner, m.noun):
            rows.mark(e, "same surname as owner")
            if known.kin.fits_title(e, m.noun):
                rows.mark(e, "kin by title")
        for k, name in self._bridges.get(i, ()):
            rows.mark(known.entity_of(k), name)

    # --- what the whole text says -------------------------------------------------------------------------

    def _find_bridges(self) -> dict[int, list[tuple[int, str]]]:
        """Nominals tied by grammar: apposition ("Anna, my sister") and copula ("Anna was the owner")."""
        ms, parse = self._t.markables, self._t.parse
        by_head = self._known.by_head
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
        named = [m for m in self._t.markables if m.kind == "name" and m.character >= 0]
        spans = ((m.start, m.end, m.character) for m in named)
        found = find_callings(self._t.book, self._t.parse, spans)
        for e, person in enumerate(self._t.people):
            names = (person.entry.name, *person.entry.aliases)
            found[e].update(living(word) for name in names for word in name.lower().split())
        return found

    def _find_unmarried(self) -> set[int]:
        """Whom the whole book calls Miss, and hardly ever Mrs."""
        seen: dict[int, list[int]] = defaultdict(lambda: [0, 0])
        for m in self._t.markables:
            if m.kind == "name" and m.character >= 0:
                words = m.text.lower().replace(".", " ").split()
                for n, titles in enumerate((honorifics.UNMARRIED, honorifics.MARRIED)):
                    seen[m.character][n] += not titles.isdisjoint(words)
        return {e for e, (miss, mrs) in seen.items() if miss >= _OFTEN_MISS and mrs <= _SELDOM * miss}
