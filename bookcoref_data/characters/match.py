"""Join cast lists to Gutenberg: every work of every source, rule by rule, then one source per book.

The catalogue is a polars table as `sources/catalogue.py` describes it. What comes out is a decision for
every work, with its reason, and the books with the cast that was chosen (paper, section 3.1, Appendix A):
of several sources the one with most characters, never a merged list; books with fewer than five fall out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ..errors import UsageError, plural
from ..late import pl
from ..shapes import together
from .candidates import (
    CandidateRows,
    CatalogueRow,
    PreparedCatalogue,
    authors_of,
    find_candidates,
    has_author,
    prepare,
    same_titles,
    title_keys,
    titles_of,
)
from .editions import Considered, EditionSettings, bearers, choice_of, choose, is_drama, one_line, shortened
from .joins import Joins
from .match_rules import RULES, Override, Rule, find_override
from .presence import Presence, names_shared
from .table import SOURCES, HarvestedCast
from .titles import folded_author, generation, main_title

OTHER_MEDIA = ("film", "television", "game", "opera", "musical", "comics", "music", "adaptation")
"""Flags of works that are not books (the harvest sets them from Wikidata's classes)."""
NO_PERSON = ("author", "group")
"""Flags of characters that are nobody of the book: its author, and several people under one name."""
_PLAY_CLASSES = frozenset({"Q25379", "Q25372", "Q40831", "Q80930"})
"""Wikidata's classes play, drama, comedy, tragedy."""
STATED = Rule("stated", "the source itself names the Gutenberg book (P2034)", frozenset, frozenset, tier=-1)
_MOST_SHOWN = 5  # records of the same title and names of a cast that a reviewer is shown
SERIES_CAST = "series-cast"
"""Flag of a work whose cast is listed on its series (the harvest sets it)."""
_CLOSE_TIER = 1
LENT = "author-lent"
"""Flag of a cast whose author comes from another source."""
PRESENT, ABSENT = 0.5, 0.2
"""Shares of a cast in a text from which on it is the cast's book, and below which it is not. Of LiSCU's 59
lists for books of the mirror 55 reach the first and none stays below the second; of 47,365 lists beside books
that are not theirs 41 reach the first (benchmarks/bench_match.py --names)."""
_MOST_READ = 6  # texts that are looked into for one work
_LEAST_SHARED = 0.3  # of a cast without author, with the cast of the work that lends it one
TextOf = Callable[[int], "str | None"]
"""The text of a Gutenberg book, None where it is not at hand."""
_CERTAIN = frozenset({"exact", "accents", "article", "subtitle", "override", "stated"})
_CLEAR_LEAD = 3.0  # without an author, one author's editions must have this many times the other's downloads


@dataclass(frozen=True, slots=True)
class MatchSettings:
    """How to match.

    `rules` are names of `RULES` in the order in which they are tried. `sources` is the order that decides
    between sources with equally many characters. `choose` is "most-characters" (the paper) or
    "source-order" (the first source that has the book). Works with one of `refuse_flags` are no books;
    characters with one of `leave_out` are not taken, counted or annotated. Books under `least_characters`
    fall out.
    """

    rules: tuple[str, ...] = tuple(RULES)
    editions: EditionSettings = field(default_factory=EditionSettings)
    sources: tuple[str, ...] = SOURCES
    choose: str = "most-characters"
    least_characters: int = 5
    refuse_flags: tuple[str, ...] = OTHER_MEDIA
    leave_out: tuple[str, ...] = NO_PERSON

    def __post_init__(self) -> None:
        unknown = [name for name in self.rules if name not in RULES]
        if unknown or not self.rules:
            raise UsageError(f"unknown rules: {', '.join(unknown) or 'none given'}",
                             expected=f"among {', '.join(RULES)}")  # fmt: skip
        if self.choose not in ("most-characters", "source-order"):
            raise UsageError(f"choose = {self.choose!r}", expected="most-characters or source-order")


@dataclass(frozen=True, slots=True)
class WorkDecision:
    """What became of one work of one source: the record, the rule that found it, and why (not).

    `considered` are the records that were looked at, the one taken first; `names` the first characters;
    `left_out` names of the source that are nobody of the book, with the reason. `unproved` says why the
    record is not to be relied on: it bears the title alone, and the text does not confirm it.
    """

    source: str
    work_id: str
    title: str
    author: str
    characters: int
    gutenberg_id: int | None
    rule: str
    reason: str
    considered: tuple[Considered, ...] = ()
    link: str = ""
    doubts: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    unproved: str = ""

    @property
    def review(self) -> str:
        """Why a person should look at this decision; "" when the words of title and author are the same."""
        if self.gutenberg_id is None:
            return "near miss" if self.considered else ""
        found = () if self.rule in _CERTAIN else (f"found by {self.rule}",)
        return "; ".join(filter(None, (*found, *self.doubts, self.unproved)))


@dataclass(frozen=True, slots=True)
class MatchedBook:
    """A Gutenberg book with the cast of the `work` chosen for it; where it is not `kept`, `reason` says why.

    `aliases` go with `characters`, one tuple each. `others` are (source, work_id, characters) not chosen.
    """

    gutenberg_id: int
    title: str
    author: str
    work: WorkDecision
    characters: tuple[str, ...]
    aliases: tuple[tuple[str, ...], ...]
    kept: bool
    reason: str
    others: tuple[tuple[str, str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class MatchReport:
    """All decisions: `works` in the order of the casts, `books` by Gutenberg id."""

    works: tuple[WorkDecision, ...]
    books: tuple[MatchedBook, ...]
    unused_overrides: tuple[Override, ...] = ()


def match(
    casts: Sequence[HarvestedCast], catalogue: pl.DataFrame, settings: MatchSettings | None = None,
    overrides: Sequence[Override] = (), prepared: PreparedCatalogue | None = None,
    text_of: TextOf | None = None,
) -> MatchReport:  # fmt: skip
    """Match every cast to the catalogue and choose one cast per book.

    `prepared` is what `prepare(catalogue)` gives, where that is kept. A record that bears a title alone, not
    an author, is kept only where the names of the cast are in its text, which `text_of` gives.

    Raises UsageError: an override names a book that the catalogue does not have.
    """
    settings = settings or MatchSettings()
    casts = lend_authors(casts)
    flags = set(settings.leave_out)
    left_out = [
        tuple(
            f"{row.character} ({', '.join(flag for flag in row.flags if flag in flags)})"
            for row in cast.rows
            if flags & set(row.flags)
        )
        for cast in casts
    ]
    # A cast of which nobody would be left stays as it is.
    casts = [HarvestedCast(tuple(r for r in c.rows if not flags & set(r.flags)) or c.rows) for c in casts]
    prepared = prepared or prepare(catalogue)
    stated = [int(number) for cast in casts for number in cast.work.gutenberg_ids]
    stated += [o.gutenberg_id for o in overrides if o.gutenberg_id]
    records = find_candidates(catalogue, casts, stated, prepared)
    # Refuse an override to a book that the catalogue does not have
    gone = [o for o in overrides if o.gutenberg_id and records.row(o.gutenberg_id) is None]
    if gone:
        what = "an override names a book that is not in the catalogue"
        named = "; ".join(f"{o.gutenberg_id} for {o.title or o.work_id}" for o in gone[:5])
        hint = "correct the number in the overrides, or use a newer catalogue (--catalogue)"
        raise UsageError(what, expected="a Gutenberg id of the catalogue", found=named, hint=hint)
    of_casts = [find_override(overrides, cast) for cast in casts]
    decisions = _decided_early(casts, of_casts, settings)
    open_works = {index: cast for index, cast in enumerate(casts) if index not in decisions}
    found = _candidates_of(open_works, records, settings)
    without = {index: cast for index, cast in open_works.items() if not found[index]}
    bearing = same_titles(catalogue, without, prepared)
    if "title-only" in settings.rules:
        # Works without a record may take those of the same title that name no author
        authorless = {r["id"]: r for rows in bearing.values() for r in rows if not has_author(r)}
        for index, rows in bearing.items():
            found[index] = {r["id"]: _Found(r, RULES["title-only"]) for r in rows if r["id"] in authorless}
        records = records._replace(untold={**records.untold, **authorless})
    proof = _Proof(text_of)
    for index, cast in open_works.items():
        decisions[index] = _decide(cast, found[index], settings, proof, bearing.get(index, ()))
    decisions |= _united(casts, decisions, found, settings)
    works = tuple(replace(decisions[index], left_out=names) for index, names in enumerate(left_out))
    books = tuple(_books(casts, works, records, settings))
    return MatchReport(works, books, tuple(o for o in overrides if o not in of_casts))


def lend_authors(casts: Sequence[HarvestedCast]) -> list[HarvestedCast]:
    """Give casts without an author (LiSCU's name lists) the author that others name for the same title.

    Nothing is lent when two sources name different authors for the title, or when the casts have hardly a
    name in common: they are two works. A lent author is marked by the flag "author-lent".
    """
    known = together((key, cast) for cast in casts if authors_of(cast) for key in title_keys(cast))
    lent = []
    for cast in casts:
        lenders = [] if authors_of(cast) else [o for key in title_keys(cast) for o in known.get(key, ())]
        authors = {folded_author(authors_of(lender)[0]): authors_of(lender)[0] for lender in lenders}
        shared = (names_shared(_people(cast), _people(lender)) for lender in lenders)
        if len(authors) == 1 and max(shared) >= _LEAST_SHARED:
            author = next(iter(authors.values()))
            rows = (replace(row, author=author, flags=(*row.flags, LENT)) for row in cast.rows)
            cast = HarvestedCast(tuple(rows))
        lent.append(cast)
    return lent


# -- decisions ---------------------------------------------------------------------------------------


def _decided_early(
    casts: Sequence[HarvestedCast], overrides: Sequence[Override | None], settings: MatchSettings
) -> dict[int, WorkDecision]:
    """Works that an override decides, or that are no books."""
    decided = {}
    for index, (cast, override) in enumerate(zip(casts, overrides, strict=True)):
        other = sorted(set(cast.work.flags) & set(settings.refuse_flags))
        if override:
            reason = override.reason if override.gutenberg_id else f"left out: {override.reason}"
            decided[index] = _decision(cast, override.gutenberg_id, "override", reason)
        elif other:
            decided[index] = _decision(cast, None, "", f"not a book: {', '.join(other)}")
    return decided


class _Found(NamedTuple):
    """A record and the first rule that found it."""

    record: CatalogueRow
    rule: Rule


FoundById = dict[int, _Found]


def _candidates_of(
    open_works: Mapping[int, HarvestedCast], records: CandidateRows, settings: MatchSettings
) -> dict[int, FoundById]:
    """All records that any rule finds for each work, under the first rule that finds it.

    Title alone is tried only for works that no rule with an author has found a record for.
    """
    found: dict[int, FoundById] = {index: {} for index in open_works}
    named, untold = Joins(open_works, records.named), Joins(open_works, records.untold)
    for name in settings.rules:
        rule = RULES[name]
        left = None if rule.needs_author else [index for index in open_works if not found[index]]
        for index, ids in (named if rule.needs_author else untold).pairs(rule, left).items():
            for number in ids:
                found[index].setdefault(number, _Found(records.rows(rule)[number], rule))
    for index, cast in open_works.items():
        for stated in cast.work.gutenberg_ids:
            record = records.row(int(stated))
            if record is not None:
                found[index][int(stated)] = _Found(record, STATED)
    return found


def _people(cast: HarvestedCast) -> list[tuple[str, ...]]:
    """Every name of every character."""
    return [(row.character, *row.character_aliases) for row in cast.rows]


class _Proof:
    """Looks into texts for the people of casts; a text is read once."""

    def __init__(self, text_of: TextOf | None) -> None:
        self._text_of, self._read = text_of, dict[int, Presence | None]()

    def share(self, number: int, cast: HarvestedCast) -> float | None:
        """The share of a cast that is in the text of a book; None without a text."""
        if number not in self._read:
            text = self._text_of(number) if self._text_of else None
            self._read[number] = Presence(text) if text else None
        presence = self._read[number]
        return presence.share(_people(cast)) if presence else None


def _decide(
    cast: HarvestedCast, found: FoundById, settings: MatchSettings, proof: _Proof,
    bearing: Sequence[CatalogueRow] = (),
) -> WorkDecision:  # fmt: skip
    """The best of all records found for a work, with the others and why they were not taken.

    `bearing` are records of the same title by whomever; a work without a record shows them as near misses.
    """
    best, considered = _chosen(cast, found, found, settings)
    unproved = ""
    # The source may say that nobody knows the author: a record that names none agrees with it.
    nameless = bool(cast.work.author.strip()) and not authors_of(cast)
    if best and not found[best["id"]].rule.needs_author and not (nameless and not has_author(best)):
        best, considered, unproved = _proved(cast, found, considered, settings, proof)
    if best is None:
        near = [
            choice_of(r, f"the same title by {' and '.join(r['authors'][:2]) or 'nobody'}")
            for r in bearing[:_MOST_SHOWN]
        ]
        return _unmatched(cast, considered or near)
    rule = found[best["id"]].rule
    standing = {c.gutenberg_id for c in considered if _standing(c)}
    framed = [f.record for n, f in found.items() if n in standing and f.rule is RULES["frame"]]
    if rule is RULES["frame"] and (other := _another(best, framed)):
        reason = f"the title is a part of {one_line(other)!r} by this author, too"
        return _unmatched(cast, [choice_of(best, reason), *considered[1:]])
    if unproved:
        rival = _rival(best, [f.record for n, f in found.items() if n in standing])
        if rival is not None:
            reason = f"no author given, and {rival['id']} has another"
            return _unmatched(cast, [choice_of(best, reason), *considered[1:]])
    doubts, left = tuple(_doubts(cast, best)), sum(bool(c.refused) for c in considered)
    before = [f"taken before {plural(left, 'other record')}"] if left else []
    reason = "; ".join([f"{rule.name}: {rule.explanation}", *doubts, *before])
    made = _decision(cast, best["id"], rule.name, reason, considered)
    return replace(made, doubts=doubts, unproved=unproved)


def _chosen(
    cast: HarvestedCast, found: FoundById, among: Iterable[int], settings: MatchSettings
) -> tuple[CatalogueRow | None, list[Considered]]:
    """The best `among` the records found, and all of these with the reasons."""
    return choose(
        [found[number].record for number in among], titles_of(cast), settings.editions,
        play=bool(_PLAY_CLASSES & set(cast.work.kinds)) if cast.work.kinds else None, bearer=_bearer(cast),
        tiers={number: f.rule.tier for number, f in found.items()},
        literal=not any(f.rule.needs_author for f in found.values()),
    )  # fmt: skip


def _proved(
    cast: HarvestedCast, found: FoundById, considered: Sequence[Considered],
    settings: MatchSettings, proof: _Proof,
) -> tuple[CatalogueRow | None, list[Considered], str]:  # fmt: skip
    """(record, all with reasons, why it is not proved) of records that bear the title alone.

    The record whose text has the cast is taken; one whose text has hardly any of it is no candidate.
    """
    standing = [c for c in considered if _standing(c) or c.refused.startswith("its title")]
    by_author = {c.author: c.gutenberg_id for c in reversed(standing)}
    numbers = [c.gutenberg_id for c in standing if by_author[c.author] == c.gutenberg_id][:_MOST_READ]
    shares = {number: share for number in numbers if (share := proof.share(number, cast)) is not None}
    wanted = max(shares, key=lambda number: shares[number], default=0)
    proved = shares.get(wanted, 0.0) >= PRESENT
    left = [number for number in found if shares.get(number, 1.0) >= ABSENT]
    best, kept = _chosen(cast, found, [wanted] if proved else left, settings)
    taken = {c.gutenberg_id for c in kept}
    left_over = (c for c in considered if c.gutenberg_id not in taken)
    others = [c._replace(refused=c.refused or _seen(shares.get(c.gutenberg_id))) for c in left_over]
    return best, kept + others, "" if proved or best is None else _seen(shares.get(best["id"]))


def _seen(share: float | None) -> str:
    if share is None:
        return "the title alone, and there is no text at hand in which to look for the names (--mirror)"
    return f"the title alone, and only {share:.0%} of the cast is in its text"


def _bearer(cast: HarvestedCast) -> str:
    """ "elder" or "younger" when the work says which of two authors of one name it is by, else ""."""
    first = next((g for name in authors_of(cast)[:1] if (g := generation(name))), "")
    others = {generation(name) for name in (*cast.work.authors, *cast.work.author_aliases)} - {""}
    return first or (others.pop() if len(others) == 1 else "")


def _doubts(cast: HarvestedCast, record: CatalogueRow) -> Iterator[str]:
    """What a person should look at, whatever rule found the record."""
    if LENT in cast.work.flags:
        yield f"the author ({cast.work.author}) is another source's"
    if SERIES_CAST in cast.work.flags:
        yield "the cast is that of its series"
    if not cast.work.kinds and is_drama(record):
        yield "the record is a play, and the source does not say what the work is"
    if shortened(record):
        yield "perhaps a shortened edition"
    bearer = _bearer(cast)
    if bearer and not bearers(record):
        yield f"the source says by the {bearer} author of this name, the record does not say which"


def _united(
    casts: Sequence[HarvestedCast], decisions: Mapping[int, WorkDecision], found: Mapping[int, FoundById],
    settings: MatchSettings,
) -> dict[int, WorkDecision]:  # fmt: skip
    """One record per work across sources: works that are the same go to the best of their records.

    Gives the decisions that change.
    """
    changed = {}
    chosen = {index: decisions[index].gutenberg_id for index in found}
    # Two works are the same when each one's rules also find the record that was chosen for the other, by a
    # title that is not taken apart.
    close = {i: {n for n, f in of.items() if f.rule.tier <= _CLOSE_TIER} for i, of in found.items()}
    finders = together((number, index) for index, ids in close.items() for number in ids)
    for index, number in ((i, number) for i, number in chosen.items() if number is not None):
        same = {index, *(i for i in finders.get(number, ()) if chosen[i] in close[index])}
        numbers = {chosen[i] for i in same}
        if len(numbers) < 2:
            continue
        # Every record once, under the rule of the work that it fits best
        records: FoundById = {}
        for n, f in ((n, f) for i in same for n, f in found[i].items() if n in numbers):
            records[n] = min(records.get(n, f), f, key=lambda f: f.rule.tier)
        best, _ = choose(
            [f.record for f in records.values()], [t for i in same for t in titles_of(casts[i])],
            settings.editions, tiers={number: f.rule.tier for number, f in records.items()},
        )  # fmt: skip
        if best is not None and best["id"] != chosen[index]:
            rule = found[index][best["id"]].rule
            others = sorted({casts[i].work.source for i in same if chosen[i] == best["id"]})
            considered = tuple(
                c._replace(refused="" if c.gutenberg_id == best["id"] else c.refused or "one record per work")
                for c in decisions[index].considered
            )
            changed[index] = replace(
                decisions[index], gutenberg_id=best["id"], rule=rule.name, considered=considered,
                reason=f"{rule.name}: {rule.explanation}; the record that {', '.join(others)} has for it",
            )  # fmt: skip
    return changed


def _standing(choice: Considered) -> bool:
    """Whether a record lost only to a better one, not for a cause."""
    return not choice.refused or choice.refused.startswith(("fewer", "the same"))


def _another(best: CatalogueRow, framed: Sequence[CatalogueRow]) -> CatalogueRow | None:
    """Another work in a frame of its own: "Sherlock Holmes" is neither his Memoirs nor his Adventures."""
    keys = RULES["plural"].titles
    mine = frozenset().union(*map(keys, best["titles"]))
    others = (r for r in framed if not any("," in main_title(title) for title in r["titles"]))
    return next((r for r in others if mine.isdisjoint(frozenset().union(*map(keys, r["titles"])))), None)


def _rival(best: CatalogueRow, records: Sequence[CatalogueRow]) -> CatalogueRow | None:
    """Another author's record of the same title that is read nearly as much; one without author is none.

    All editions of an author count together.
    """
    reads = Counter[str]()
    for record in records:
        for name in record["authors"]:
            reads[folded_author(name)] += max(1, record["downloads"])
    mine = {folded_author(name) for name in best["authors"]}
    most = max((reads[name] for name in mine), default=0)
    for record in records:
        theirs = {folded_author(name) for name in record["authors"]}
        if mine and theirs and not mine & theirs and most < _CLEAR_LEAD * max(reads[n] for n in theirs):
            return record
    return None


def _unmatched(cast: HarvestedCast, refused: Sequence[Considered]) -> WorkDecision:
    if refused:
        why = "; ".join(f"{c.gutenberg_id}: {c.refused}" for c in refused[:3])
        return _decision(cast, None, "", f"only records that cannot be taken ({why})", tuple(refused))
    return _decision(cast, None, "", "no record with this author and title")


def _decision(
    cast: HarvestedCast, gutenberg_id: int | None, rule: str, reason: str,
    considered: Sequence[Considered] = (),
) -> WorkDecision:  # fmt: skip
    work = cast.work
    return WorkDecision(
        work.source, work.work_id, work.title, work.author, len(cast.rows), gutenberg_id, rule, reason,
        tuple(considered), work.address, names=cast.characters[:_MOST_SHOWN],
    )  # fmt: skip


# -- one cast per book -------------------------------------------------------------------------------


def _books(
    casts: Sequence[HarvestedCast],
    works: Sequence[WorkDecision],
    records: CandidateRows,
    settings: MatchSettings,
) -> Iterator[MatchedBook]:
    groups = together((w.gutenberg_id, i) for i, w in enumerate(works) if w.gutenberg_id is not None)

    def preference(index: int) -> tuple[bool, int, int, int, int, str]:
        work, sources, rules = works[index], settings.sources, settings.rules
        place = sources.index(work.source) if work.source in sources else len(sources)
        count = -work.characters if settings.choose == "most-characters" else 0
        rank = rules.index(work.rule) if work.rule in rules else -1
        return bool(work.unproved), count, place, -work.characters, rank, work.work_id

    def why(best: WorkDecision, others: Sequence[WorkDecision], kept: bool) -> str:
        if best.unproved:
            return f"falls out: {best.unproved}"
        if not kept:
            return f"falls out: {best.characters} characters, fewer than {settings.least_characters}"
        if not others:
            return f"the only source ({best.characters} characters)"
        counts = ", ".join(f"{o.source} {o.characters}" for o in others)
        if settings.choose == "source-order":
            return f"first in the order of sources, before {counts}"
        tied = any(o.characters == best.characters for o in others)
        first = ", first in the order of sources" if tied else ""
        return f"most characters ({best.characters}){first}; {counts}"

    for gutenberg_id in sorted(groups):
        order = sorted(groups[gutenberg_id], key=preference)
        best, others = works[order[0]], [works[i] for i in order[1:]]
        record = records.row(gutenberg_id)
        assert record is not None  # every candidate comes from these records
        kept = best.characters >= settings.least_characters and not best.unproved
        cast, author = casts[order[0]], record["authors"][0] if record["authors"] else ""
        aliases = tuple(row.character_aliases for row in cast.rows)
        yield MatchedBook(
            gutenberg_id, one_line(record), author, best, cast.characters, aliases, kept,
            why(best, others, kept), tuple((o.source, o.work_id, o.characters) for o in others),
        )  # fmt: skip
