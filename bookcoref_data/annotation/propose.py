"""Propose a cast from the book itself, for a person who has none: names, other names, counts, passages.

The proposal is meant to be read and edited; it is written in the format of a cast file.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..books import Book
from ..errors import UsageError, plural
from ..shapes import attributes
from ..words import honorifics, word_set
from .cast import Cast, Entry, make_cast
from .embedded import lexicon as lex
from .embedded.parsing import Parse, parse_book
from .embedded.phrases import find_callings, living
from .grouping import ANY, WIFE, Group, group_names
from .identity import Scenes, evidence
from .sightings import epithets, name_runs

SHORT = 1500
"""Tokens of a text below which a person who is named once belongs to its cast."""
_SHOWN_NAMES, _BEFORE, _AFTER = 4, 5, 7
_SPEAKS, _ANOTHER = 3, 2.0
"""Times that somebody without a name must speak, and evidence that he is one of those who have a name."""
_LIVINGS = lex.CALLINGS | lex.TITLE_NOUNS.keys()
_RARE = 0.15
"""Least share of a name among all names of a person to be the one in the output."""
_WED = word_set("married marriage wed wedded wedding wife husband bride")
_MOTHERS = word_set("mother mamma mama dowager son widow stepmother grandmother")
_ASKED, _SURE, _RIVAL = 2, 4, 2.5
"""Sentences that make a man's wife a question, and sure, and how many times more than any other woman's."""
_LATER, _MISS, _MOTHER = 0.1, 0.2, 0.1
"""Share of the book between her first name and the married one; most of "Miss Brooke" behind that, and of
sentences with a mother: brides of 15 novels came to 0.18 and 0.11 (one sentence), mothers-in-law to 0.2."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """One character: the entry of the cast, how often each name occurs, and passages that name it."""

    entry: Entry
    counts: tuple[tuple[str, int], ...]
    examples: tuple[str, ...]

    @property
    def total(self) -> int:
        return sum(n for _, n in self.counts)

    @property
    def remark(self) -> str:
        """For the person who edits the cast: "312 times: Emma 250, Miss Woodhouse 62 | ..."."""
        shown = ", ".join(f"{name} {n}" for name, n in self.counts[:_SHOWN_NAMES])
        more = ", ..." if len(self.counts) > _SHOWN_NAMES else ""
        passages = "".join(f" | {passage}" for passage in self.examples)
        return f"{plural(self.total, 'time')}: {shown}{more}{passages}"

    def to_dict(self) -> dict[str, Any]:
        """Name, aliases, counts by name, passages."""
        more = {"count": self.total, "counts": dict(self.counts), "examples": list(self.examples)}
        return attributes(self.entry, "name aliases") | more


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposed cast, most frequent first, and what stands behind each entry."""

    cast: Cast
    characters: tuple[Proposed, ...]


def propose_cast(
    book: Book,
    *,
    parse: Parse | None = None,
    least: int | None = None,
    most: int = 80,
    allow_none: bool = False,
    groups: Sequence[Group] | None = None,
) -> Proposal:
    """People who are named at least `least` times: their names have titles or first names, or they speak.

    The book is parsed unless its `parse` is given, and its names are grouped unless their `groups` are. In a
    text of less than 1,500 tokens once is enough, also for a first name that does nothing there.

    Raises:
        UsageError: the book has no such name, unless `allow_none`.
    """
    short = len(book.tokens) < SHORT
    least = least or (1 if short else 5)
    if groups is None:
        parse = parse or parse_book(book)
        scenes = Scenes(book, parse)
        groups = group_names(book, parse, scenes)
        for her, wife, sure in find_brides(groups, book, parse):
            if sure:
                her.take(wife)
        groups += _people_without_names(book, parse, scenes, groups, least)
        if short:
            groups += _first_names(book, parse, groups)
    ranked = sorted((g for g in groups if g.count >= least), key=lambda g: (-g.count, min(g.names)))
    characters: dict[str, Proposed] = {}
    for group in ranked[:most]:
        made = _proposed(group, book)
        characters.setdefault(made.entry.name.casefold(), made)
    entries = [c.entry for c in characters.values()]
    if not entries and not allow_none:
        raise UsageError(
            f"no cast can be proposed: {book.doc_key} names nobody often enough",
            expected=f"somebody who is named at least {plural(least, 'time')} and behaves like a person",
            found=f"{plural(max((g.count for g in groups), default=0), 'time')} at most",
            hint="write the names into a file, one per line, and give it with --cast",
        )
    return Proposal(make_cast(entries) if entries else Cast(()), tuple(characters.values()))


def find_brides(groups: Sequence[Group], book: Book, parse: Parse) -> list[tuple[Group, Group, bool]]:
    """Who became "Mrs. Casaubon": pairs of a woman and a "Mrs.", and whether it is sure.

    The places do not tell it: she is Dorothea when told of, Mrs. Casaubon in speech, often in one sentence.
    Sentences with her, a man of that surname and a word for marriage do, if no other woman has as many,
    and the times: "Mrs. Casaubon" comes late, "Miss Brooke" stops there. His mother is called a mother.
    """
    low, sentence = [token.lower().rstrip(".") for token in book.tokens], parse.sentence
    told, mothers = (
        {int(sentence[i]) for i, w in enumerate(low) if w in words} for words in (_WED, _MOTHERS)
    )
    where = {id(g): {*sentence[g.places].tolist()} for g in groups}
    wives = [g for g in groups if g.role == WIFE and g.last and not g.first]
    spans = {id(g): np.quantile(g.places, (0.1, 0.9)) for g in wives}
    found = []
    for wife in wives:
        men = (where[id(g)] for g in groups if g.last == wife.last and g.gender != "f")
        his, own, begins = told.intersection(set[int]().union(*men)), where[id(wife)], spans[id(wife)][0]
        women = [(len(where[id(g)] & his), g) for g in groups if g.gender == "f" and g.last != wife.last]
        (second, _), (times, her) = sorted([(0, wife), (0, wife), *women], key=lambda pair: pair[0])[-2:]
        misses = [at > begins for at in her.places if low[at] in honorifics.UNMARRIED]
        later = begins - min(her.places) >= _LATER * len(low) and sum(misses) <= _MISS * len(misses)
        if times >= _ASKED and times > second and her.role != WIFE and later:
            mother = len(own & mothers) > max(1, _MOTHER * len(own))
            found.append((her, wife, times, times >= max(_SURE, _RIVAL * second) and not mother))

    def with_others(her: Group, wife: Group) -> int:
        (a, b), hers = spans[id(wife)], [f for f in found if f[0] is her and f[1] is not wife]
        return max((n for _, w, n, _ in hers if spans[id(w)][0] <= b and a <= spans[id(w)][1]), default=0)

    return [(her, wife, sure) for her, wife, times, sure in found if times > with_others(her, wife)]


def _people_without_names(
    book: Book, parse: Parse, scenes: Scenes, groups: Sequence[Group], least: int
) -> list[Group]:
    """ "The secretary", who speaks for himself: somebody without a name, if nobody with a name is said to be
    a secretary or stands where he does. A count who is hardly named else is called "the count"."""
    ends = dict(name_runs(book, parse))
    spans = [[(at, ends.get(at, at)) for at in g.places] for g in groups if g.count >= least and g.has_name]
    called = find_callings(book, parse, ((*span, n) for n, own in enumerate(spans) for span in own))
    taken = {noun for nouns in called.values() for noun in nouns}
    taken |= {name.lower().removeprefix("the ") for g in groups for name in g.names}
    people = [scenes.traces(own) for own in spans]
    found = []
    for noun, places in epithets(book, parse).items():
        if noun not in _LIVINGS or not {noun, living(noun)}.isdisjoint(taken):
            continue
        bearers = [g for g in groups if lex.TITLE_NOUNS.get(noun, noun) in g.titles]
        if any(g.count >= least for g in bearers) or len(bearers) > 1:
            continue
        traces = scenes.traces((at, at + 1) for at in places)
        if len(traces.speaks) < _SPEAKS:
            continue
        if max((evidence(traces, person) for person in people), default=0.0) >= _ANOTHER:
            continue
        group = Group("", noun, ANY, Counter({f"the {noun}": len(places)}), places)
        bearers[0].take(group) if bearers else found.append(group)
    return found


def _first_names(book: Book, parse: Parse, groups: Iterable[Group]) -> list[Group]:
    """First names that nothing shows to be people's but the list of first names: "Anna met Tom"."""
    known = {word for group in groups for name in group.names for word in name.split()}
    found: dict[str, Group] = {}
    for at, word in enumerate(book.tokens):
        is_name = word[:1].isupper() and parse.tag[at] == "NNP" and word not in known
        if is_name and word.lower() in lex.FIRST_NAMES:
            group = found.setdefault(word, Group(word, "", ANY))
            group.names[word] += 1
            group.places.append(at)
    return list(found.values())


def _proposed(group: Group, book: Book) -> Proposed:
    """The entry of a group: the longest name that is not rare first, then the others by length; an epithet
    ("the Professor") where there is nothing else."""
    names = group.names
    own = {n: times for n, times in names.items() if not n.startswith("the ")} or names
    least = _RARE * sum(own.values())
    name = max(own, key=lambda n: (names[n] >= least, len(n.split()), names[n], n))
    others = sorted((n for n in names if n != name), key=lambda n: (-len(n.split()), -names[n], n))
    # A passage from the middle of a book rather than its first lines
    middle = sorted(group.places)[len(group.places) // 2 :][:1]
    around = (filter(str.strip, book.tokens[max(0, at - _BEFORE) : at + _AFTER]) for at in middle)
    examples = tuple(f"... {' '.join(words).replace('#', '')} ..." for words in around)
    return Proposed(Entry(name, tuple(others)), tuple(names.most_common()), examples)
