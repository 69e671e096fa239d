"""Among several Gutenberg records of a work, one is chosen, and every other gets the reason why not.

Records fall out for cause (another language, not a text, a part or an adaptation); of those left, the
better match wins, then the author's own name on it, then the most downloads, then the lowest number.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from .spelling import part_number, singular, spelled
from .titles import WORDS, fold, generation, main_title, squeezed, tokens, without_article

_EDITIONS: dict[str, list[str]] = WORDS["editions"]


def _any_of(name: str) -> re.Pattern[str]:
    return re.compile("|".join(_EDITIONS[name]))


_EXTRACT, _SHORTENED, _ABOUT = map(_any_of, ("extract", "shortened", "about"))
_PERHAPS_SHORTENED, _DRAMA, _DRAMA_TITLE = map(_any_of, ("perhaps_shortened", "drama", "drama_title"))


class Considered(NamedTuple):
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
    records: Sequence[Mapping[str, Any]], wanted: Sequence[str], settings: EditionSettings, *,
    play: bool | None = None, bearer: str = "", tiers: Mapping[int, int] | None = None, literal: bool = False,
) -> tuple[Mapping[str, Any] | None, list[Considered]]:  # fmt: skip
    """(the chosen record or None, all records with reasons).

    `records` are rows of the catalogue; `wanted` are the titles of the work: a record called "The Story of
    Don Quixote" is an adaptation unless a wanted title says so too. `play` is whether the work
    is a play, None where that is not known; `bearer` is "elder" or "younger" when the work names which of
    two authors of one name it is by. `tiers` has the tier of the rule that found each record; all records
    are compared, tier first; `literal` counts articles and plurals, too.
    """
    work = _WantedWork(tuple(wanted), fold(" / ".join(wanted)), play, bearer)
    causes = {record["id"]: _cause(record, work, settings) for record in records}
    # What decides between records, the first difference first
    ranks = {
        record["id"]: (
            next((i for i, x in enumerate(settings.languages) if x in record["languages"]), 99),
            len(record["languages"]) > 1,
            shortened(record),
            (tiers or {}).get(record["id"], 0),
            min((_lacking(record, title, literal) for title in wanted), default=0),
            is_drama(record) != bool(play),
            -record["downloads"],
            any(person["role"] == "ill" for person in record["people"] or ()),
            record["id"],
        )
        for record in records
    }
    best = min((r for r in records if not causes[r["id"]]), key=lambda r: ranks[r["id"]], default=None)

    def why_not(record: Mapping[str, Any]) -> str:
        if best is None or record is best:
            return ""
        languages, read = ", ".join(record["languages"]), f"{max(0, record['downloads']):,}"
        reasons = (
            f"language {languages} is less preferred",
            f"in several languages ({languages})",
            "perhaps a shortened edition",
            *["its title fits less closely"] * 2,
            "a play" if is_drama(record) else "not a play",
            f"fewer downloads ({read}, not {best['downloads']:,})",
            *["the same in all, a higher number"] * 2,
        )
        ranked = zip(reasons, ranks[record["id"]], ranks[best["id"]], strict=True)
        return next(reason for reason, mine, its in ranked if mine != its)

    considered = [
        choice_of(record, causes[record["id"]] or why_not(record))
        for record in sorted(records, key=lambda r: (r is not best, ranks[r["id"]]))
    ]
    return best, considered


def choice_of(record: Mapping[str, Any], refused: str) -> Considered:
    authors = " and ".join(record["authors"][:3])
    return Considered(record["id"], one_line(record), refused, authors, max(0, record["downloads"]))


class _WantedWork(NamedTuple):
    """What is known of the work: its titles, the same folded on one line, and see `choose`."""

    titles: tuple[str, ...]
    folded: str
    play: bool | None
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
    if cause := _cause_in_title(record, work):
        return cause
    return "a play, not a novel" if work.play is False and is_drama(record) else ""


_SIGNS = ((_EXTRACT, "a part"), (_SHORTENED, "an adaptation"), (_ABOUT, "another work"))


def _cause_in_title(record: Mapping[str, Any], work: _WantedWork) -> str:
    """Words that make it another work, unless the work's own title says so too."""
    title = _title(record)
    # A part for the whole, the whole for a part, or another part
    mine, asked = part_number(title), [part_number(name) for name in work.titles]
    numbers = {part[0] for part in asked if part}
    if mine is None and asked and all(asked):
        return f"the whole work, not part {min(numbers)} of it"
    if mine is not None and mine[0] not in numbers:
        # "Volume I. Swann's Way": the work is that volume.
        words = without_article(tokens(mine[1]))
        if not words or all(words != without_article(tokens(name)) for name in work.titles):
            return f"a part ({mine[0]}) of the work"
    for (_, cause), found in zip(_SIGNS, _signs(title), strict=True):
        if found and found not in work.folded:
            return f"{cause} ({found.strip()!r} in the title)"
    return ""


def is_drama(record: Mapping[str, Any]) -> bool:
    """Whether a record is a play by its subjects, or by its title where the subjects do not say."""
    if any("fiction" in subject.lower() for subject in record["subjects"]):
        return False
    said = any(_DRAMA.search(subject.lower()) for subject in record["subjects"])
    return said or bool(_DRAMA_TITLE.search(_folded(_title(record))))


@lru_cache(maxsize=1 << 16)
def _signs(title: str) -> tuple[str, ...]:
    """For each of `_SIGNS` what a title has of it, or ""; the signs of another work in its main part only."""
    line, main = _folded(title), fold(main_title(title))
    found = (sign[0].search(text) for sign, text in zip(_SIGNS, (line, line, main), strict=True))
    return tuple(m.group() if m else "" for m in found)


def bearers(record: Mapping[str, Any]) -> set[str]:
    """Which of two authors of one name a record's authors are, where their names or aliases say so."""
    people = [person for person in record["people"] or () if person["role"] == "cre"]
    names = [name for person in people for name in (person["name"], *person["aliases"])]
    return {generation(name) for name in names} - {""}


def shortened(record: Mapping[str, Any]) -> bool:
    """Whether the title speaks of an edition for schools or children, which may be shortened."""
    return bool(_PERHAPS_SHORTENED.search(_folded(_title(record))))


def _lacking(record: Mapping[str, Any], wanted: str, literal: bool) -> int:
    """How many words of the title that is wanted the record lacks: none of "Emma" in "Emma: A Novel".

    `literal`: the titles themselves must be the same, as they are or up to a subtitle.
    """
    if literal:
        mine = {main_title(wanted), wanted}
        theirs = {name for title in record["titles"] for name in (main_title(title), title)}
        if {*map(tokens, mine)} & {*map(tokens, theirs)}:
            return 0
        short = ({without_article(tokens(name)) for name in names} for names in (mine, theirs))
        return 1 if set.intersection(*short) else 2
    named = [singular(spelled(title)) for title in record["titles"]]
    words = singular(spelled(wanted))
    if any(squeezed(words) in squeezed(title) for title in named):
        return 0
    return min((sum(word not in title for word in words) for title in named), default=len(words))


def one_line(record: Mapping[str, Any]) -> str:
    """The title of a record on one line; Gutenberg breaks long titles into lines."""
    return _on_one_line(_title(record))


def _title(record: Mapping[str, Any]) -> str:
    return record["titles"][0] if record["titles"] else ""


@lru_cache(maxsize=1 << 16)
def _folded(title: str) -> str:
    return fold(_on_one_line(title))


def _on_one_line(title: str) -> str:
    return " / ".join(re.split(r"[\r\n]+", title))
