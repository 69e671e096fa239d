"""The rules by which (author, title) is matched to the catalogue, in the order in which they are tried.

The first is the paper's: exact token match. Each further rule relaxes one thing, says what, and is tried
only for works that no rule before it has found. A rule makes keys of a title and keys of an author; a work
and a record match when they share one of each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from .spelling import bracketed, cores, singular, spelled
from .titles import (
    exact_author,
    folded_author,
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
    the other side only, never against each other. `affix` means that the title keys need not be equal: the
    shorter must begin or end the longer, word by word. `needs_author` False matches by title alone.
    """

    name: str
    explanation: str
    titles: Keys
    authors: Keys
    aliases: bool = True
    affix: bool = False
    needs_author: bool = True
    tier: int = 0
    loose: Keys | None = None


# A title or name is asked for its keys by many rules: they are kept.
_kept = lru_cache(maxsize=1 << 17)


@_kept
def _exact_title(title: str) -> frozenset[str]:
    return frozenset({" ".join(plain_tokens(title))})


@_kept
def _folded_title(title: str) -> frozenset[str]:
    return frozenset({" ".join(tokens(title))})


@_kept
def _article(title: str) -> frozenset[str]:
    return frozenset({" ".join(without_article(tokens(title)))})


@_kept
def _main(title: str) -> frozenset[str]:
    return _article(title) | _article(main_title(title))


@_kept
def _either(title: str) -> frozenset[str]:
    others = [second_title(title), *bracketed(title)]
    return _main(title) | {key for other in others if other for key in _article(other)}


@_kept
def _work(title: str) -> frozenset[str]:
    return _main(title) | _main(without_companions(title))


@_kept
def _squeezed(title: str) -> frozenset[str]:
    return frozenset({squeezed(tuple(key.split())) for key in _work(title)})


@_kept
def _spelled(title: str) -> frozenset[str]:
    named = (title, main_title(title), without_companions(title))
    return frozenset({squeezed(spelled(name)) for name in named})


@_kept
def _singular(title: str) -> frozenset[str]:
    return frozenset({squeezed(singular(spelled(name))) for name in (title, main_title(title))})


@_kept
def _core(title: str) -> frozenset[str]:
    return frozenset({squeezed(singular(spelled(name))) for name in cores(title)})


@_kept
def _exact_author(name: str) -> frozenset[str]:
    return frozenset({exact_author(name)})


@_kept
def _folded_author(name: str) -> frozenset[str]:
    return frozenset({folded_author(name)})


@_kept
def _any_author(name: str) -> frozenset[str]:
    return frozenset({folded_author(name), single_author(name), *initial_authors(name)} - {""})


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
        Rule("plural", "\"Sea\" and \"Seas\" are one word", _singular, _any_author, tier=1),
        Rule("frame", "one title without \"The Life of\" or what a comma adds", _singular, _any_author,
             tier=2, loose=_core),
        Rule("affix", "the shorter title begins or ends the longer one, and the author is the same",
             _work, _any_author, affix=True, tier=2),
        Rule("title-only", "the source or the record names no author; the title is the same",
             _squeezed, lambda name: frozenset({"-"}), needs_author=False, tier=3),
    )
}  # fmt: skip
"""All rules by name; a recipe may leave some out or change their order."""
