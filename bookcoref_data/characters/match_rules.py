"""The rules by which (author, title) is matched to the catalogue, in the order in which they are tried.

The first is the paper's: exact token match. Each further rule relaxes one thing and says what. The records
that any of them finds are compared, except that a title alone is tried only for works without a record yet.
A rule makes keys of a title and keys of an author; a work and a record match when they share one of each.
What a person decided against the rules (`Override`) is kept in a recipe, so that a new run decides the same.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ..errors import UsageError
from ..shapes import check, settings_of
from .spelling import begins_or_ends, bracketed, cores, nearly_same, segments, singular, spelled
from .table import HarvestedCast
from .titles import (
    Tokens,
    exact_author,
    folded_author,
    folded_authors,
    initial_authors,
    main_title,
    plain_tokens,
    second_title,
    single_author,
    squeezed,
    tokens,
    without_article,
    without_companions,
)

Keys = Callable[[str], frozenset[str]]


@dataclass(frozen=True, slots=True)
class Rule:
    """`titles` and `authors` make keys; `aliases` says whether other spellings of the author count.

    `tier` says how much the title is taken apart: records of one tier compete by downloads, a lower tier
    comes first. `loose` makes further keys of a title taken apart; they count against keys of `titles` on
    the other side only, never against each other; `loose_record` those of a record's title only. `compare`
    says of two title keys whether they fit, where they need not be equal. `nameless` takes the author's own
    name out of titles. `needs_author` False matches by title alone.
    """

    name: str
    explanation: str
    titles: Keys
    authors: Keys
    aliases: bool = True
    compare: Callable[[str, str], bool] | None = None
    nameless: bool = False
    needs_author: bool = True
    tier: int = 0
    loose: Keys | None = None
    loose_record: Keys | None = None


def _keys(make: Callable[[str], Iterable[str]]) -> Keys:
    """Keys that are kept: a title or name is asked for them by many rules."""
    return lru_cache(maxsize=1 << 17)(lambda text: frozenset(make(text)) - {""})


def _joined(words: Iterable[Tokens]) -> set[str]:
    return {squeezed(name) for name in words}


def _plain(title: str) -> str:
    return " ".join(without_article(tokens(title)))


_exact_title = _keys(lambda title: {" ".join(plain_tokens(title))})
_folded_title = _keys(lambda title: {" ".join(tokens(title))})
_article = _keys(lambda title: {_plain(title)})
_main = _keys(lambda title: map(_plain, (title, main_title(title))))
_others = _keys(lambda title: filter(None, (second_title(title), *bracketed(title))))
_either = _keys(lambda title: {
    *_main(title), *map(_plain, _others(title)), *_joined(without_article(tokens(o)) for o in _others(title)),
})  # fmt: skip
_work = _keys(lambda title: _main(title) | _main(without_companions(title)))
_squeezed = _keys(lambda title: (key.replace(" ", "") for key in _work(title)))
_spaced = _keys(lambda title: {
    " ".join(spelled(name))
    for whole in (title, without_companions(title)) for name in (whole, main_title(whole))
})  # fmt: skip
_spelled = _keys(lambda title: (key.replace(" ", "") for key in _spaced(title)))
_singular = _keys(lambda title: _joined(singular(spelled(name)) for name in (title, main_title(title))))
_core = _keys(lambda title: _joined(singular(spelled(name)) for name in cores(title)))
# Without an author "a Girl" of "Story of a Girl" says nothing.
_long_core = _keys(lambda title: _joined(
    singular(spelled(name)) for name in cores(title) if len(without_article(tokens(name))) > 1
))  # fmt: skip
_segments = _keys(lambda title: _joined(singular(spelled(name)) for name in segments(title)))
_alone = _keys(lambda title: _squeezed(title) | _spelled(title) | _singular(title) | _either(title))
_exact_author = _keys(lambda name: {exact_author(name)})
_folded_author = _keys(folded_authors)
_any_author = _keys(lambda name: {*folded_authors(name), single_author(name), *initial_authors(name)})


RULES = {
    rule.name: rule
    for rule in (
        Rule("exact", "the same words of author and title, as in the paper",
             _exact_title, _exact_author, aliases=False),
        Rule("accents", "accents and ranks (\"graf\", \"Sir\") aside",
             _folded_title, _folded_author, aliases=False),
        Rule("article", "a leading article aside", _article, _folded_author, aliases=False),
        Rule("subtitle", "the part before a colon, semicolon, line break or \"or\"",
             _main, _folded_author, aliases=False),
        Rule("author", "author by another spelling, pseudonym, or family name and initial",
             _main, _any_author),
        Rule("alternative", "the title behind \"or\" or in brackets", _either, _any_author, tier=1),
        Rule("collection", "the named work of \"A, and Other Stories\"", _work, _any_author, tier=1),
        Rule("compound", "compounds written as one word or several", _squeezed, _any_author),
        Rule("spelling", "numbers, abbreviations and British forms in one spelling", _spelled, _any_author),
        Rule("named", "the author's own name in one title aside", _spelled, _any_author, tier=1,
             nameless=True),
        Rule("plural", "\"Sea\" and \"Seas\" are one word", _singular, _any_author, tier=1),
        Rule("frame", "one title without \"The Life of\" or what a comma adds", _singular, _any_author,
             tier=2, loose=_core),
        Rule("affix", "the shorter title begins or ends the longer one, and the author is the same",
             _spaced, _any_author, compare=begins_or_ends, tier=2),
        Rule("part", "the record is a named part of a larger work", _singular, _any_author, tier=2,
             loose_record=_segments),
        Rule("near", "one word of the title is spelt otherwise, and the author is the same",
             _spaced, _any_author, compare=nearly_same, tier=2),
        Rule("title-only", "the source or the record names no author; the title is the same",
             _alone, lambda name: frozenset({"-"}), needs_author=False, tier=3, loose=_long_core,
             nameless=True),
    )
}  # fmt: skip
"""All rules by name; a recipe may leave some out or change their order."""


@dataclass(frozen=True, slots=True)
class Override:
    """A work, named by title (and author) or by its id in a source, goes to a book, or nowhere (None)."""

    reason: str
    title: str = ""
    author: str = ""
    source: str = ""
    work_id: str = ""
    gutenberg_id: int | None = None


def overrides_from(table: Mapping[str, Any]) -> list[Override]:
    """The overrides of a recipe: `[[override]]` tables with a reason and a title or a work_id.

    Raises UsageError: unknown keys, no reason, nothing that names the work, an id that is no number.
    """
    found = []
    check(table, "overrides", "overrides", UsageError)
    for number, entry in enumerate(table.get("override", ())):
        one = settings_of(Override, entry, f"override.{number}")
        if not one.title and not one.work_id:
            raise UsageError("an override names no work", expected="a title or a work_id", found=entry)
        found.append(one)
    return found


def find_override(overrides: Sequence[Override], cast: HarvestedCast) -> Override | None:
    """The first override that names the work."""
    return next((o for o in overrides if _names(o, cast)), None)


def _names(override: Override, cast: HarvestedCast) -> bool:
    if override.source and override.source != cast.work.source:
        return False
    if override.work_id:
        return override.work_id == cast.work.work_id
    wanted = without_article(tokens(override.title))
    if wanted not in {without_article(tokens(t)) for t in (cast.work.title, *cast.work.titles)}:
        return False
    theirs = [cast.work.author, *cast.work.authors, *cast.work.author_aliases]
    return not override.author or bool(_author_keys([override.author]) & _author_keys(theirs))


def _author_keys(names: Sequence[str]) -> set[str]:
    return {key for name in names if name for key in (folded_author(name), *initial_authors(name))}
