"""Find, among all records of the catalogue, the few that a rule could match.

A catalogue has 75,000 records; the rules make keys in Python. So the table is first cut down with
vectorised steps that no match can fail: a record must have the family name of some author asked for (or,
for works without an author, a title that begins with the same letters as theirs).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .match_rules import RULES, Rule
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

    asked = {name for cast in casts for name in (*authors_of(cast), *cast.work.author_aliases)}
    families = sorted({word for name in asked for word in _family_words(name)})
    any_words = sorted({word for name in asked for word in tokens(name)})
    names = pl.concat_list(
        "authors", "aliases", pl.col("people").list.eval(pl.element().struct.field("name"))
    )
    # A family name stands before the comma; "Cao, Xueqin" is asked for as "Cao Xueqin" too.
    parts = pl.col("text").str.splitn(",", 2).struct
    family, given = parts.field("field_0"), parts.field("field_1")
    rows = _folded(catalogue, names).unique().with_row_index("row")
    before = rows.select("row", "id", word=family.str.extract_all(r"\w+")).explode("word")
    after = rows.select("row", "id", word=given.str.extract_all(r"\w+")).explode("word")
    reversed_ = after.filter(pl.col("word").is_in(families)).join(
        before.filter(pl.col("word").is_in(any_words)), on="row", how="semi"
    )
    named = {*before.filter(pl.col("word").is_in(families))["id"], *reversed_["id"]}
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


# -- names -------------------------------------------------------------------------------------------


def title_keys(cast: Cast) -> set[str]:
    """Keys by which two sources name the same title."""
    return {key for title in titles_of(cast) for key in RULES["compound"].titles(title)}


def one_line(record: Mapping[str, Any]) -> str:
    """The title of a record on one line; Gutenberg breaks long titles into lines."""
    return " / ".join(re.split(r"[\r\n]+", record["titles"][0])) if record["titles"] else ""
