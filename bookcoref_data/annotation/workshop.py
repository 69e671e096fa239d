"""What a person must see to judge a cast: every name in the book with its places, whose it is now, and why;
who may be one person, and who may be two."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

from ..books import Book
from ..books.annotation import Marked
from ..books.layout import find_chapters, find_paragraphs, join_tokens
from ..shapes import attributes
from ..words import honorifics
from .cast import Cast, Entry, cast_lines, make_cast, parse_cast, split_range
from .embedded import lexicon as lex
from .embedded.aliases import learn_aliases
from .embedded.linking import listed_twice, never_found
from .embedded.names import RULES, NameTable, book_words, gender_of_first_name, learned_table, name_words
from .embedded.parsing import Parse
from .grouping import Group, are_one_name
from .identity import Scenes, Somebody, Span, may_be_one, weight
from .narration import chapter_ranges, names_in_place, narration_of
from .propose import SHORT, find_brides
from .sightings import name_runs

NOBODY = -1
_PASSAGES, _BEFORE, _AFTER = 2, 14, 14
"""Passages of a name, and their tokens before and after it."""
_LEAST_TIMES, _MOST_OTHERS = 3, 300
"""Times that a name which nobody has must occur to be offered (in a short text once), and how many are."""
_PARTNERS = 8
"""People who are offered first to be joined with somebody."""
_LIKELY, _SAME_NAME, _TWO_FIRST_NAMES = 1.5, 1.0, 8.0
"""Evidence (a logit) from which two people are named as maybe one; what the same first name adds to it; how
much two of one surname with two first names need ("Morris" and "Mawruss")."""
_TOGETHER, _SOMETIMES, _MOST_DOUBTS = 0.04, 2, 3
"""Share of the rarer name's sentences that also have the other, and their number, from which two names look
like two people; doubts that are shown of a person."""


@dataclass(frozen=True, slots=True)
class CastName:
    """A name as the book writes it, the character who has it now (-1: nobody) and why, the first token of
    each place, and passages (before, name, after). `person`: it behaves like a person's name."""

    text: str
    owner: int
    why: str
    starts: tuple[int, ...]
    passages: tuple[tuple[str, str, str], ...]
    person: bool = True


@dataclass(frozen=True, slots=True)
class CastWorkshop:
    """A cast file with what the book says of it.

    `lines` are those of the file, `people` the characters with the numbers of their lines and the narrators;
    `names` are the names of the book. `partners` are pairs of characters that may be one, likeliest first,
    with the evidence (a logit) and a reason where it is strong; `doubts` say which names of a character may
    be another's. `chapters` are number, and first and last token. `notes` are those of `annotate`.
    """

    doc_key: str
    size: int
    lines: tuple[str, ...]
    people: tuple[tuple[Entry, tuple[int, ...], str], ...]
    names: tuple[CastName, ...]
    partners: tuple[tuple[int, int, float, str], ...]
    doubts: tuple[tuple[tuple[int, ...], str], ...]
    chapters: tuple[tuple[int, int, int], ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """All of it, as the page reads it."""
        people = [
            {"names": [e.name, *e.aliases], "gender": e.gender, "lines": lines, "told": told}
            for e, lines, told in self.people
        ]
        names = [attributes(n, "text owner why passages person") | {"at": n.starts} for n in self.names]
        return attributes(self) | {"people": people, "names": names}


def make_workshop(
    book: Book, parse: Parse, text: str, chapters: Sequence[tuple[str, int]] = (), source: str = "cast"
) -> CastWorkshop:
    """The workshop of a cast file with this text; `chapters` are headings (title, first token).

    Raises:
        UsageError: the text is no cast file, or names chapters that the book does not have.
    """
    headings = tuple(chapters) or find_chapters(book)
    cast, placed = check_cast(book, text, headings, source)
    learned = learn_aliases(book, placed, parse)
    table, _ = learned_table(learned.cast, book.tokens)
    work = _Workshop(book, parse, table, learned.groups)
    names = work.names()
    numbered = chapter_ranges(headings, len(book.tokens))
    # The numbers of each character's lines, and where he or she narrates: "", "all" or "16-18"
    lines: dict[str, list[int]] = defaultdict(list)
    told: dict[str, str] = {}
    for number, line in enumerate(cast_lines(text)):
        if line is not None:
            key = " ".join(line[0].name.split()).casefold()
            lines[key].append(number)
            if line[1]:
                told[key] = split_range(line[1])[1] or "all"
    people = ((e, tuple(lines[e.name.casefold()]), told.get(e.name.casefold(), "")) for e in cast.entries)
    return CastWorkshop(
        book.doc_key, len(book.tokens), tuple(text.lstrip("\ufeff").splitlines()),
        tuple(people), tuple(names), tuple(work.partners(names)), tuple(work.doubts(names)),
        tuple((n, a, b - 1) for n, (a, b) in numbered.items()),
        (*cast.notes, *listed_twice(cast), *never_found(book, cast, parse, work.mentions())),
    )  # fmt: skip


def check_cast(
    book: Book, text: str, chapters: Sequence[tuple[str, int]] = (), source: str = "cast"
) -> tuple[Cast, Cast]:
    """The cast in this text, also with its chapters as tokens of the book, if `annotate` can use it.

    Raises: as `make_workshop`, and for two narrators of one place.
    """
    cast = parse_cast(text, source)
    narration_of(cast.narrators, cast, book, chapters)
    return cast, names_in_place(cast, book, chapters)


class _Workshop:
    """The book while it is searched."""

    def __init__(self, book: Book, parse: Parse, table: NameTable, groups: Sequence[Group]) -> None:
        self.book, self.parse, self.table, self.groups = book, parse, table, groups
        self.scenes = Scenes(book, parse)
        self.text, self.starts, self.ends = join_tokens(book.tokens, find_paragraphs(book))
        self.likely = {at for g in groups for at in g.places if g.person > g.other}
        self.by_places = {name.lower() for g in groups for name in g.by_places}
        self.spans: dict[tuple[str, int], list[Span]] = defaultdict(list)
        self.own: dict[int, list[tuple[str, NameTable]]] = {}

    def names(self) -> list[CastName]:
        """Names of the characters, most frequent first; then those that nobody has."""
        taken: set[int] = set()
        hits = self.table.find(book_words(self.book.tokens))
        for hit, (who, _) in zip(hits, self.table.settle(hits), strict=True):
            if who >= 0:
                self.spans[self._written(hit.start, hit.end).lower(), who].append((hit.start, hit.end))
                taken.update(range(hit.start, hit.end + 1))
        named = (self._name(spans, who) for (_, who), spans in self.spans.items())
        found = sorted(named, key=lambda n: -len(n.starts))
        runs: dict[str, list[Span]] = defaultdict(list)
        for start, end in name_runs(self.book, self.parse):
            if taken.isdisjoint(range(start, end + 1)):
                runs[self._written(start, end)].append((start, end))
        least = 1 if len(self.book.tokens) < SHORT else _LEAST_TIMES
        others = [self._name(spans, NOBODY) for spans in runs.values() if len(spans) >= least]
        others.sort(key=lambda n: (not n.person, -len(n.starts)))
        return [*found, *others[:_MOST_OTHERS]]

    def mentions(self) -> list[Marked]:
        """The names that were found, by character."""
        return [Marked(*span, who) for (_, who), spans in self.spans.items() for span in spans]

    def _written(self, start: int, end: int) -> str:
        words = [t.strip("_") for t in self.book.tokens[start : end + 1] if t.strip()]
        return " ".join(words).replace(" .", ".").replace(" - ", "-")

    def _name(self, spans: Sequence[Span], who: int) -> CastName:
        text = Counter(self._written(a, b) for a, b in spans).most_common(1)[0][0]
        step = max(1, len(spans) // (_PASSAGES + 1))
        shown = list(spans[step::step][:_PASSAGES]) or list(spans[:_PASSAGES])
        person = sum(a in self.likely for a, _ in spans) * 2 > len(spans)
        passages = []
        for start, end in shown:
            first, last = max(0, start - _BEFORE), min(len(self.ends) - 1, end + _AFTER)
            cuts = (self.starts[first], self.starts[start], self.ends[end], self.ends[last])
            before, name, after = (" ".join(self.text[a:b].split("\n\n")) for a, b in pairwise(cuts))
            passages.append((before, name, after))
        why, starts = self._why(text, who), tuple(a for a, _ in spans)
        return CastName(text, who, why, starts, tuple(passages), person)

    def _why(self, text: str, who: int) -> str:
        """Why a character has a name."""
        if who < 0:
            return ""
        entry = self.table.people[who].entry
        words = tuple(name_words(text))
        if words == tuple(name_words(entry.name)):
            return ""
        if who not in self.own:
            longest = max(entry.aliases, key=lambda a: (_first(a) != "", len(a.split())), default=entry.name)
            bases = dict.fromkeys((entry.name, split_range(longest)[0]))
            self.own[who] = [(b, NameTable(make_cast([Entry(b, (), entry.gender)]))) for b in bases]
        for base, table in self.own[who]:
            rank = table.forms.get(words, {}).get(0)
            if rank is not None and text != base:
                return RULES[rank] + ("" if base == entry.name else f" of {base}")
        if text.lower() in self.by_places:
            return "in the same scenes, hardly ever in one sentence"
        shared = {*name_words(entry.name)} & {*words} - lex.TITLES
        if shared:
            return f"shares {max(shared, key=len).title()}"
        return "the only one with this title" if text.startswith("the ") else "as the list says"

    # -- who may be one ----------------------------------------------------------------------------------

    def partners(self, names: Sequence[CastName]) -> list[tuple[int, int, float, str]]:
        """Pairs of characters, likeliest first; of each the likeliest few."""
        bodies = {who: self._somebody(who) for who in {n.owner for n in names} - {NOBODY}}
        at = {start: who for (_, who), spans in self.spans.items() for start, _ in spans}
        brides = (pair[:2] for pair in find_brides(self.groups, self.book, self.parse))
        owners = ([Counter(at.get(place, NOBODY) for place in g.places) for g in pair] for pair in brides)
        wed = [{counts.most_common(1)[0][0] for counts in pair} for pair in owners]
        weighed = []
        for one, other in combinations(sorted(bodies), 2):
            known, why = self._weighed(bodies[one], bodies[other])
            if {one, other} in wed:
                known = max(known, _LIKELY)
                why = "the book speaks of a marriage of hers to a man of that name"
            weighed.append((one, other, known, why))
        kept, times = [], Counter[int]()
        for one, other, known, why in sorted(weighed, key=lambda pair: -pair[2]):
            if why or min(times[one], times[other]) < _PARTNERS:
                kept.append((one, other, round(known, 2), why))
                times.update((one, other))
        return kept

    def _somebody(self, who: int) -> Somebody:
        """A character as it is weighed against others."""
        person, entry = self.table.people[who], self.table.people[who].entry
        spans = [span for (_, owner), found in self.spans.items() if owner == who for span in found]
        titles = {word for name in (entry.name, *entry.aliases) for word in name_words(name)[:1]}
        return Somebody(
            frozenset(person.first[:1]), person.family, person.gender * (person.gender in ("m", "f")),
            len(spans), self.scenes.traces(sorted(spans)), married=bool(titles & honorifics.MARRIED),
        )  # fmt: skip

    @staticmethod
    def _weighed(a: Somebody, b: Somebody) -> tuple[float, str]:
        """The evidence that two characters are one, and why they may be; "" where little speaks for it."""
        same = any(are_one_name(x, y) or x[:3] == y[:3] for x in a.firsts for y in b.firsts)
        known = weight(a, b) + _SAME_NAME * same
        if {a.gender, b.gender} == {"m", "f"}:
            return known - 10, ""
        if same and (a.last == b.last or not (a.last and b.last)):
            return known, "first names that may be one" if known > -_LIKELY else ""
        if may_be_one(a, b):
            why = "a first name and a surname that turn up in the same scenes"
            return known, why if known >= _LIKELY else ""
        asked = a.last == b.last != "" and known >= _TWO_FIRST_NAMES
        return known - 5, "one surname, and one answers when the other is called" if asked else ""

    # -- who may be two ----------------------------------------------------------------------------------

    def doubts(self, names: Sequence[CastName]) -> list[tuple[tuple[int, ...], str]]:
        """Names that may be another's than the rest of a character's, by their numbers, with the reason."""
        found = []
        for who in dict.fromkeys(n.owner for n in names if n.owner >= 0):
            mine = {i: n for i, n in enumerate(names) if n.owner == who}
            # The gender that a name shows by a title, or by a first name that has a surname somewhere
            firsts = {_first(n.text) for n in mine.values()} - {""}
            genders = {}
            for i, n in mine.items():
                words = name_words(n.text)
                first = gender_of_first_name(next((word for word in words if word in firsts), ""))
                genders[i] = next(filter(None, map(honorifics.honorific_gender, words)), "") or first
            kinds = [self._apart(mine, genders, "a man and a woman by title or first name"),
                     self._apart(mine, {i: _first(n.text) for i, n in mine.items()}, "two first names"),
                     *self._together(mine)]  # fmt: skip
            found += [doubt for doubt in kinds if doubt[0]][:_MOST_DOUBTS]
        return found

    @staticmethod
    def _apart(mine: dict[int, CastName], kinds: dict[int, str], why: str) -> tuple[tuple[int, ...], str]:
        """The names of another kind than most mentions have, where the two cannot be one person's."""
        counts = Counter[str]()
        for i, kind in kinds.items():
            counts[kind] += len(mine[i].starts) if kind else 0
        most = max(counts, key=lambda kind: counts[kind], default="")
        others = [i for i, kind in kinds.items() if most and kind and not are_one_name(kind, most)]
        return tuple(others), why

    def _together(self, mine: dict[int, CastName]) -> list[tuple[tuple[int, ...], str]]:
        """The rarer of two names that stand in one sentence too often to be one person's."""
        found: dict[int, str] = {}
        places = {i: {*self.parse.sentence[list(n.starts)].tolist()} for i, n in mine.items()}
        for rarer, other in combinations(sorted(mine, key=lambda i: len(mine[i].starts)), 2):
            both = len(places[rarer] & places[other])
            a, b = ({*name_words(mine[i].text)} for i in (rarer, other))
            if both > max(_SOMETIMES, _TOGETHER * len(places[rarer])) and not (a < b or b < a):
                found.setdefault(rarer, f"it stands in one sentence with {mine[other].text} {both} times")
        return [((i,), why) for i, why in found.items()]


def _first(text: str) -> str:
    """The first name in a name of two words or more, lower case; "" where there is none."""
    words = [word for word in name_words(text) if word not in lex.TITLES]
    return words[0] if len(words) > 1 and words[0] in lex.FIRST_NAMES else ""
