"""Find, among all records of the catalogue, the few that a rule could match, and join them by keys.

A catalogue has 75,000 records; the rules make keys in Python. So the table is first cut down with
vectorised steps that no match can fail: a record must have the family name of some author asked for (or,
for works without an author, a title that begins with the same letters as theirs).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .match_rules import RULES, Keys, Rule
from .table import Cast
from .titles import (
    ARTICLES,
    exact_author,
    initial_authors,
    main_title,
    single_author,
    squeezed,
    tokens,
    without_article,
)

_ARTICLE = rf"^(?:{'|'.join(sorted(ARTICLES))})[^\w]+"


NO_AUTHOR = frozenset({"anonymous", "unknown", "various", "anonyme", "anonym"})
"""What stands in the place of an author who is not known; it is no name and is lent to nobody."""


class Candidates(NamedTuple):
    """Rows of the catalogue by id: those with an author asked for, and those for works without one."""

    named: dict[int, Mapping[str, Any]]
    untold: dict[int, Mapping[str, Any]]

    def row(self, number: int) -> Mapping[str, Any] | None:
        return self.named.get(number) or self.untold.get(number)

    def rows(self, rule: Rule) -> Mapping[int, Mapping[str, Any]]:
        return self.named if rule.needs_author else self.untold


def titles_of(cast: Cast) -> list[str]:
    """All titles of a work, the preferred one first, each once."""
    return list(dict.fromkeys(t for t in (cast.work.title, *cast.work.titles) if t.strip()))


def authors_of(cast: Cast) -> list[str]:
    """All authors of a work, the first one first, each once; without other spellings and "Anonymous"."""
    named = dict.fromkeys(a for a in (cast.work.author, *cast.work.authors) if a.strip())
    return [author for author in named if author.strip().casefold() not in NO_AUTHOR]


def find_candidates(catalogue, casts: Sequence[Cast], extra_ids: Iterable[int] = ()) -> Candidates:
    """The records that any rule could match to any of the casts; `extra_ids` are taken in any case."""
    import polars as pl

    families = {
        word
        for cast in casts
        for name in (*authors_of(cast), *cast.work.author_aliases)
        for word in _family_words(name)
    }
    names = pl.concat_list(
        "authors", "aliases", pl.col("people").list.eval(pl.element().struct.field("name"))
    )
    words = _folded(catalogue, names).select("id", pl.col("text").str.extract_all(r"\w+")).explode("text")
    named = words.filter(pl.col("text").is_in(sorted(families)))["id"].unique().to_list()
    untold = _beginning_alike(catalogue, [cast for cast in casts if not authors_of(cast)])
    return Candidates(_rows(catalogue, {*named, *extra_ids}), _rows(catalogue, untold))


def _family_words(name: str) -> set[str]:
    """The words of which a record's author must have one: family names, or the one word of the name."""
    families = {reading.split()[0] for reading in initial_authors(name)}
    # A name in one word, or in letters that have no family name first or last, is found by any word.
    return families | ({single_author(name)} - {""}) or set(exact_author(name).split())


def _beginning_alike(catalogue, casts: Sequence[Cast]) -> set[int]:
    """Records whose title begins with the same four letters (or the whole of a shorter title)."""
    import polars as pl

    if not casts:
        return set()
    starts = {squeezed(without_article(tokens(title)))[:4] for cast in casts for title in titles_of(cast)} - {
        ""
    }
    text = _folded(catalogue, pl.col("titles")).with_columns(
        pl.col("text").str.replace(_ARTICLE, "").str.replace_all(r"[\W_]+", "")
    )
    alike = pl.any_horizontal(
        pl.col("text").str.slice(0, size).is_in(sorted(s for s in starts if len(s) == size))
        for size in (1, 2, 3, 4)
    )
    return set(text.filter(alike)["id"].to_list())


def same_titles(catalogue, casts: Mapping[int, Cast]) -> dict[int, list[Mapping[str, Any]]]:
    """Work index -> records that bear its title, whoever wrote them: what a reviewer wants to see."""
    import polars as pl

    asked = {
        (index, squeezed(without_article(tokens(name))))
        for index, cast in casts.items()
        for title in titles_of(cast)
        for name in (title, main_title(title))
    }
    schema = {"work": pl.Int64, "text": pl.String}
    left = pl.DataFrame(sorted(pair for pair in asked if pair[1]), schema=schema, orient="row")
    whole = _folded(catalogue, pl.col("titles"))
    main = whole.with_columns(pl.col("text").str.replace(r"(?s)[:;\r\n(\[].*$", ""))
    right = pl.concat([whole, main]).with_columns(
        pl.col("text").str.replace(_ARTICLE, "").str.replace_all(r"[\W_]+", "")
    )
    found = left.join(right, on="text", how="inner").select("work", "id").unique().sort("work", "id")
    rows = _rows(catalogue, set(found["id"].to_list()))
    bearing: dict[int, list[Mapping[str, Any]]] = {}
    for work, number in found.iter_rows():
        bearing.setdefault(work, []).append(rows[number])
    return bearing


def has_author(record: Mapping[str, Any]) -> bool:
    """Whether a record names an author ("Anonymous" and "Various" are none)."""
    return any(author.strip().casefold() not in NO_AUTHOR for author in record["authors"])


def _folded(catalogue, column):
    """(id, text): one row per text of a list column, in lower case without accents and apostrophes."""
    import polars as pl

    text = pl.col("text").str.to_lowercase().str.replace_all(r"['’‘`´]", "").str.normalize("NFKD")
    rows = catalogue.select("id", column.alias("text")).explode("text").drop_nulls("text")
    return rows.with_columns(text.str.replace_all(r"\p{M}", ""))


def _rows(catalogue, numbers: set[int]) -> dict[int, Mapping[str, Any]]:
    import polars as pl

    kept = catalogue.filter(pl.col("id").is_in(sorted(numbers)))
    return {row["id"]: row for row in kept.iter_rows(named=True)}


# -- joins -------------------------------------------------------------------------------------------


def pairs(rule: Rule, casts: Mapping[int, Cast], rows: Mapping[int, Mapping]) -> dict[int, list[int]]:
    """Work index -> ids of the records that the rule finds, sorted."""
    import polars as pl

    works = [(i, titles_of(c), _work_authors(rule, c)) for i, c in casts.items()]
    left = _keys(rule.titles, rule, works, "work")
    asked = set(left["author"].to_list())
    records = [(i, r["titles"], _record_authors(rule, r)) for i, r in rows.items()]
    right = _keys(rule.titles, rule, records, "id", asked)
    if rule.affix:
        joined = left.join(right, on="author", how="inner", suffix="_record")
        fits = [_affix(a, b) for a, b in zip(joined["title"], joined["title_record"], strict=True)]
        joined = joined.filter(pl.Series(fits, dtype=pl.Boolean))
    elif rule.loose:
        both = ["author", "title"]
        joined = pl.concat([
            left.join(_keys(rule.loose, rule, records, "id", asked), on=both, how="inner"),
            _keys(rule.loose, rule, works, "work").join(right, on=both, how="inner"),
        ])  # fmt: skip
    else:
        joined = left.join(right, on=["author", "title"], how="inner")
    found: dict[int, list[int]] = {}
    for work, number in joined.select("work", "id").unique().sort("work", "id").iter_rows():
        found.setdefault(work, []).append(number)
    return found


def _keys(
    keys: Keys,
    rule: Rule,
    items: Iterable[tuple[int, Sequence[str], Sequence[str]]],
    name: str,
    asked: set[str] | None = None,
):
    """A table (`name`, author key, title key) of all combinations; `asked` limits the author keys."""
    import polars as pl

    found: set[tuple[int, str, str]] = set()
    for index, titles, authors in items:
        author_keys = {key for author in authors for key in rule.authors(author) if key}
        author_keys = author_keys if asked is None else author_keys & asked
        if author_keys:
            title_keys = {key for title in titles for key in keys(title) if key}
            found.update((index, author, title) for author in author_keys for title in title_keys)
    schema = {name: pl.Int64, "author": pl.String, "title": pl.String}
    return pl.DataFrame(sorted(found), schema=schema, orient="row")


def _work_authors(rule: Rule, cast: Cast) -> list[str]:
    if not rule.needs_author:
        return ["-"] if not authors_of(cast) else []
    return authors_of(cast) + (list(cast.work.author_aliases) if rule.aliases else [])


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


def title_keys(cast: Cast) -> set[str]:
    """Keys by which two sources name the same title."""
    return {key for title in titles_of(cast) for key in RULES["compound"].titles(title)}


def one_line(record: Mapping[str, Any]) -> str:
    """The title of a record on one line; Gutenberg breaks long titles into lines."""
    return " / ".join(re.split(r"[\r\n]+", record["titles"][0])) if record["titles"] else ""
