"""Among several Gutenberg records of a work, one is chosen, and every other gets the reason why not.

Records fall out for cause (another language, not a text, a part or an adaptation); of those left, the
better match wins, then the author's own name on it, then the most downloads, then the lowest number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from .titles import fold, generation, main_title, tokens, without_article

_PART = re.compile(
    r"\b(?:vol(?:ume|\.)?|tome|tomo|band|part|teil|deel)\s+(?:[ivxlc]+|\d+)\b"
    r"|\b(?:first|second|third) (?:volume|part)\b|\bv\. \d"
    r"|(?:^|[,;:.—–-]\s*)(?:book|livre|buch|libro|chapters?)\s+(?:[ivxlc]+|\d+)\b"
    r"|\b(?:index|selections?|extracts?|excerpts?) (?:of|from)\b"
)
_SHORTENED = re.compile(
    r"\b(?:abridged|retold|adapted|simplified|young (?:folks|people)"
    r"|for (?:children|boys|girls|young|schools)|drama(?:tis|tiz)ed|a parody)\b"
)
# Some of these are the only record that there is; they are taken last, and a person is asked to look.
_PERHAPS_SHORTENED = re.compile(
    r"\bin words of one syllable\b|\bschool edition\b|\bfor schools\b|\bcondensed\b"
)
# In a subtitle these words are the author's own ("A Story of Life Among Polish Gentlefolk").
_ABOUT = re.compile(
    r"\b(?:stor(?:y|ies) (?:of|from)|tales from|letters from|scenes from|sequel|companion to|a study of"
    r"|notes on|commentary|a play)\b"
)
_DRAMA = re.compile(r"\b(?:drama|plays?|librett(?:o|i)|operas?)\b", re.I)


class ConsideredEdition(NamedTuple):
    """A record that was considered; `refused` says why it was not taken, "" for the one that was."""

    gutenberg_id: int
    title: str
    refused: str
    author: str = ""
    downloads: int = 0


@dataclass(frozen=True, slots=True)
class EditionSettings:
    """`languages` in order of preference; `forms` are Gutenberg's types that count as books to read."""

    languages: tuple[str, ...] = ("en",)
    forms: tuple[str, ...] = ("Text",)


def choose(
    records: Sequence[Mapping[str, Any]],
    wanted: Sequence[str],
    settings: EditionSettings,
    *,
    play: bool = False,
    bearer: str = "",
    tiers: Mapping[int, int] | None = None,
) -> tuple[Mapping[str, Any] | None, list[ConsideredEdition]]:
    """(the chosen record or None, all records with reasons).

    `records` are rows of the catalogue; `wanted` are the titles of the work: a record called "The Story of
    Don Quixote" is an adaptation unless a wanted title says so too. `play` for works that are plays;
    `bearer` is "elder" or "younger" when the work names which of two authors of one name it is by.
    `tiers` has the tier of the rule that found each record; all records are compared, tier first.
    """
    tier_of = tiers or {}
    work = _WantedWork(tuple(wanted), fold(" / ".join(wanted)), play, bearer)
    causes = {record["id"]: _cause(record, work, settings) for record in records}
    ranks = {record["id"]: _rank(record, settings, tier_of) for record in records}
    best = min((r for r in records if not causes[r["id"]]), key=lambda r: ranks[r["id"]], default=None)
    considered = [
        choice_of(
            record,
            causes[record["id"]] or _why_not(record, best, ranks),
        )
        for record in sorted(records, key=lambda r: (r is not best, ranks[r["id"]]))
    ]
    return best, considered


def choice_of(record: Mapping[str, Any], refused: str) -> ConsideredEdition:
    """A record as one that was considered."""
    authors = " and ".join(record["authors"][:3])
    return ConsideredEdition(record["id"], _one_line(record), refused, authors, max(0, record["downloads"]))


class _WantedWork(NamedTuple):
    """What is known of the work: its titles, the same folded on one line, and see `choose`."""

    titles: tuple[str, ...]
    folded: str
    play: bool
    bearer: str


def _cause(record: Mapping[str, Any], work: _WantedWork, settings: EditionSettings) -> str:
    """Why a record cannot be taken at all; "" when it can."""
    languages = record["languages"] or [""]
    if not any(language in settings.languages for language in languages):
        return f"language {', '.join(languages)}"
    if record["form"] and record["form"] not in settings.forms:
        return f"not a text but {record['form']}"
    if work.bearer and not {work.bearer, ""} & (bearers(record) or {""}):
        return f"by {'a younger' if work.bearer == 'elder' else 'an elder'} author of this name"
    return _cause_in_title(record, work) or _cause_in_subjects(record, work)


_SIGNS = ((_PART, "a part"), (_SHORTENED, "an adaptation"), (_ABOUT, "another work"))


def _cause_in_title(record: Mapping[str, Any], work: _WantedWork) -> str:
    """Words that make it another work, unless the work's own title says so too."""
    title = record["titles"][0] if record["titles"] else ""
    for (pattern, cause), found in zip(_SIGNS, _signs(title), strict=True):
        if not found or found.word in work.folded:
            continue
        if pattern is not _PART or not _is_named(found.rest, work.titles):
            return f"{cause} ({found.word.strip()!r} in the title)"
    return ""


def _cause_in_subjects(record: Mapping[str, Any], work: _WantedWork) -> str:
    fiction = any("fiction" in subject.lower() for subject in record["subjects"])
    drama = not fiction and any(_DRAMA.search(subject) for subject in record["subjects"])
    return "a play, not a novel" if drama and not work.play else ""


class _Sign(NamedTuple):
    """A word of a title, and what follows it."""

    word: str
    rest: str


@lru_cache(maxsize=1 << 16)
def _signs(title: str) -> tuple[_Sign | None, ...]:
    """For each of `_SIGNS`, where a title has it; words for "another work" count in the main title only."""
    line, main = fold(_on_one_line(title)), fold(main_title(title))
    texts = (line, line, main)
    found = [(sign[0].search(text), text) for sign, text in zip(_SIGNS, texts, strict=True)]
    return tuple(_Sign(m.group(), text[m.end() :]) if m else None for m, text in found)


@lru_cache(maxsize=1 << 16)
def _is_perhaps_shortened(title: str) -> bool:
    return bool(_PERHAPS_SHORTENED.search(fold(_on_one_line(title))))


def _is_named(rest: str, wanted: Sequence[str]) -> bool:
    """Whether what follows "Volume I." is the title that is wanted: the work is that volume."""
    words = without_article(tokens(rest))
    return bool(words) and any(words == without_article(tokens(title)) for title in wanted)


def bearers(record: Mapping[str, Any]) -> set[str]:
    """Which of two authors of one name a record's authors are, where their names or aliases say so."""
    people = [person for person in record["people"] or () if person["role"] == "cre"]
    names = [name for person in people for name in (person["name"], *person["aliases"])]
    return {generation(name) for name in names} - {""}


def perhaps_shortened(record: Mapping[str, Any]) -> bool:
    """Whether the title speaks of an edition for schools or children, which may be shortened."""
    return _is_perhaps_shortened(record["titles"][0] if record["titles"] else "")


_Rank = tuple[int, bool, bool, int, int, bool, int]


def _rank(record: Mapping[str, Any], settings: EditionSettings, tiers: Mapping[int, int]) -> _Rank:
    """What decides between records, the first difference first."""
    places = [settings.languages.index(x) for x in record["languages"] if x in settings.languages]
    illustrated = any(person["role"] == "ill" for person in record["people"] or ())
    return (
        min(places, default=99),
        len(record["languages"]) > 1,
        perhaps_shortened(record),
        tiers.get(record["id"], 0),
        -record["downloads"],
        illustrated,
        record["id"],
    )


def _why_not(record: Mapping[str, Any], best: Mapping[str, Any] | None, ranks: Mapping[int, _Rank]) -> str:
    if best is None or record is best:
        return ""
    mine, its = ranks[record["id"]], ranks[best["id"]]
    if mine[0] != its[0]:
        return f"language {', '.join(record['languages'])} is less preferred"
    if mine[1] != its[1]:
        return f"in several languages ({', '.join(record['languages'])})"
    if mine[2] != its[2]:
        return "perhaps a shortened edition"
    if mine[3] != its[3]:
        return "its title fits less closely"
    if mine[4] != its[4]:
        return f"fewer downloads ({max(0, record['downloads']):,}, not {best['downloads']:,})"
    return "the same in all, a higher number"


def _one_line(record: Mapping[str, Any]) -> str:
    return _on_one_line(record["titles"][0]) if record["titles"] else ""


def _on_one_line(title: str) -> str:
    return " / ".join(re.split(r"[\r\n]+", title))
