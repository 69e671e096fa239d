"""Find, among all records of the catalogue, the few that a rule could match.

A catalogue has 75,000 records; the rules make keys in Python. So the table is first cut down with
vectorised steps that no match can fail: a record must have the family name of some author asked for (or,
for works without an author, a title that begins with the same letters as theirs). What these steps need of
the catalogue (`PreparedCatalogue`) is the same for all casts, so that it can be kept beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..late import pl
from ..shapes import together
from .match_rules import RULES, Rule
from .spelling import cores
from .table import HarvestedCast
from .titles import (
    ARTICLES,
    LETTERS,
    exact_author,
    initial_authors,
    main_title,
    single_author,
    squeezed,
    tokens,
    usual_title,
    without_article,
)

_ARTICLE = rf"^(?:{'|'.join(sorted(ARTICLES))})[^\w]+"

CatalogueRow = Mapping[str, Any]
"""A row of the catalogue."""

_LONG = 6  # letters of a title that are looked for inside others; shorter ones are in too many

NO_AUTHOR = frozenset({"anonymous", "unknown", "various", "anonyme", "anonym"})
"""What stands in the place of an author who is not known; it is no name and is lent to nobody."""


class CandidateRows(NamedTuple):
    """Rows of the catalogue by id: those with an author asked for, and those for works without one."""

    named: dict[int, CatalogueRow]
    untold: dict[int, CatalogueRow]

    def row(self, number: int) -> CatalogueRow | None:
        return self.named.get(number) or self.untold.get(number)

    def rows(self, rule: Rule) -> Mapping[int, CatalogueRow]:
        return self.named if rule.needs_author else self.untold


def titles_of(cast: HarvestedCast) -> list[str]:
    """All titles of a work as a catalogue has them, the preferred one first, each once."""
    return list(dict.fromkeys(usual_title(t) for t in (cast.work.title, *cast.work.titles) if t.strip()))


def authors_of(cast: HarvestedCast) -> list[str]:
    """All authors of a work, the first one first, each once; without other spellings and "Anonymous"."""
    named = dict.fromkeys(a for a in (cast.work.author, *cast.work.authors) if a.strip())
    return [author for author in named if author.strip().casefold() not in NO_AUTHOR]


class PreparedCatalogue(NamedTuple):
    """The folded words and titles of a catalogue.

    `words` has a row for every word of a name (name, id of the record, word, whether it stands behind the
    comma); `titles` one for every title (id, title and main title in one word, without a leading article).
    """

    words: pl.DataFrame
    titles: pl.DataFrame


PREPARED_VERSION = 1
"""Raise it when `prepare` gives something else: it is part of the key under which that is kept."""


def prepare(catalogue: pl.DataFrame) -> PreparedCatalogue:
    """What finding candidates needs of a catalogue."""
    names = pl.concat_list("authors", "aliases", pl.col("people").list.eval(pl.element().struct["name"]))
    # A family name stands before the comma; "Cao, Xueqin" is asked for as "Cao Xueqin" too.
    parts = pl.col("text").str.splitn(",", 2).struct
    rows = _folded(catalogue, names).unique(maintain_order=True).with_row_index("name")
    words = pl.concat(
        rows.select("name", "id", word=part.str.extract_all(r"\w+"), behind=pl.lit(place))
        for part, place in ((parts.field("field_0"), False), (parts.field("field_1"), True))
    )
    main = pl.col("text").str.replace(r"(?s)[:;\r\n(\[].*$", "")
    whole, main = _in_one_word(pl.col("text")), _in_one_word(main)
    titles = _folded(catalogue, pl.col("titles")).select("id", title=whole, main=main)
    return PreparedCatalogue(words.explode("word").drop_nulls("word"), titles)


def _in_one_word(text: pl.Expr) -> pl.Expr:
    return text.str.replace(_ARTICLE, "").str.replace_all(r"[\W_]+", "")


def find_candidates(
    catalogue: pl.DataFrame, casts: Sequence[HarvestedCast], more: Iterable[int], prepared: PreparedCatalogue
) -> CandidateRows:
    """The records that any rule could match to any of the casts, and `more`."""
    asked = {name for cast in casts for name in (*authors_of(cast), *cast.work.author_aliases)}
    families = sorted({word for name in asked for word in _family_words(name)})
    any_words = sorted({word for name in asked for word in tokens(name)})
    word, behind = pl.col("word"), pl.col("behind")
    of_family = prepared.words.filter(word.is_in(families))
    asked_for = prepared.words.filter(~behind & word.is_in(any_words))
    reversed_ = of_family.filter(behind).join(asked_for, on="name", how="semi")
    named = {*of_family.filter(~behind)["id"], *reversed_["id"]}
    # Records whose title begins with the same four letters (or the whole of a shorter title), or holds the
    # title without its frame ("Timon of Athens" in "The Life of Timon of Athens", and the other way)
    titles = {title for cast in casts if not authors_of(cast) for title in titles_of(cast)}
    starts = {squeezed(without_article(tokens(t)))[:4] for title in titles for t in (title, *cores(title))}
    inner = sorted({key for title in titles for key in RULES["frame"].titles(title) if len(key) >= _LONG})
    begins = (
        pl.col("title").str.slice(0, size).is_in(sorted(s for s in starts if len(s) == size))
        for size in (1, 2, 3, 4)
    )
    alike = pl.any_horizontal(pl.col("title").str.contains_any(inner or ["\0"]), *begins)
    untold = set(prepared.titles.filter(alike)["id"].to_list()) if titles else set[int]()
    return CandidateRows(_rows(catalogue, {*named, *more}), _rows(catalogue, untold))


def _family_words(name: str) -> set[str]:
    """The words of which a record's author must have one: family names, or the one word of the name."""
    families = {reading.split()[0] for reading in initial_authors(name)}
    # A name in one word, or in letters that have no family name first or last, is found by any word.
    return families | ({single_author(name)} - {""}) or set(exact_author(name).split())


def same_titles(
    catalogue: pl.DataFrame, casts: Mapping[int, HarvestedCast], prepared: PreparedCatalogue
) -> dict[int, list[CatalogueRow]]:
    """Work index -> records that bear its title, whoever wrote them: what a reviewer wants to see."""
    asked = {
        (index, squeezed(without_article(tokens(name))))
        for index, cast in casts.items()
        for title in titles_of(cast)
        for name in (title, main_title(title))
    }
    schema = {"work": pl.Int64, "text": pl.String}
    left = pl.DataFrame(sorted(pair for pair in asked if pair[1]), schema=schema, orient="row")
    right = pl.concat(prepared.titles.select("id", text=name) for name in ("title", "main"))
    found = left.join(right, on="text", how="inner").select("work", "id").unique().sort("work", "id")
    rows = _rows(catalogue, set(found["id"].to_list()))
    return together((work, rows[number]) for work, number in found.iter_rows())


def has_author(record: CatalogueRow) -> bool:
    """Whether a record names an author ("Anonymous" and "Various" are none)."""
    return any(author.strip().casefold() not in NO_AUTHOR for author in record["authors"])


def _folded(catalogue: pl.DataFrame, column: pl.Expr) -> pl.DataFrame:
    """(id, text): one row per text of a list column, folded as `titles.fold` does."""
    text = pl.col("text").str.to_lowercase().str.replace_all(r"['’‘`´]", "").str.replace_many(LETTERS)
    rows = catalogue.select("id", column.alias("text")).explode("text").drop_nulls("text")
    return rows.with_columns(text.str.normalize("NFKD").str.replace_all(r"\p{M}", ""))


def _rows(catalogue: pl.DataFrame, numbers: set[int]) -> dict[int, CatalogueRow]:
    kept = catalogue.filter(pl.col("id").is_in(sorted(numbers)))
    return {row["id"]: row for row in kept.iter_rows(named=True)}


def title_keys(cast: HarvestedCast) -> set[str]:
    """Keys by which two sources name the same title."""
    return {key for title in titles_of(cast) for key in RULES["compound"].titles(title)}
