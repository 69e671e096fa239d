"""The cast: the characters of a book, their other names, and what is known of their gender.

A cast file is plain text, one character per line:

    # a comment
    Mr. Darcy; Fitzwilliam Darcy; Darcy     the name, then other names after semicolons
    Elizabeth Bennet; Lizzy; Eliza [f]      [m], [f], [n] or [group] at the end is a hint
    Jim Hawkins [m] [narrator]              says "I" outside quotes; [narrator 16-18] in these chapters
    Cathy Linton; Catherine:18-             a name that is hers from chapter 18 on

The first name is the one the output carries.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from ..errors import UsageError, listed
from ..shapes import check
from ..text.decode import composed

MOST_PEOPLE = 10_000
"""The largest cast: every form of every name is looked for. The longest list of LiSCU has fewer than 300."""
GENDERS = ("m", "f", "n", "group")
_ROW = re.compile(r"[^\W\d_],[^\W\d_]")
_HINT = re.compile(r"\s*\[(\w+|narrator +[^][]+)\]\s*$", re.I)
RANGE = re.compile(r"(@?)(\d+(?:-\d*)?(?:,\d+(?:-\d*)?)*)")
"""Chapters, or tokens behind "@": "3", "5,7-9", "12-" (to the end), "@40210-52000"."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One character: the name of the output, other names it is called by, gender ("" when not given)."""

    name: str
    aliases: tuple[str, ...] = ()
    gender: str = ""


@dataclass(frozen=True, slots=True)
class Cast:
    """The characters of one book, each name once; `notes` tell what was mended on reading, `narrators` who
    says "I" and where, as `annotate --narrator` takes it."""

    entries: tuple[Entry, ...]
    notes: tuple[str, ...] = ()
    narrators: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(e.name for e in self.entries)

    def index(self, name: str) -> int:
        """The place of a character, by name or alias, upper and lower case aside.

        Raises:
            UsageError: nobody is called so; the message lists the cast.
        """
        names = [(one, i) for i, one in enumerate(self.names)]
        names += [(alias, i) for i, entry in enumerate(self.entries) for alias in entry.aliases]
        for called, i in names:
            if called.casefold() == name.casefold():
                return i
        raise UsageError(f"no character is called {name!r}", expected=f"one of {listed(self.names)}")


def make_cast(entries: Iterable[Entry | str]) -> Cast:
    """A cast of entries or plain names: white space tidied, the same name twice merged with a note.

    Raises:
        UsageError: no name at all.
    """
    merged: dict[str, Entry] = {}
    notes: list[str] = []
    for item in entries:
        given = Entry(item) if isinstance(item, str) else item
        name = " ".join(given.name.split())
        others = dict.fromkeys(" ".join(alias.split()) for alias in given.aliases)
        nothing = [alias for alias in others if alias and not is_sayable(alias)]
        notes += [f"the cast calls {name!r} {alias!r}, which has no letter: left out" for alias in nothing]
        entry = Entry(name, tuple(a for a in others if is_sayable(a) and a != name), given.gender)
        if not is_sayable(name):
            continue
        if (known := merged.setdefault(name.casefold(), entry)) is not entry:
            notes.append(f"the cast names {name!r} more than once; taken as one character")
            aliases = tuple(dict.fromkeys((*known.aliases, *entry.aliases)))
            merged[name.casefold()] = replace(known, aliases=aliases, gender=known.gender or entry.gender)
    if several := [entry.name for entry in merged.values() if _is_several(entry.name)]:
        told = "other names stand behind semicolons, other people on other lines"
        notes.append(f"the cast has as one name {listed(map(repr, several), 3)}: {told}")
    if not merged:
        hint = "run with --propose-cast to have a cast proposed from the book"
        raise UsageError("the cast names nobody", expected="at least one name, one per line", hint=hint)
    if len(merged) > MOST_PEOPLE:
        expected = f"at most {MOST_PEOPLE:,} characters"
        raise UsageError("the cast is too long", expected=expected, found=f"{len(merged):,}")
    return Cast(tuple(merged.values()), tuple(notes))


def _is_several(name: str) -> bool:
    """Whether a name looks like a row of a table ("Zoë,Queen"), or like several people ("Ann, Tom, Li")."""
    parts = [part.strip() for part in name.split(",")]
    return _ROW.search(name) is not None or (len(parts) > 2 and all(part[:1].isupper() for part in parts))


def parse_cast(text: str, source: str = "cast") -> Cast:
    """Read the text of a cast file.

    Raises:
        UsageError: no name, or a hint in brackets that is none (names line and choices).
    """
    found = [line for line in cast_lines(text, source) if line is not None]
    told = tuple(narrator for _, narrator in found if narrator)
    return replace(make_cast(entry for entry, _ in found), narrators=told)


def cast_lines(text: str, source: str = "cast") -> list[tuple[Entry, str] | None]:
    """Of every line of a cast file the character and where he narrates ("Jim Hawkins:16-18", "" nowhere);
    None for a line that lists nobody.

    Raises: as `parse_cast`.
    """
    lines = composed(text.lstrip("\ufeff")).splitlines()
    return [_line(line, f"{source}:{number}") for number, line in enumerate(lines, 1)]


def _line(line: str, place: str) -> tuple[Entry, str] | None:
    if not (line := line.split("#", 1)[0].strip()):
        return None
    gender, narrates = "", ""
    while match := _HINT.search(line):
        hint, _, where = match[1].lower().partition(" ")
        where = where.replace(" ", "")
        if hint == "narrator" and (not where or RANGE.fullmatch(where)):
            narrates = f":{where}"
        elif hint in GENDERS:
            gender = hint
        else:
            expected = ", ".join(f"[{g}]" for g in (*GENDERS, "narrator", "narrator 16-18"))
            raise UsageError(f"{place}: unknown hint {match[0].strip()}", expected=expected)
        line = line[: match.start()]
    name, *aliases = (part.strip() for part in line.split(";"))
    if not is_sayable(name) or line[0] in "{[":
        what, hint = f"{place}: names nobody", "tables of `harvest` are for `create --casts`"
        raise UsageError(what, expected="name; other name; other name", found=line[:80], hint=hint)
    if split_range(name)[1]:
        what = f"{place}: chapters belong to another name than the first, which is that of the output"
        raise UsageError(what, expected="name; other name:18-", found=name)
    for each in (name, *filter(None, aliases)):
        check(each, "name", place, UsageError)
    return Entry(name, tuple(aliases), gender), (name + narrates).rstrip(":") if narrates else ""


def split_range(name: str) -> tuple[str, str]:
    """Name and range of "Dr. Livesey:16-18"; a colon that no range follows belongs to the name."""
    bare, colon, places = name.rpartition(":")
    places = places.replace(" ", "")
    return (bare.strip(), places) if colon and RANGE.fullmatch(places) else (name.strip(), "")


def format_cast(cast: Cast, remarks: Iterable[str] = ()) -> str:
    """The text of a cast file that `parse_cast` reads back; `remarks` become a comment per character."""
    lines, told = [], dict(map(split_range, cast.narrators))
    for entry, remark in zip(cast.entries, [*remarks, *[""] * len(cast.entries)], strict=False):
        line = "; ".join((entry.name, *entry.aliases)) + (f" [{entry.gender}]" if entry.gender else "")
        line += f" [narrator {told[entry.name]}".rstrip() + "]" if entry.name in told else ""
        lines.append(f"{line}    # {remark}" if remark else line)
    return "\n".join(lines) + "\n"


def is_sayable(name: str) -> bool:
    """Whether a name has a letter or a digit: "-" in a list says that there is no other name."""
    return any(c.isalnum() for c in name)
