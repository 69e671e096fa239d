"""One novel, written in other marks, line ends, layouts and names, must be annotated as before.

    python -m benchmarks.bench_exchanges BOOK CAST [--paragraphs 400] [--only NAME ...] [--show 5]
    python -m benchmarks.bench_exchanges main_characters.json NUMBER --mirror MIRROR

A witness that needs no gold. The novel is annotated once as it is and once after each exchange of something
that must not matter. Places are counted in letters and digits: a quote must stand where it stood and have the
same speaker, a mention the same person. Printed by exchange: the share of the quotes and of the mentions that
stay, how many are new, and with `--show` some that do not stay.

`BOOK` is a Gutenberg file or a plain text, `CAST` a cast file; or they are a file of main characters as
`bench_workshop` reads it, and the number of a book in a mirror.
"""

from __future__ import annotations

import argparse
import difflib
import json
import random
import re
import textwrap
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import bookcoref_data as bc
from bookcoref_data.annotation.cast import Cast, Entry, format_cast, parse_cast
from bookcoref_data.annotation.embedded.names import gender_of_first_name, nicknames_of, take_apart
from bookcoref_data.words import word_set
from bookcoref_data.words.honorifics import HONORIFICS, NAME_SUFFIXES, honorific_gender

# First names of women, of men, surnames.
NAMES = {
    "common names": (
        "Grace Ruth Alice Martha Helen Nora Edith Clara Ellen Susan",
        "Walter Hugh Frank Edgar Ralph Simon Philip Oscar Henry Peter",
        "Harding Preston Whitby Colton Ashford Danvers Kirby Lorrimer Merton Osgood Tilney Bradley Thorpe",
    ),
    "names that no list has": (
        "Aoife Nkechi Xiuying Ingeborg Oluchi Ljubica Sinead Wanjiru",
        "Kofi Dmitri Haruto Tadeusz Bjarne Ruaridh Wenceslas Obinna",
        "Okonkwo Zhang Sjöberg Nakamura Kowalczyk Adeyemi Hrafnsson Varga Ivanov Papadakis Nguyen Haddad",
    ),
    "names that are words": (
        "Grace Hope Joy Rose May Patience Daisy Faith",
        "Will Mark Frank Bill Guy Rob Pat Jack",
        "Young Long Green Brown Day Bishop Wood Hill Rich Small King Price",
    ),
    "names with marks": (
        "Mary-Ann Anne-Marie Rose-Anna Lee-Ann",
        "Jean-Luc Karl-Heinz Jean-Paul John-Henry",
        "O'Brien McDonald D'Arcy FitzGerald O'Neill MacAulay Smith-Jones L'Estrange",
    ),
}
NO_NAMES = (
    HONORIFICS | NAME_SUFFIXES | word_set("of the and a an de du la le van von der den old young little")
)
WORD = re.compile(r"[^\W_]+(?:['’-](?!s\b)[^\W_]+)*")  # without the possessive ending
Spans = dict[tuple[int, int], str]


def letters(text: str) -> int:
    return sum(map(str.isalnum, text))


@dataclass(frozen=True)
class Novel:
    """Paragraphs of one line each and the cast; `who`: a new name -> the first name of the same person."""

    paragraphs: tuple[str, ...]
    cast: Cast
    who: dict[str, str] | None = None

    def each(self, change: Callable[[str], str]) -> Novel:
        return replace(self, paragraphs=tuple(change(one) for one in self.paragraphs))

    def with_names(self, names: dict[str, str]) -> Novel:
        """Every word of `names` exchanged, in text and cast."""

        def change(text: str) -> str:
            return WORD.sub(lambda found: renamed(found[0], names), text)

        entries = [Entry(change(e.name), tuple(map(change, e.aliases)), e.gender) for e in self.cast.entries]
        who = {new.name: old.name for new, old in zip(entries, self.cast.entries, strict=True)}
        return replace(self.each(change), cast=Cast(tuple(entries)), who=who)


def moves(before: Novel, after: Novel) -> list[tuple[int, int]]:
    """(letters of the first text, letters of the second) behind every word that is another one."""
    old = new = 0
    found = []
    for left, right in zip(before.paragraphs, after.paragraphs, strict=True):
        if left != right:
            a, b = WORD.findall(left), WORD.findall(right)
            for kind, a1, a2, b1, b2 in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
                paired = a2 - a1 == b2 - b1
                ends = (
                    zip(range(a1 + 1, a2 + 1), range(b1 + 1, b2 + 1), strict=True) if paired else [(a2, b2)]
                )
                for i, k in ends if kind != "equal" else ():
                    found.append((old + letters("".join(a[:i])), new + letters("".join(b[:k]))))
        old, new = old + letters(left), new + letters(right)
        found.append((old, new))
    return found


def place(moved: list[tuple[int, int]], letter: int) -> int:
    """Where a letter of the first text stands in the second, if a word begins or ends there."""
    at = bisect_right(moved, (letter, 10**9)) - 1
    return letter if at < 0 else letter - moved[at][0] + moved[at][1]


def renamed(word: str, names: dict[str, str]) -> str:
    """A word under its new name, in capitals where it was; other words as they are."""
    if word.isupper() and word.capitalize() in names:
        return names[word.capitalize()].upper()
    return names.get(word, word)


def name_words(cast: Cast) -> tuple[dict[str, str], dict[str, str]]:
    """First names with their gender, and surnames with "", of a cast."""
    first: dict[str, str] = {}
    last: dict[str, str] = {}
    for entry in cast.entries:
        for name in (entry.name, *entry.aliases):
            parts = name.replace(".", "").split()
            words = [w for w in parts if w[:1].isupper() and w.casefold() not in NO_NAMES]
            titles = [w.casefold() for w in parts if w.casefold() in HONORIFICS]
            for i, word in enumerate(words):
                gender = gender_of_first_name(word)
                if gender and not (i and i == len(words) - 1):
                    first.setdefault(word, gender)
                elif titles or i:
                    last.setdefault(word, next(filter(None, map(honorific_gender, titles)), ""))
    return first, {word: gender for word, gender in last.items() if word not in first}


def first_names(novel: Novel) -> dict[str, str]:
    """First names of the cast with their gender, without those of which the novel has nicknames."""
    written = {word.lower() for word in WORD.findall(" ".join(novel.paragraphs))}
    first, _ = name_words(novel.cast)
    return {w: g for w, g in first.items() if written.isdisjoint(nicknames_of(take_apart(Entry(w))))}


def other_names(novel: Novel, kind: str) -> Novel:
    women, men, surnames = (pool.split() for pool in NAMES[kind])
    first, last = first_names(novel), name_words(novel.cast)[1]
    taken = {*first, *last}
    pools = {"f": women, "m": men, "": surnames}
    names = {}
    for word, gender in [*first.items(), *((word, "") for word in last)]:
        free = [one for one in pools[gender if gender in pools else ""] if one not in taken]
        if free and WORD.fullmatch(word):
            names[word] = free[0]
            taken.add(free[0])
    return novel.with_names(names)


def swapped(novel: Novel, gender: str) -> Novel:
    """The first names of the two most named people of one gender exchanged."""
    words = Counter(WORD.findall(" ".join(novel.paragraphs)))
    most = sorted((w for w, g in first_names(novel).items() if g == gender), key=lambda w: -words[w])[:2]
    return novel.with_names(dict(zip(most, most[::-1], strict=True)) if len(most) == 2 else {})


def quoted(opening: str, closing: str) -> Callable[[Novel], Novel]:
    return lambda novel: novel.each(lambda text: text.replace("“", opening).replace("”", closing))


def single(novel: Novel) -> Novel:
    def turn(text: str) -> str:
        # An apostrophe stays what it is: what closes has been opened.
        inner = r"‘([^‘’]*(?:’(?=\w)[^‘’]*)*)’(?!\w)"
        return re.sub(inner, "\x02\\1\x03", text).translate(str.maketrans("“”\x02\x03", "‘’“”"))

    return novel.each(turn)


def pattern(old: str, new: str) -> Callable[[Novel], Novel]:
    return lambda novel: novel.each(lambda text: re.sub(old, new, text))


def ordered(novel: Novel) -> Novel:
    entries = list(novel.cast.entries)
    random.Random(1).shuffle(entries)
    return replace(novel, cast=Cast(tuple(replace(e, aliases=tuple(reversed(e.aliases))) for e in entries)))


def strangers(novel: Novel) -> Novel:
    more = tuple(
        Entry(name) for name in ("Zebedee Quux", "Miss Quillfeather", "Drusilla Quux", "the Margrave")
    )
    return replace(novel, cast=Cast((*novel.cast.entries, *more)))


def laid_out(lines: Callable[[str], str], between: str = "\n\n") -> Callable[[Novel], str]:
    return lambda novel: between.join(map(lines, novel.paragraphs)) + "\n"


# Name -> what changes the novel, and how it is laid out if not in paragraphs of one line.
EXCHANGES: dict[str, tuple[Callable[[Novel], Novel], Callable[[Novel], str] | None]] = {
    'quotes: " "': (quoted('"', '"'), None),
    "quotes: « »": (quoted("«", "»"), None),
    "quotes: „ “": (quoted("„", "“"), None),
    "quotes: `` ''": (quoted("``", "''"), None),
    "quotes: ‘ ’": (single, None),
    "dashes: --": (pattern("—", "--"), None),
    "dashes: spaced": (pattern("—|--", " – "), None),
    "dashes: ----": (pattern("—", "----"), None),
    "apostrophes: '": (pattern("’", "'"), None),
    "ellipsis: ...": (pattern("…|\\. \\. \\.", "..."), None),
    "ellipsis: . . .": (pattern("…|\\.\\.\\.", ". . ."), None),
    "titles without points": (pattern(r"\b(Mr|Mrs|Dr|St)\.", r"\1"), None),
    "titles in full": (
        lambda n: n.with_names({"Dr": "Doctor"}).each(lambda t: t.replace("Doctor. ", "Doctor ")),
        None,
    ),
    "no-break spaces": (pattern(r"\b(Mr\.|Mrs\.|Miss|Dr\.) ", "\\1\u00a0"), None),
    "two spaces behind sentences": (pattern(r"([.!?]”?) (?=[“A-Z])", r"\1  "), None),
    "no marks of emphasis": (pattern("_", ""), None),
    "chapters in capitals": (pattern("^(?=Chapter|CHAPTER)(.*)$", lambda m: m[0].upper()), None),  # type: ignore[arg-type]
    "chapters by bare numbers": (pattern(r"^(?i:chapter) ([IVXLC]+|\d+)\b\.?", r"\1."), None),
    "first words in capitals": (pattern(r"^(\w+ \w+)(?= \w+ \w+ \w+ \w+)", lambda m: m[0].upper()), None),  # type: ignore[arg-type]
    "lines of 60": (lambda n: n, laid_out(lambda text: textwrap.fill(text, 60))),
    "lines of 60, CRLF": (
        lambda n: n,
        lambda n: laid_out(lambda t: textwrap.fill(t, 60))(n).replace("\n", "\r\n"),
    ),
    "a paragraph a line": (lambda n: n, laid_out(str, "\n")),
    "indented, no blank lines": (lambda n: n, laid_out(lambda text: "    " + textwrap.fill(text, 70), "\n")),
    "three blank lines": (lambda n: n, laid_out(str, "\n\n\n\n")),
    "cast in another order": (ordered, None),
    "four strangers in the cast": (strangers, None),
    "two women exchange names": (lambda n: swapped(n, "f"), None),
    "two men exchange names": (lambda n: swapped(n, "m"), None),
} | {kind: ((lambda novel, kind=kind: other_names(novel, kind)), None) for kind in NAMES}


def read(novel: Novel, text: str) -> tuple[Spans, Spans]:
    """Quotes and mentions with their people, by the first and last letter."""
    found = bc.annotate(text=text, cast=format_cast(novel.cast).splitlines(), language="en")
    at = [0]
    for token in found.book.tokens:
        at.append(at[-1] + letters(token))
    who = novel.who or {}
    quotes = {(at[q.start], at[q.end + 1]): who.get(q.speaker, q.speaker or "") for q in found.quotes}
    mentions = {
        (at[start], at[end + 1]): who.get(one.name, one.name)
        for one in found.book.characters
        for start, end in one.mentions
    }
    return quotes, mentions


def kept(moved: list[tuple[int, int]], before: Spans, after: Spans) -> tuple[int, int, list[str]]:
    """How many stay, how many are new; and the others: letters of the first text, who, who now."""
    other = []
    there = {(place(moved, a), place(moved, b)): (a, b, who) for (a, b), who in before.items()}
    for span, (a, b, who) in there.items():
        if after.get(span, "-") != who:
            other.append(f"{a}-{b}: {who or 'nobody'} -> {after.get(span, 'none') or 'nobody'}")
    return len(before) - len(other), len(after.keys() - there.keys()), other


def load(book: str, cast: str, mirror: Path | None, paragraphs: int) -> Novel:
    """The first paragraphs of the story, with curly quotes."""
    if mirror:
        lists = json.loads(Path(book).read_text(encoding="utf-8"))
        entries = parse_cast("\n".join("; ".join(names) for names in lists[cast]) + "\n")
        story = bc.clean(mirror / f"cache/epub/{cast}/pg{cast}.txt").text
    else:
        entries, story = parse_cast(Path(cast).read_text(encoding="utf-8")), bc.clean(book).text
    parts = [" ".join(part.split()) for part in re.split(r"\n[ \t]*\n", story)]
    return Novel(tuple(curly(part) for part in parts if part)[:paragraphs], entries)


def curly(text: str) -> str:
    """Straight marks as they open and close."""
    text = re.sub(r'(^|[\s(—\[-])"(?=\S)', r"\1“", text).replace('"', "”")
    return re.sub(r"(^|[\s(—“\[-])'(?=[A-Z])", r"\1‘", text).replace("'", "’")


def rows(novel: Novel, only: list[str]) -> Iterator[tuple[str, Novel, str]]:
    for name, (change, lay_out) in EXCHANGES.items():
        if not only or any(part in name for part in only):
            changed = change(novel)
            yield name, changed, (lay_out or laid_out(str))(changed)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("book")
    parser.add_argument("cast")
    parser.add_argument("--mirror", type=Path)
    parser.add_argument("--paragraphs", type=int, default=400)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--show", type=int, default=0)
    args = parser.parse_args()
    novel = load(args.book, args.cast, args.mirror, args.paragraphs)
    plain = laid_out(str)(novel)
    quotes, mentions = read(novel, plain)
    print(f"{args.cast}: {len(quotes)} quotes, {len(mentions)} mentions")
    print(f"{'exchange':30} {'quotes %':>9} {'new':>5} {'mentions %':>11} {'new':>5}")
    for name, changed, text in rows(novel, args.only):
        if text == plain and changed.cast == novel.cast:
            continue
        now = read(changed, text)
        moved = moves(novel, changed)
        parts = [kept(moved, old, new) for old, new in zip((quotes, mentions), now, strict=True)]
        (q, q_new, q_other), (m, m_new, m_other) = parts
        stay = 100 * q / max(1, len(quotes)), 100 * m / max(1, len(mentions))
        print(f"{name:30} {stay[0]:9.1f} {q_new:5} {stay[1]:11.1f} {m_new:5}", flush=True)
        for line in [*q_other[: args.show], *m_other[: args.show]]:
            print("    ", line)


if __name__ == "__main__":
    main()
