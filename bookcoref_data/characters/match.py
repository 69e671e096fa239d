"""Join cast lists to Gutenberg: every work of every source, rule by rule, then one source per book.

The catalogue is a polars table as `sources/catalogue.py` describes it. What comes out is a decision for
every work, with its reason, and the books with the cast that was chosen (paper, section 3.1, Appendix A):
of several sources the one with most characters, never a merged list; books with fewer than five fall out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import UsageError
from .editions import Choice, EditionSettings, choose
from .match_rules import RULES, Rule
from .overrides import Override, find_override
from .table import SOURCES, Cast
from .titles import fold, folded_author

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
    open_works: list[int] = []
    rows = {row["id"]: row for row in _candidates(catalogue, casts, overrides).iter_rows(named=True)}
    for index, cast in enumerate(casts):
        decided = _decide_early(cast, rows, settings, overrides, used)
        if decided:
            decisions[index] = decided
        else:
            open_works.append(index)
    refused: dict[int, list[Choice]] = {index: [] for index in open_works}
    for name in settings.rules:
        rule = RULES[name]
        found = _pairs(rule, {index: casts[index] for index in open_works}, rows)
        for index, ids in found.items():
            decided = _decide(rule, casts[index], [rows[i] for i in ids], settings, refused[index])
            if decided:
                decisions[index] = decided
                open_works.remove(index)
    for index in open_works:
        decisions[index] = _unmatched(casts[index], refused[index])
    works = tuple(decisions[index] for index in range(len(casts)))
    books = tuple(_books(casts, works, rows, settings))
    return MatchReport(works, books, tuple(o for o in overrides if o not in used))


def lend_authors(casts: Sequence[Cast]) -> list[Cast]:
    """Give casts without an author (LiSCU's name lists) the author that others name for the same title.

    Nothing is lent when two sources name different authors for the title. A lent author is marked by the
    flag "author-lent".
    """
    known: dict[str, dict[str, str]] = {}
    for cast in casts:
        for author in _authors(cast)[:1]:
            for key in _title_keys(cast):
                known.setdefault(key, {}).setdefault(folded_author(author), author)
    return [cast if _authors(cast) else _lend(cast, known) for cast in casts]


def _title_keys(cast: Cast) -> set[str]:
    return {key for title in _titles(cast) for key in RULES["compound"].titles(title)}


def _lend(cast: Cast, known: Mapping[str, Mapping[str, str]]) -> Cast:
    lenders: dict[str, str] = {}
    for key in _title_keys(cast):
        lenders.update(known.get(key, {}))
    if len(lenders) != 1:
        return cast
    author = next(iter(lenders.values()))
    return Cast(tuple(replace(row, author=author, flags=(*row.flags, LENT)) for row in cast.rows))


# -- candidates --------------------------------------------------------------------------------------

_DULL = frozenset(
    (
        "the",
        "a",
        "an",
        "of",
        "and",
        "in",
        "or",
        "to",
        "le",
        "la",
        "les",
        "de",
        "der",
        "die",
        "das",
        "el",
        "los",
        "il",
    )
)


def _candidates(catalogue, casts: Sequence[Cast], overrides: Sequence[Override]):
    """The records that share a word of the title, and of the author where one is named, with any work.

    Vectorised, so that the rules below look at thousands of records, not at all of them.
    """
    import polars as pl

    titles = _words(title for cast in casts for title in _titles(cast))
    squeezed = {"".join(re.findall(r"\w+", fold(t)))[:4] for cast in casts for t in _titles(cast)}
    authors = _words(name for cast in casts for name in _authors(cast))
    anonymous = any(not _authors(cast) for cast in casts)
    by_title = _having(catalogue, pl.col("titles"), titles, squeezed)
    kept = catalogue.filter(pl.col("id").is_in(by_title))
    if not anonymous:
        names = pl.concat_list("authors", "aliases")
        kept = kept.filter(pl.col("id").is_in(_having(kept, names, authors, set())))
    named = [o.gutenberg_id for o in overrides if o.gutenberg_id]
    missing = catalogue.filter(pl.col("id").is_in(named) & ~pl.col("id").is_in(kept["id"].to_list()))
    return pl.concat([kept, missing])


def _having(frame, column, words: set[str], beginnings: set[str]) -> list[int]:
    """Ids of the records whose column has one of the words, or a word with one of the beginnings."""
    import polars as pl

    found = (
        frame.select("id", column.alias("text"))
        .explode("text")
        .select("id", _folded(pl.col("text")).str.extract_all(r"\w+").alias("word"))
        .explode("word")
        .filter(pl.col("word").is_in(list(words)) | pl.col("word").str.slice(0, 4).is_in(list(beginnings)))
    )
    return found["id"].unique().to_list()


def _folded(column):
    return (
        column.str.to_lowercase()
        .str.replace_all(r"['’‘`´]", "")
        .str.normalize("NFKD")
        .str.replace_all(r"\p{M}", "")
    )


def _words(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in re.findall(r"\w+", fold(text))} - _DULL


# -- keys and joins ----------------------------------------------------------------------------------


def _titles(cast: Cast) -> list[str]:
    """All titles of a work, the preferred one first, each once."""
    return list(dict.fromkeys(t for t in (cast.work.title, *cast.work.titles) if t.strip()))


def _authors(cast: Cast) -> list[str]:
    return list(dict.fromkeys(a for a in (cast.work.author, *cast.work.authors) if a.strip()))


def _pairs(rule: Rule, casts: Mapping[int, Cast], rows: Mapping[int, Mapping]) -> dict[int, list[int]]:
    """Work index -> ids of the records that the rule finds, sorted."""
    import polars as pl

    left = _keys(rule, ((i, _titles(c), _work_authors(rule, c)) for i, c in casts.items()), "work")
    right = _keys(rule, ((i, r["titles"], _record_authors(rule, r)) for i, r in rows.items()), "id")
    if rule.affix:
        joined = left.join(right, on="author", how="inner", suffix="_record")
        fits = [_affix(a, b) for a, b in zip(joined["title"], joined["title_record"], strict=True)]
        joined = joined.filter(pl.Series(fits, dtype=pl.Boolean))
    else:
        joined = left.join(right, on=["author", "title"], how="inner")
    grouped = joined.select("work", "id").unique().sort("work", "id").group_by("work", maintain_order=True)
    return {int(key[0]): part["id"].to_list() for key, part in grouped}


def _keys(rule: Rule, items, name: str):
    """A table (`name`, author key, title key) of all combinations."""
    import polars as pl

    found = set()
    for index, titles, authors in items:
        title_keys = {key for title in titles for key in rule.titles(title) if key}
        author_keys = {key for author in authors for key in rule.authors(author) if key}
        found.update((index, author, title) for author in author_keys for title in title_keys)
    schema = {name: pl.Int64, "author": pl.String, "title": pl.String}
    return pl.DataFrame(sorted(found), schema=schema, orient="row")


def _work_authors(rule: Rule, cast: Cast) -> list[str]:
    if not rule.needs_author:
        return ["-"] if not _authors(cast) else []
    return _authors(cast) + (list(cast.work.author_aliases) if rule.aliases else [])


def _record_authors(rule: Rule, record: Mapping[str, Any]) -> list[str]:
    """Authors of a record; translators, editors and illustrators never count. A pseudonym is an alias."""
    if not rule.needs_author:
        return ["-"]
    people = [p for p in record["people"] or () if p["role"] == "cre"]
    names = [p["name"] for p in people] or list(record["authors"])
    return names + ([alias for p in people for alias in p["aliases"]] if rule.aliases else [])


def _affix(work: str, record: str) -> bool:
    """Whether the shorter title, of two words or more, begins or ends the longer.

    A work must not be longer and begin like the record: "Pride and Prejudice and Zombies" has Jane Austen
    among its authors.
    """
    mine, theirs = work.split(), record.split()
    if min(len(mine), len(theirs)) < 2:
        return False
    if len(mine) <= len(theirs):
        return theirs[: len(mine)] == mine or theirs[-len(mine) :] == mine
    return mine[-len(theirs) :] == theirs


# -- decisions ---------------------------------------------------------------------------------------


def _decide_early(cast, rows, settings, overrides, used) -> WorkDecision | None:
    """An override, or a work that is no book."""
    override = find_override(overrides, cast)
    if override:
        used.add(override)
        if not override.gutenberg_id:
            return _decision(cast, None, "override", f"left out: {override.reason}")
        if override.gutenberg_id not in rows:
            reason = f"{override.gutenberg_id} is not in the catalogue: {override.reason}"
            return _decision(cast, None, "override", reason)
        return _decision(cast, override.gutenberg_id, "override", override.reason)
    other = sorted(set(cast.work.flags) & set(settings.refuse_flags))
    return _decision(cast, None, "", f"not a book: {', '.join(other)}") if other else None


def _decide(rule, cast, records, settings, refused: list[Choice]) -> WorkDecision | None:
    """A decision when the rule's records hold one that can be taken; else their reasons are remembered."""
    play = bool(_PLAY_CLASSES & set(cast.work.kinds))
    best, considered = choose(records, " / ".join(_titles(cast)), settings.editions, play=play)
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


def _books(casts, works: Sequence[WorkDecision], rows, settings: MatchSettings):
    groups: dict[int, list[int]] = {}
    for index, work in enumerate(works):
        if work.gutenberg_id is not None:
            groups.setdefault(work.gutenberg_id, []).append(index)
    for gutenberg_id in sorted(groups):
        order = sorted(groups[gutenberg_id], key=lambda i: _preference(works[i], settings))
        best, others = works[order[0]], [works[i] for i in order[1:]]
        record = rows[gutenberg_id]
        kept = best.characters >= settings.least_characters
        yield MatchedBook(
            gutenberg_id,
            _line(record),
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


def _line(record: Mapping[str, Any]) -> str:
    """The title of a record on one line; Gutenberg breaks long titles into lines."""
    return " / ".join(re.split(r"[\r\n]+", record["titles"][0])) if record["titles"] else ""


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
