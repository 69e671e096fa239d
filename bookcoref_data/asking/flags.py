"""Likely errors of an annotation that somebody else made, most likely first, with reason and correction.

Each rule looks for one kind of error with what the annotation itself says: who is called how, which gender a
chain has, how the same words are marked elsewhere. `chance` is the share of a rule's flags that was a planted
error or worth a look on the development documents of LitBank (`benchmarks/bench_audit.py`).
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ..books.annotation import Annotation, Marked
from ..books.layout import Layout
from ..edits import UNSURE, Edit, anchor_of
from ..errors import plural
from ..shapes import plain, together
from ..words import honorifics, long_lists, pronouns, word_set
from .answers import Answer, passage

_CLOSES = {"“": "”", '"': '"', "``": "''", "«": "»"}
_GENDER_OF = dict.fromkeys(pronouns.MALE, "m") | dict.fromkeys(pronouns.FEMALE, "f")
_GENDER_OF |= dict.fromkeys(pronouns.NEUTER, "n") | dict.fromkeys(pronouns.PLURAL, "p")
_SHARE, _FIFTH = 0.8, 5
"""Least share of a chain's pronouns, or of the places of a name, that makes the rest suspicious."""
_RUN = 60
"""Most tokens between two places that our reading has otherwise, if they are one matter."""
_READ = {0.9: 0.9, 0.8: 0.6, 0.7: 0.4}
"""How likely an error is where our reading is so certain of somebody else."""
_LEAST_APART = 3
"""Mentions that two chains of one name must have, one before the other, to be one chain cut in two."""
_MOST_NAME, _LONG = 4, 3
"""Most words of a name, and words from which a phrase may end with a clause."""


@dataclass(frozen=True, slots=True)
class Flag:
    """A likely error at tokens `start` to `end` (both inclusive): its kind, how likely it is one (0..1), why,
    and the corrections that would mend it."""

    kind: str
    start: int
    end: int
    chance: float
    reason: str
    edits: tuple[Edit, ...] = ()


def find_flags(a: Annotation, own: Sequence[Marked] = (), tags: Sequence[str] = ()) -> list[Flag]:
    """The likely errors of an annotation, most likely first, one for each place.

    `own` are mentions that our reading gives to another of the characters, with its probability; `tags` are
    the parts of speech of the tokens (Penn Treebank); what needs them is left out without them.
    """
    book = _Chains(a, tags)
    found = [
        *book.genders(), *book.names_of_others(), *book.two_chains(), *book.boundaries(),
        *book.not_marked(), *book.things(), *book.speakers(), *book.our_reading(own),
    ]  # fmt: skip
    best: dict[tuple[int, int], Flag] = {}
    for flag in sorted(found, key=lambda f: -f.chance):
        known = best.setdefault(place := (flag.start, flag.end), flag)
        if known.kind != flag.kind:
            both = 1 - (1 - known.chance) * (1 - flag.chance)
            best[place] = replace(known, chance=both, reason=f"{known.reason}; {flag.reason}")
    return sorted(best.values(), key=lambda f: (-f.chance, f.start))


def names_of_chains(a: Annotation) -> list[list[str]]:
    """The names of each chain that no other has more often, if it is a named person's."""
    book, found = _Chains(a), list[list[str]]()
    for who, names in enumerate(book.named):
        seen = book.genders_of[who]
        person = seen["m"] + seen["f"] + names.total() >= 2 and seen["n"] <= seen["m"] + seen["f"]
        own = [name for name, times in names.most_common() if times == max(book.owners[name].values())]
        found.append([" ".join(name) for name in own] if person else [])
    return found


def called(a: Annotation, who: int, near: int) -> str:
    """A chain in words: its name; where it has none, its mention nearest to a token that says most."""
    low, name = a.names[who].lower(), a.names[who]
    if who not in a.guessed or (name != low and low not in pronouns.ALL_PRONOUNS):
        return name
    told = ((a.book.text_of(m.mention).lower() in pronouns.ALL_PRONOUNS, m) for m in a.by_character[who])
    little, m = min(told, key=lambda pair: (pair[0], abs(pair[1].start - near)))
    return f"“{' '.join(a.book.tokens[m.start : m.end + 1 + _MOST_NAME * little])}”"


class _Chains:
    """An annotation, and how its chains are named and marked."""

    def __init__(self, a: Annotation, tags: Sequence[str] = ()) -> None:
        self.a, self.tokens, self.tags = a, a.book.tokens, tags
        self.low = [t.lower() for t in self.tokens]
        self.small = {t for t in self.tokens if t.islower()}
        self.begins = {0, *a.book.sentence_ends}

    # --- what is known of chains

    def words(self, m: Marked) -> tuple[str, ...]:
        return self.tokens[m.start : m.end + 1]

    @cached_property
    def genders_of(self) -> list[Counter[str]]:
        """How often each chain has pronouns and titles of each gender."""
        return [Counter(g for m in group if (g := self._gender(m))) for group in self.a.by_character]

    def _gender(self, m: Marked) -> str:
        first = self.low[m.start].rstrip(".")
        if m.start == m.end:
            return _GENDER_OF.get(first, "")
        named = self.tokens[m.end][:1].isupper() and self.tokens[m.start][:1].isupper()
        return honorifics.honorific_gender(first) if named else ""

    @cached_property
    def named(self) -> list[Counter[tuple[str, ...]]]:
        """The names by which each chain is called, and how often."""
        return [Counter(name for m in group if (name := self._name(m))) for group in self.a.by_character]

    def _name(self, m: Marked) -> tuple[str, ...]:
        """The words of a mention that is a proper name: all have a capital, one is never written small."""
        # "Your Excellency" is whoever is addressed.
        words = () if self.low[m.start] in _DETERMINERS else self.words(m)
        if len(words) > _MOST_NAME or not all(w[:1].isupper() or w == "." for w in words):
            return ()
        bare = [w for w in words if w.lower().rstrip(".") not in honorifics.HONORIFICS and w.isalpha()]
        return tuple(words) if any(w.lower() not in self.small and len(w) > 1 for w in bare) else ()

    @cached_property
    def owners(self) -> dict[tuple[str, ...], Counter[int]]:
        """Name -> the chains that have it, and how often."""
        found: dict[tuple[str, ...], Counter[int]] = defaultdict(Counter)
        for who, names in enumerate(self.named):
            for name, times in names.items():
                found[name][who] += times
        return found

    def _edit(self, op: str, m: Marked, **more: Any) -> Edit:
        at = anchor_of(self.tokens, m.start, m.end)
        return Edit(op, at=at, was=self.a.names[m.character], doc_key=self.a.doc_key, **more)

    def _link(self, m: Marked, who: int) -> Edit:
        return self._edit("link", m, character=self.a.names[who])

    def _nearest(self, m: Marked, gender: str) -> int:
        """The chain of a gender whose mention is nearest before a place; -1 for none."""
        for other in reversed(self.a.mentions[: bisect_left(self.a.mentions, m)]):
            if m.start - other.start > 200:
                break
            seen = self.genders_of[other.character]
            if other.character != m.character and seen[gender] >= _SHARE * max(1, seen.total()):
                return other.character
        return -1

    # --- rules

    def genders(self) -> Iterator[Flag]:
        """A pronoun or title of another gender or number than the chain."""
        for who, group in enumerate(self.a.by_character):
            seen = self.genders_of[who]
            for m in group:
                gender = self._gender(m)
                rest = seen.total() - 1
                top, times = seen.most_common(1)[0] if seen else ("", 0)
                if gender and gender != top and rest >= 1 and times >= _SHARE * rest:
                    told, often = {"m": "he", "f": "she", "p": "they", "n": "it"}[top], plural(times, "time")
                    name = called(self.a, who, m.start)
                    reason = f"“{self.tokens[m.start]}” is {name} here, elsewhere “{told}” ({often})"
                    to = self._nearest(m, gender)
                    edit = self._link(m, to) if to >= 0 else self._edit("unlink", m)
                    chance = 0.6 + 0.35 * min(rest, 10) / 10 - 0.3 * ("p" in (gender, top)) - 0.2 * (rest < 2)
                    yield Flag("gender", *m.mention, chance, reason, (edit,))

    def names_of_others(self) -> Iterator[Flag]:
        """A name of somebody else inside a chain."""
        for name, owners in self.owners.items():
            who, times = owners.most_common(1)[0]
            for other in owners:
                if other == who or owners[other] * _FIFTH > owners.total() or times < 2:
                    continue
                # "Mr. Bennet" and "Bennet" may be names of the same person, the name of a family of several.
                for m in self.a.by_character[other]:
                    if self._name(m) == name:
                        foreign = self.named[other].total() > self.named[other][name]
                        reason = f"“{' '.join(name)}” is {called(self.a, who, m.start)} at {times} places"
                        chance = min(0.95, 0.5 + 0.1 * times + 0.15 * foreign)
                        yield Flag("name of another", *m.mention, chance, reason, (self._link(m, who),))

    def two_chains(self) -> Iterator[Flag]:
        """Two chains that have the same name several times, or one after the other."""
        told: set[tuple[int, int]] = set()
        for name, owners in self.owners.items():
            (one, most), *others = owners.most_common()
            for other, times in others:
                share = times / owners.total()
                single = self.named[other][name] == self.named[other].total()
                # One of two chains of some length begins where the other is over.
                a, b = sorted((self.a.by_character[n] for n in (one, other)), key=lambda g: g[0].start)
                apart = min(len(a), len(b)) >= _LEAST_APART and a[-1].start < b[0].start
                pair = min(one, other), max(one, other)
                if pair not in told and share > 1 - _SHARE and (apart or (times >= 2 and single)):
                    told.add(pair)
                    m = next(m for m in self.a.by_character[other] if self._name(m) == name)
                    into, gone = self.a.names[one], self.a.names[other]
                    reason = f"“{' '.join(name)}” is {most} times {into}, {times} times {gone}"
                    edit = Edit("merge", character=gone, into=into, doc_key=self.a.doc_key)
                    chance = 0.75 if apart or len(name) > 1 or times > 2 else 0.6
                    yield Flag("two chains", *m.mention, chance, reason, (edit,))

    def boundaries(self) -> Iterator[Flag]:
        """A mention that ends or begins where a phrase goes on, or with a word that is no part of it."""
        forms = Counter(self._form(m.start, m.end) for m in self.a.mentions)
        marked = {(m.start, m.end) for m in self.a.mentions}
        for m in self.a.mentions:
            for start, end, chance, reason in self._better(m, forms):
                if start <= end and (start, end) not in marked:
                    edit = self._edit("span", m, to=anchor_of(self.tokens, start, end))
                    yield Flag("boundaries", *m.mention, chance, reason, (edit,))
                    break

    def _better(self, m: Marked, forms: Counter[tuple[str, ...]]) -> Iterator[tuple[int, int, float, str]]:
        """Other boundaries that a mention may have, how likely, and why."""
        first, last, long = self.tokens[m.start], self.tokens[m.end], m.end > m.start
        before = self.low[m.start - 1] if m.start and m.start not in self.begins else ""
        after = self.tokens[m.end + 1] if m.end + 1 < len(self.tokens) else ""
        clause = any(self._tag_of(i) in _CLAUSE for i in range(m.start, m.end))
        short = m.end - m.start < _LONG and not clause and last not in _MAY_END
        if long and (last in _MARKS or (short and self._tag_of(m.end) in _NO_END)):
            yield m.start, m.end - 1, 0.85, f"ends with “{last}”"
        badly = short and self._tag_of(m.start) in _NO_BEGIN and first.lower() not in _MAY_BEGIN
        if long and (first in _MARKS or badly):
            yield m.start + 1, m.end, 0.8, f"begins with “{first}”"
        tags = self._tag_of(m.end - 1), self._tag_of(m.end)
        if long and last.lower() in _DETERMINERS and tags[0] != "IN" and tags[1] == "DT":
            yield m.start, m.end + 1, 0.8, f"ends with “{last}”"
        if before.rstrip(".") in honorifics.BEFORE_SURNAMES and first[:1].isupper():
            yield m.start - 1, m.end, 0.85, f"“{before}” stands before it"
        whole = self._tag_of(m.end + 1)[:2] != "NN" and self._tag_of(m.start)[:2] in ("NN", "JJ")
        if before in _DETERMINERS and whole and first.islower():
            yield m.start - 1, m.end, 0.85, f"“{before}” stands before it"
        grown = forms[self._form(m.start, m.end + 1)]
        if grown and after[:1].isupper() == last[:1].isupper() and forms[self._form(m.start, m.end)] <= grown:
            yield m.start, m.end + 1, 0.7, f"with “{after}” it is marked {plural(grown, 'time')}"

    def _tag_of(self, i: int) -> str:
        return self.tags[i] if 0 <= i < len(self.tags) else ""

    def _form(self, start: int, end: int) -> tuple[str, ...]:
        return tuple(self.low[start : end + 1])

    def not_marked(self) -> Iterator[Flag]:
        """A place of a name that is marked nearly everywhere else."""
        taken = {i for m in self.a.mentions for i in range(m.start, m.end + 1)}
        places = together((token, i) for i, token in enumerate(self.tokens))
        for name, owners in sorted(self.owners.items(), key=lambda pair: -len(pair[0])):
            who, times = owners.most_common(1)[0]
            first, size = name[0], len(name)
            found = [i for i in places[first] if self.tokens[i : i + size] == name]
            bare = [i for i in found if taken.isdisjoint(range(i, i + size)) and not self._goes_on(i + size)]
            seldom = times == len(bare) == 1
            if not seldom and (times < 2 or len(bare) > max(1, (1 - _SHARE) * len(found))):
                continue
            for i in bare:
                taken.update(range(i, i + size))
                edit = Edit("link", at=anchor_of(self.tokens, i, i + size - 1), character=self.a.names[who],
                            doc_key=self.a.doc_key)  # fmt: skip
                marked = len(found) - len(bare)
                reason = f"“{' '.join(name)}” is marked at {marked} of {len(found)} places"
                chance = min(0.9, 0.5 + 0.08 * times) - 0.1 * seldom
                yield Flag("name not marked", i, i + size - 1, chance, reason, (edit,))

    def _goes_on(self, i: int) -> bool:
        """Whether a token is a further name of somebody: "Peter Palfrey" is not Peter Goldthwaite."""
        return any(t[:1].isupper() and t.lower() not in self.small for t in self.tokens[i : i + 1])

    def things(self) -> Iterator[Flag]:
        """A single word that is no name, noun or pronoun."""
        alike = Counter(self.low[m.start] for m in self.a.mentions if m.start == m.end)
        for m in self.a.mentions:
            tag, word = self._tag_of(m.start), self.low[m.start]
            known = word in pronouns.ALL_PRONOUNS or word in _PLACES or alike[word] > 1
            if m.start == m.end and tag and tag[:2] not in _NOUNS and not known and not word.isnumeric():
                clear = tag[:2] in _CLEAR and (tag[:2] != "VB" or word.endswith(("ed", "ing")))
                clear = clear and (self.tokens[m.start].islower() or m.start in self.begins)
                reason = f"“{self.tokens[m.start]}” is no noun, name or pronoun"
                chance, edit = 0.8 if clear else 0.45, self._edit("unlink", m)
                yield Flag("not a person", *m.mention, chance, reason, (edit,))

    # --- direct speech

    @cached_property
    def speech(self) -> list[tuple[int, int]]:
        """The stretches between an opening and its closing mark, as far as the marks are clear."""
        found, opened = [], -1
        for i, token in enumerate(self.tokens):
            if opened >= 0 and i > opened and token == _CLOSES[self.tokens[opened]]:
                found.append((opened, i))
                opened = -1
            elif token in _CLOSES:
                opened = i
        return found

    def speakers(self) -> Iterator[Flag]:
        """ "I" of one quotation that is two people, or not the one whom the tag names."""
        starts = {m.start: m for m in self.a.mentions if m.start == m.end}
        by_start = together((m.start, m) for m in self.a.mentions)
        for start, end in self.speech:
            said = [starts[i] for i in range(start, end) if i in starts and self.low[i] in pronouns.FIRST]
            if not said:
                continue
            who, tag = Counter(m.character for m in said), self._tag(end, by_start)
            most, times = who.most_common(1)[0]
            another: dict[tuple[int, Marked], list[Marked]] = defaultdict(list)
            for m in said:
                if m.character != most and times > who[m.character]:
                    who_else = called(self.a, most, m.start)
                    reason = f"{plural(times, 'time')} in this quotation “I” is {who_else}, but not here"
                    yield Flag("speaker", *m.mention, 0.85, reason, (self._link(m, most),))
                elif tag is not None and tag.character != m.character:
                    another[m.character, tag].append(m)
            for (_, by), group in another.items():
                named, m = " ".join(self.words(by)), group[0]
                more = f"; {len(group)} times here" if group[1:] else ""
                reason = f"“{self.tokens[m.start]}” should be who says it, “{named}”{more}"
                edits = tuple(self._link(m, by.character) for m in group)
                yield Flag("speaker", *m.mention, 0.4, reason, edits)

    def _tag(self, end: int, by_start: dict[int, list[Marked]]) -> Marked | None:
        """The mention that a tag behind a quotation names: "...," said Anna."""
        if _SAID.intersection(self.low[end + 1 : end + 2]) and end + 2 in by_start:
            return max(by_start[end + 2], key=lambda m: m.end)
        marked = max(by_start.get(end + 1, ()), key=lambda m: m.end, default=None)
        return marked if marked and _SAID.intersection(self.low[marked.end + 1 : marked.end + 2]) else None

    # --- against our own reading

    def our_reading(self, own: Sequence[Marked]) -> Iterator[Flag]:
        """Mentions of third persons that our own reading gives to somebody else, a run as one."""
        theirs = {m.mention: m for m in self.a.mentions}
        runs: dict[tuple[int, int], list[list[Marked]]] = defaultdict(list)
        for m in sorted(own):
            if m.score < min(_READ) or self.low[m.start] in pronouns.FIRST | pronouns.SECOND:
                continue
            same = runs[theirs[m.mention].character, m.character]
            if not same or m.start - same[-1][-1].start > _RUN:
                same.append([])
            same[-1].append(m)
        for (_, who), found in runs.items():
            for first, *more in found:
                surest = max(m.score for m in (first, *more))
                edits = tuple(self._link(theirs[m.mention], who) for m in (first, *more))
                often = f"; {len(edits)} times here" if more else ""
                reason = f"we read {called(self.a, who, first.start)} here, {surest:.0%} certain{often}"
                chance = next(chance for least, chance in _READ.items() if surest >= least)
                yield Flag("our reading", *first.mention, chance, reason, edits)


_MARKS = frozenset([",", ".", ";", ":", "!", "?", "(", "--", "—"])
_DETERMINERS = word_set("the a an my your his their our this these")
_NO_END = frozenset(["IN", "CC", "VBD", "VBP", "MD", "TO"])
_CLEAR = frozenset(["VB", "IN", "CC", "MD", "TO", "RB"])
_CLAUSE = frozenset(["WP", "WDT", "WRB", "PRP"])
_MAY_BEGIN, _MAY_END = word_set("that either neither near like"), word_set("beyond above below")
_NO_BEGIN = frozenset(["IN", "CC", "VBD", "VBZ", "VBP", "MD", "TO"])
"""Parts of speech with which a phrase for a person does not begin, or end if no clause is in it."""
_PLACES = word_set("here there upstairs downstairs home abroad both all another other others one ones")
_NOUNS = frozenset(["NN", "PR", "WP", "WD", "DT", "JJ", "CD", "FW"])
_SAID = word_set(long_lists()["SAID"])


def flag_as_dict(flag: Flag, a: Annotation, layout: Layout) -> dict[str, Any]:
    """A flag with its passage, as a question: mend it, leave it, or cannot tell."""
    why = {"why": f"{flag.kind}: {flag.reason}"}
    one, other = next(((e.character, e.into) for e in flag.edits if e.op == "merge"), ("", ""))
    at = anchor_of(a.book.tokens, flag.start, flag.end)
    group = f"a{flag.start}" if flag.edits[1:] else ""
    looked = Edit("seen", character=one, into=other, doc_key=a.doc_key, extra=why, group=group)
    seen = [replace(looked, at=e.at or at) for e in flag.edits]
    whose = next((m.character for m in a.mentions if m[:2] == (flag.start, flag.end)), None)
    left = "rightly left out" if whose is None else called(a, whose, flag.start)
    now = {"merge": "two people", "link": left}.get(flag.edits[0].op, "right")
    answers = (
        Answer("1", _told(flag.edits, a), tuple(replace(e, extra=why, group=group) for e in flag.edits)),
        Answer("2", f"no, it is {now}", tuple(replace(e, name="right as it is") for e in seen)),
        Answer("c", UNSURE, tuple(replace(e, name=UNSURE) for e in seen)),
    )
    told = {"kind": flag.kind, "doc_key": a.doc_key, **passage(layout, a.book.tokens, flag.start, flag.end)}
    return {**told, "wrong": round(flag.chance, 2), "reason": flag.reason, "answers": plain(answers)}


def _told(edits: Sequence[Edit], a: Annotation) -> str:
    """A correction in words."""
    e = edits[0]
    if e.op == "span" and e.to:
        return f"yes, the words are “{e.to.words}”"
    name = called(a, a.index[e.character], e.at.start) if e.op == "link" and e.at else e.character
    told = {"link": f"yes, it is {name}", "merge": f"yes, {name} is {e.into}"}
    return told.get(e.op, "yes, it is no mention")
