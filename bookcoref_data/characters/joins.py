"""Join works to records by the keys that a rule makes of titles and authors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain, product
from typing import Any, NamedTuple

from ..shapes import together
from .candidates import authors_of, titles_of
from .match_rules import Keys, Rule
from .spelling import without_names
from .table import HarvestedCast
from .titles import tokens


class _Item(NamedTuple):
    """A work or a record: its number, its titles, the keys of its authors, and all names of theirs."""

    number: int
    titles: Sequence[str]
    authors: frozenset[str]
    names: tuple[str, ...] = ()


def _without_names(item: _Item) -> _Item:
    """The item with further titles, without the author's own name ("Confessions of St. Augustine")."""
    words = frozenset(word for name in item.names for word in tokens(name) if len(word) > 1)
    more = (t for title in item.titles for t in without_names(title, words))
    return item._replace(titles=[*item.titles, *more])


class Joins:
    """Joins `casts` to `rows`; the keys of authors are made once for all rules that share them."""

    def __init__(self, casts: Mapping[int, HarvestedCast], rows: Mapping[int, Mapping[str, Any]]) -> None:
        self._casts, self._rows = casts, rows
        self._kept: dict[tuple[Keys, bool, bool], tuple[list[_Item], list[_Item]]] = {}

    def pairs(self, rule: Rule, wanted: Iterable[int] | None = None) -> dict[int, list[int]]:
        """Work index -> ids of the records that the rule finds, sorted; of the works `wanted`, or all."""
        works, records = self._by_author(rule)
        if rule.nameless:
            works, records = (list(map(_without_names, items)) for items in (works, records))
        if wanted is not None:
            only = set(wanted)
            works = [work for work in works if work.number in only]
        sides = [(rule.titles, keys) for keys in (rule.titles, rule.loose, rule.loose_record) if keys]
        sides += [(rule.loose, rule.titles)] if rule.loose else []
        joined = (_joined(works, mine, records, theirs, rule.compare) for mine, theirs in sides)
        return together(sorted(set(chain.from_iterable(joined))))

    def _by_author(self, rule: Rule) -> tuple[list[_Item], list[_Item]]:
        """All works with the keys of their authors, and the records that share one of these."""
        kind = (rule.authors, rule.aliases, rule.needs_author)
        if kind not in self._kept:
            works = [
                _Item(number, titles_of(cast), _author_keys(rule, names), tuple(names))
                for number, cast in self._casts.items()
                for names in [_work_authors(rule, cast)]
            ]
            asked = frozenset().union(*(work.authors for work in works))
            # One word of every key of authors: a name with that key has it, and finding words is far cheaper.
            # Of "austen j" it is the family name; of "austen jane" one, too, where a word is known to be one,
            # since half of all authors are called Jane or John.
            keys_of = [words for key in asked if (words := tokens(key))]
            families = {words[0] for words in keys_of if len(words) == 2 and len(words[1]) == 1}
            one_word = (next((w for w in words if w in families), words[0]) for words in keys_of)
            telling = frozenset(one_word) if rule.needs_author else None
            records = [
                _Item(number, row["titles"], keys, tuple(names))
                for number, row in self._rows.items()
                for names in [_record_authors(rule, row)]
                if (keys := _author_keys(rule, names if rule.needs_author else ["-"], telling) & asked)
            ]
            self._kept[kind] = works, records
        return self._kept[kind]


def _author_keys(rule: Rule, names: Iterable[str], telling: AbstractSet[str] | None = None) -> frozenset[str]:
    """The keys of all names; a name that has none of the `telling` words is passed over."""
    return frozenset(
        key
        for name in names
        if telling is None or not telling.isdisjoint(tokens(name))
        for key in rule.authors(name)
        if key
    )


def _joined(
    works: Iterable[_Item], mine: Keys, records: Iterable[_Item], theirs: Keys,
    compare: Callable[[str, str], bool] | None,
) -> Iterator[tuple[int, int]]:  # fmt: skip
    """(work, record) that share a key of an author and one of a title, or two that fit each other."""
    asked: dict[str, dict[str, list[int]]] = {}
    for work in works:
        for author, title in _keys(mine, work):
            asked.setdefault(author, {}).setdefault(title, []).append(work.number)
    for record in records:
        for author, title in _keys(theirs, record):
            known = asked.get(author, {})
            for fitting in [key for key in known if compare(key, title)] if compare else [title]:
                yield from ((number, record.number) for number in known.get(fitting, ()))


def _keys(keys: Keys, item: _Item) -> Iterable[tuple[str, str]]:
    """All combinations of the keys of authors and of titles."""
    return product(item.authors, {key for title in item.titles for key in keys(title) if key})


def _work_authors(rule: Rule, cast: HarvestedCast) -> list[str]:
    if not rule.needs_author:
        return ["-"] if not authors_of(cast) else []
    return authors_of(cast) + (list(cast.work.author_aliases) if rule.aliases else [])


def _record_authors(rule: Rule, record: Mapping[str, Any]) -> list[str]:
    """Authors of a record; translators, editors and illustrators never count. A pseudonym is an alias."""
    people = [p for p in record["people"] or () if p["role"] == "cre"]
    names = [p["name"] for p in people] or list(record["authors"])
    return names + ([alias for p in people for alias in p["aliases"]] if rule.aliases else [])
