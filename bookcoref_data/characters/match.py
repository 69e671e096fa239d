"""Join cast lists to Gutenberg: every work of every source, rule by rule, then one source per book.

The catalogue is a polars table as `sources/catalogue.py` describes it. What comes out is a decision for
every work, with its reason, and the books with the cast that was chosen (paper, section 3.1, Appendix A):
of several sources the one with most characters, never a merged list; books with fewer than five fall out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..errors import UsageError
from .candidates import Candidates, authors_of, find_candidates, one_line, pairs, title_keys, titles_of
from .editions import Choice, EditionSettings, choose
from .match_rules import RULES
from .overrides import Override, find_override
from .table import SOURCES, Cast
from .titles import folded_author

OTHER_MEDIA = ("film", "television", "game", "opera", "musical", "comics")
"""Flags of works that are not books (the harvest sets them from Wikidata's classes)."""
_PLAY_CLASSES = frozenset({"Q25379", "Q25372", "Q40831", "Q80930"})
"""Wikidata's classes play, drama, comedy, tragedy."""
LENT = "author-lent"
"""Flag of a cast whose author comes from another source."""
_CLEAR_LEAD = 4.0  # without an author, one author's book must have this many times the other's downloads


@dataclass(frozen=True, slots=True)
class MatchSettings:
    """How to match.

    `rules` are names of `RULES` in the order in which they are tried. `sources` is the order that decides
    between sources with equally many characters. `choose` is "most-characters" (the paper) or
    "source-order" (the first source that has the book). Books under `least_characters` fall out.
    """

    rules: tuple[str, ...] = tuple(RULES)
    editions: EditionSettings = field(default_factory=EditionSettings)
    sources: tuple[str, ...] = SOURCES
    choose: str = "most-characters"
    least_characters: int = 5
    refuse_flags: tuple[str, ...] = OTHER_MEDIA

    def __post_init__(self) -> None:
        unknown = [name for name in self.rules if name not in RULES]
        if unknown or not self.rules:
            raise UsageError(f"unknown rules: {', '.join(unknown) or 'none given'}",
                             expected=f"among {', '.join(RULES)}")  # fmt: skip
        if self.choose not in ("most-characters", "source-order"):
            raise UsageError(f"choose = {self.choose!r}", expected="most-characters or source-order")


@dataclass(frozen=True, slots=True)
class WorkDecision:
    """What became of one work of one source: the record, the rule that found it, and why (not)."""

    source: str
    work_id: str
    title: str
    author: str
    characters: int
    gutenberg_id: int | None
    rule: str
    reason: str
    considered: tuple[Choice, ...] = ()


@dataclass(frozen=True, slots=True)
class MatchedBook:
    """A Gutenberg book with the cast chosen for it; `kept` False says that it falls out, `reason` why.

    `aliases` go with `characters`, one tuple each. `others` are (source, work_id, characters) not chosen.
    """

    gutenberg_id: int
    title: str
    author: str
    source: str
    work_id: str
    characters: tuple[str, ...]
    rule: str
    kept: bool
    reason: str
    others: tuple[tuple[str, str, int], ...] = ()
    considered: tuple[Choice, ...] = ()
    aliases: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class MatchReport:
    """All decisions: `works` in the order of the casts, `books` by Gutenberg id."""

    works: tuple[WorkDecision, ...]
    books: tuple[MatchedBook, ...]
    unused_overrides: tuple[Override, ...] = ()


def match(
    casts: Sequence[Cast],
    catalogue,
    settings: MatchSettings | None = None,
    overrides: Sequence[Override] = (),
) -> MatchReport:
    """Match every cast to the catalogue (a polars DataFrame) and choose one cast per book."""
    settings = settings or MatchSettings()
    casts = lend_authors(casts)
    used: set[Override] = set()
    decisions: dict[int, WorkDecision] = {}
    open_works: dict[int, Cast] = {}
    wanted = [o.gutenberg_id for o in overrides if o.gutenberg_id]
    records = find_candidates(catalogue, casts, wanted)
    for index, cast in enumerate(casts):
        decided = _decide_early(cast, records, settings, overrides, used)
        if decided:
            decisions[index] = decided
        else:
            open_works[index] = cast
    refused: dict[int, list[Choice]] = {index: [] for index in open_works}
    for name in settings.rules:
        rule = RULES[name]
        rows = records.rows(rule)
        found = pairs(rule, open_works, rows)
        for index, ids in found.items():
            decided = _decide(rule, casts[index], [rows[i] for i in ids], settings, refused[index])
            if decided:
                decisions[index] = decided
                del open_works[index]
    for index in open_works:
        decisions[index] = _unmatched(casts[index], refused[index])
    works = tuple(decisions[index] for index in range(len(casts)))
    books = tuple(_books(casts, works, records, settings))
    return MatchReport(works, books, tuple(o for o in overrides if o not in used))


def lend_authors(casts: Sequence[Cast]) -> list[Cast]:
    """Give casts without an author (LiSCU's name lists) the author that others name for the same title.

    Nothing is lent when two sources name different authors for the title. A lent author is marked by the
    flag "author-lent".
    """
    known: dict[str, dict[str, str]] = {}
    for cast in casts:
        for author in authors_of(cast)[:1]:
            for key in title_keys(cast):
                known.setdefault(key, {}).setdefault(folded_author(author), author)
    return [cast if authors_of(cast) else _lend(cast, known) for cast in casts]


def _lend(cast: Cast, known: Mapping[str, Mapping[str, str]]) -> Cast:
    lenders: dict[str, str] = {}
    for key in title_keys(cast):
        lenders.update(known.get(key, {}))
    if len(lenders) != 1:
        return cast
    author = next(iter(lenders.values()))
    return Cast(tuple(replace(row, author=author, flags=(*row.flags, LENT)) for row in cast.rows))


# -- decisions ---------------------------------------------------------------------------------------


def _decide_early(cast, records, settings, overrides, used) -> WorkDecision | None:
    """An override, or a work that is no book."""
    override = find_override(overrides, cast)
    if override:
        used.add(override)
        if not override.gutenberg_id:
            return _decision(cast, None, "override", f"left out: {override.reason}")
        if records.row(override.gutenberg_id) is None:
            reason = f"{override.gutenberg_id} is not in the catalogue: {override.reason}"
            return _decision(cast, None, "override", reason)
        return _decision(cast, override.gutenberg_id, "override", override.reason)
    other = sorted(set(cast.work.flags) & set(settings.refuse_flags))
    return _decision(cast, None, "", f"not a book: {', '.join(other)}") if other else None


def _decide(rule, cast, records, settings, refused: list[Choice]) -> WorkDecision | None:
    """A decision when the rule's records hold one that can be taken; else their reasons are remembered."""
    play = bool(_PLAY_CLASSES & set(cast.work.kinds))
    best, considered = choose(records, " / ".join(titles_of(cast)), settings.editions, play=play)
    if best is None:
        refused.extend(c for c in considered if c not in refused)
        return None
    if not rule.needs_author:
        rival = _rival(
            best, [r for r in records if any(c.gutenberg_id == r["id"] and _standing(c) for c in considered)]
        )
        if rival is not None:
            refused.append(
                Choice(best["id"], best["titles"][0], f"no author given, and {rival['id']} has another")
            )
            return None
    reason = f"{rule.name}: {rule.explanation}"
    left = [c for c in considered if c.refused]
    if LENT in cast.work.flags:
        reason += f"; the author ({cast.author}) is another source's"
    if left:
        reason += f"; taken before {len(left)} other record{'s' * (len(left) > 1)}"
    return _decision(cast, best["id"], rule.name, reason, (*considered, *refused))


def _standing(choice: Choice) -> bool:
    """Whether a record lost only to a better one, not for a cause."""
    return not choice.refused or choice.refused.startswith(("fewer", "the same"))


def _rival(best, records):
    """Another author's record of the same title that is read nearly as much."""
    mine = {folded_author(name) for name in best["authors"]}
    for record in records:
        theirs = {folded_author(name) for name in record["authors"]}
        if not mine & theirs and best["downloads"] < _CLEAR_LEAD * max(1, record["downloads"]):
            return record
    return None


def _unmatched(cast: Cast, refused: Sequence[Choice]) -> WorkDecision:
    if refused:
        why = "; ".join(f"{c.gutenberg_id}: {c.refused}" for c in refused[:3])
        return _decision(cast, None, "", f"only records that cannot be taken ({why})", tuple(refused))
    return _decision(cast, None, "", "no record with this author and title")


def _decision(cast, gutenberg_id, rule, reason, considered=()) -> WorkDecision:
    return WorkDecision(
        cast.source,
        cast.work_id,
        cast.title,
        cast.author,
        len(cast.rows),
        gutenberg_id,
        rule,
        reason,
        tuple(considered),
    )


# -- one cast per book -------------------------------------------------------------------------------


def _books(casts, works: Sequence[WorkDecision], records: Candidates, settings: MatchSettings):
    groups: dict[int, list[int]] = {}
    for index, work in enumerate(works):
        if work.gutenberg_id is not None:
            groups.setdefault(work.gutenberg_id, []).append(index)
    for gutenberg_id in sorted(groups):
        order = sorted(groups[gutenberg_id], key=lambda i: _preference(works[i], settings))
        best, others = works[order[0]], [works[i] for i in order[1:]]
        record = records.row(gutenberg_id)
        kept = best.characters >= settings.least_characters
        yield MatchedBook(
            gutenberg_id,
            one_line(record),
            record["authors"][0] if record["authors"] else "",
            best.source,
            best.work_id,
            casts[order[0]].characters,
            best.rule,
            kept,
            _why(best, others, kept, settings),
            tuple((o.source, o.work_id, o.characters) for o in others),
            best.considered,
            tuple(row.character_aliases for row in casts[order[0]].rows),
        )


def _preference(work: WorkDecision, settings: MatchSettings) -> tuple:
    place = settings.sources.index(work.source) if work.source in settings.sources else len(settings.sources)
    count = -work.characters if settings.choose == "most-characters" else 0
    rank = settings.rules.index(work.rule) if work.rule in settings.rules else -1
    return (count, place, -work.characters, rank, work.work_id)


def _why(best: WorkDecision, others: Sequence[WorkDecision], kept: bool, settings: MatchSettings) -> str:
    if not kept:
        return f"falls out: {best.characters} characters, fewer than {settings.least_characters}"
    if not others:
        return f"the only source ({best.characters} characters)"
    counts = ", ".join(f"{o.source} {o.characters}" for o in others)
    if settings.choose == "source-order":
        return f"first in the order of sources, before {counts}"
    tie = any(o.characters == best.characters for o in others)
    return (
        f"most characters ({best.characters})"
        + (", first in the order of sources" if tie else "")
        + f"; {counts}"
    )
