"""Read one entry of a cast list: which people it names, and by which other names they go.

Study guides and Wikidata write "Benjamin (a donkey)", "Mr. and Mrs. Jones (humans)" or
"Ántonia (ANN-toe-knee-uh) ("Tony") Shimerda". `read_name` takes such an entry apart: glosses and
pronunciations go, nicknames and second names become aliases, two people become two, headings are
rejected. Every step that did something is named in `NameReading.rules`, so that a run over a whole list
can be counted and looked at. The rules were made on the 9,499 names LiSCU publishes.
"""

import re
import unicodedata
from dataclasses import dataclass, replace

from ..words import fold
from ..words.honorifics import HONORIFICS
from .name_lists import (
    ALIAS_MARKS,
    ALIAS_START,
    ARTICLES,
    COLLECTIVES,
    HEADINGS,
    NUMBERS,
    comma_segments,
    is_collective,
    shield,
    split_people,
    unshield,
)


@dataclass(frozen=True, slots=True)
class ListedPerson:
    """One person (or one group) of a cast list: a clean name, other names, and remarks for a reviewer.

    `flags`: "group" (several beings under one name), "author" (bears the author's name),
    "shared-surname" (the surname was taken from a neighbour: "Hawthorne and Caroline Abendsen").
    """

    name: str
    aliases: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NameReading:
    """What an entry says. `people` is empty exactly when `rejected` gives a reason; `rules` are sorted."""

    raw: str
    people: tuple[ListedPerson, ...]
    rejected: str = ""
    rules: tuple[str, ...] = ()


def read_name(raw: str, *, author: str = "") -> NameReading:
    """Take one entry of a cast list apart.

    Reading a clean name again returns it unchanged, and an entry is never read as nothing: it names
    someone, or it is rejected with a reason ("no letter", "heading").
    """
    rules: set[str] = set()
    text = _tidy(raw, rules)
    rejected = _reject(text)
    if rejected:
        return NameReading(raw, (), rejected, ("reject",))
    people: dict[str, ListedPerson] = {}
    for person in _settled(text, author, rules):
        people.setdefault(person.name, person)
    if not people:
        return NameReading(raw, (), "no letter", ("reject",))
    return NameReading(raw, tuple(people.values()), "", tuple(sorted(rules)))


_MOST_ROUNDS = 12


def _settled(text: str, author: str, rules: set[str], rounds: int = _MOST_ROUNDS) -> list[ListedPerson]:
    """The people of a tidy entry, their names read again until reading changes nothing.

    What one reading cuts off may uncover a couple, a gloss or a heading that another has to take apart.
    """
    people: list[ListedPerson] = []
    for part, flags in split_people(text, rules):
        person = _read_person(part, flags, author, rules)
        name = _tidy(person.name, set())
        if name == text or not rounds:
            people.append(replace(person, name=name))
        elif not _reject(name) and (again := _settled(name, author, rules, rounds - 1)):
            first = again[0]
            aliases = dict.fromkeys((*person.aliases, *first.aliases))
            aliases.pop(first.name, None)
            flags = tuple(dict.fromkeys((*person.flags, *first.flags)))
            people += [replace(first, aliases=tuple(aliases), flags=flags), *again[1:]]
    return people


# --- the entry as a whole -------------------------------------------------------------------------------

_QUOTES = str.maketrans("“”„‟«»‘’‚‛`´", "\"\"\"\"\"\"''''''")
_LEADING = " ,;:*%-–—•·.)"
_TRAILING = " ,;:*%-–•·(†‡"


def _tidy(raw: str, rules: set[str]) -> str:
    """White space, composed accents, straight quotes, no stray punctuation at either end."""
    text = "".join(
        c for c in unicodedata.normalize("NFC", raw) if unicodedata.category(c) not in {"Cf", "Co", "Cs"}
    )
    text = " ".join(text.split())
    straight = text.translate(_QUOTES)
    if straight != text:
        rules.add("quotes-straightened")
    stripped = _strip_edges(straight)
    if stripped != straight:
        rules.add("edge-punctuation")
    return stripped


def _strip_edges(text: str) -> str:
    """Cut separators and footnote marks; an em dash at the end stays ("Monsieur G—")."""
    before = None
    while before != text:
        before = text
        text = text.lstrip(_LEADING).rstrip(_TRAILING).strip()
        if text.count("(") < text.count(")") and text.endswith(")"):
            text = text[:-1]
        if text.count('"') == 1:
            text = text.strip('"')
    return text


def _reject(text: str) -> str:
    """Why an entry names nobody, or ""."""
    if not any(c.isalpha() for c in text):
        return "no letter"
    folded = text.lower()
    return "heading" if any(re.fullmatch(pattern, folded) for pattern in HEADINGS) else ""


# --- one person -----------------------------------------------------------------------------------------


class _Names:
    """The name being read and the other names found on the way."""

    def __init__(self, rules: set[str]) -> None:
        self.aliases: list[str] = []
        self.rules = rules

    def add(self, rule: str, *aliases: str) -> None:
        self.rules.add(rule)
        for alias in aliases:
            alias = _strip_edges(" ".join(_BRACKETS.sub(" ", alias).replace('"', "").split()))
            if any(c.isalpha() for c in alias) and alias not in self.aliases:
                self.aliases.append(alias)


def _read_person(text: str, flags: tuple[str, ...], author: str, rules: set[str]) -> ListedPerson:
    names = _Names(rules)
    for step in (
        _unwrap, _take_marked_aliases, _take_brackets, _take_dash, _take_quotes, _take_comma, _take_slash,
    ):  # fmt: skip
        left = _strip_edges(" ".join(step(text, names).split()))
        text = left if any(c.isalnum() for c in left) else text
    text = re.sub(r"(?<=\w)\[(\w+)\](?=\w)", r"\1", text)
    aliases = tuple(alias for alias in names.aliases if alias != text)
    # A group is a collective, or "The" or a number with a plural.
    words = re.findall(r"[\w'-]+", text.lower().split(" of ")[0])
    plural = (
        words and words[-1].endswith("s") and not words[-1].endswith(("ss", "us", "is", "'s", "as", "os"))
    )
    several = plural and len(words) > 1 and (words[0] == "the" or bool(NUMBERS & set(words)))
    if several or (words and words[-1] in COLLECTIVES):
        flags += ("group",)
    if author and same_person(text, author):
        flags += ("author",)
        rules.add("author")
    return ListedPerson(text, aliases, flags)


def _unwrap(text: str, names: _Names) -> str:
    """A name wholly in brackets or quotes, or one that begins with "later", is the name itself."""
    for pattern in (r"\(([^()]*)\)", r'"([^"]*)"', rf"(?:{'|'.join(ALIAS_MARKS)})\s+([^a-z].*)"):
        match = re.fullmatch(pattern, text)
        if match and any(c.isalpha() for c in match.group(1)):
            names.add("unwrapped")
            text = match.group(1)
    return text


_NEE = re.compile(r"(?:née|nee|né|born)\s+(\S.*)", re.IGNORECASE)
_MARKED = re.compile(rf"(?:(?i:{'|'.join(ALIAS_MARKS)})|(?:also|or)(?= [^a-z])|(?=the [^\Wa-z]))\s*(.+)")
_SAID = re.compile(r"(?:[A-Z]{2,}(?:-[a-z]+)+|[a-z]+(?:-[a-z]+)*-[A-Z]{2,}(?:-[a-z]+)*)\b")
_BRACKETS = re.compile(r"\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)\s*")


def _take_brackets(text: str, names: _Names) -> str:
    """Remove "(...)": another name, part of the name in full, a gloss or a pronunciation."""
    if optional := re.search(r"(?<=\w)\((\w+)\)", text):
        names.add("optional-letters", text[: optional.start()] + text[optional.end() :])
        text = text[: optional.start()] + optional.group(1) + text[optional.end() :]
    while (match := _BRACKETS.search(text)) and (text[: match.start()] or text[match.end() :]).strip():
        before, inside, after = text[: match.start()], match.group(1).strip(), text[match.end() :]
        if inside.lower().rstrip(".") in {"jr", "sr"}:
            names.add("suffix")
            text = f"{before} {inside} {after}"
            continue
        # Sort what stood in brackets.
        beyond = _BRACKETS.sub(" ", after).strip()
        if match := _NEE.fullmatch(inside):
            names.add("maiden-name", " ".join([*before.split()[:-1], match.group(1)]))
        elif match := _MARKED.fullmatch(inside):
            names.add("alias-in-brackets", *_alias_list(match.group(1)))
        elif _SAID.search(inside):
            names.add("pronunciation")
        elif '"' in inside or re.fullmatch(r"'.*'", inside):
            _add_nicknames(_alias_list(inside), before, beyond, names, "nickname-in-brackets")
        elif _is_gloss(inside):
            names.add("gloss-in-brackets")
        elif is_collective(before) and len(_alias_list(inside)) > 2:
            names.add("members-in-brackets")
        else:
            _add_nicknames(_alias_list(inside), before, beyond, names, "alias-in-brackets")
        glue = "" if after.startswith((",", ".", "'")) else " "
        text = f"{before}{glue}{after}"
    return text


def _is_gloss(inside: str) -> bool:
    """Whether brackets hold no name: lower case, an article, dates and numbers, "Mia's Parents", "& Son"."""
    return bool(
        inside[:1].islower()
        or not re.search(r"[^\W\d_]", inside)
        or inside.lower().split()[0] in {"a", "an"}
        or re.fullmatch(r"[IVXLC, ]+", inside)
        or "'s " in inside
        or re.match(r"&|and ", inside)
    )


def _add_nicknames(found: list[str], before: str, after: str, names: _Names, rule: str) -> None:
    """Add names as they stand and, in the middle of a name, with the surname: "Alastor (Mad-Eye) Moody"."""
    rest = re.sub(r"^[,\s].*", "", after) and after.split(",")[0]
    for name in found:
        with_surname = rest and before and " " not in name and name not in rest.split()
        names.add(rule, name, *([f"{name} {rest}"] if with_surname else []))


def _alias_list(text: str) -> list[str]:
    """The names in "“Rodya,” “Rodka”", "the Boss, a.k.a. X", "Malcolm Little, Detroit Red, and El Hajj"."""
    text = text.replace(',"', '",')
    text = re.sub(r"\b(?:his|her|their) other (?:aliases|names) are\b", "", text)
    text = re.sub(rf"(?:^|[,;\s])\s*(?:{'|'.join(ALIAS_MARKS)})(?=[\s\"])", ";", text, flags=re.IGNORECASE)
    segments = [s for piece in re.split(r"\s*[;/]\s*", text) for s in comma_segments(piece)]
    found = [
        part for s in segments for part in re.split(r"^(?:and|or)\s+|\s+(?:and|or)\s+", s) if part.strip()
    ]
    quoted = any('"' in part for part in found)
    return [part for part in found if not quoted or '"' in part or not part[0].islower()]


def _take_marked_aliases(text: str, names: _Names) -> str:
    """Cut "a.k.a. Y", ", alias Y", ", née Y" and ", or Y" off the name."""
    masked, pieces = shield(text)
    if match := ALIAS_START.search(masked):
        names.add("alias-marked", *_alias_list(unshield(masked[match.end() :], pieces)))
        return unshield(masked[: match.start()], pieces)
    if match := re.search(r",\s*(?:née|nee)\s+(\S.*)", text):
        names.add("maiden-name", " ".join([*text[: match.start()].split()[:-1], match.group(1)]))
        return text[: match.start()]
    if match := re.search(r",?\s+or\s+(?=\S)", masked):
        names.add("alias-or", unshield(masked[match.end() :], pieces))
        return unshield(masked[: match.start()], pieces)
    return text


def _take_dash(text: str, names: _Names) -> str:
    """Cut a description after a dash; a dash that ends the name stays."""
    match = re.search(r"(?<=\w{2})\s*—\s*(?=\w)|\s+[-–—]+\s+(?=\S)", text)
    if not match or match.start() == 0:
        return text
    names.add("dash-description")
    return text[: match.start()]


_NICK = re.compile(r"\"([^\"]+)\"|(?:(?<=\s)|^)'([A-Z][^']*)'(?=\s|,|$)")


def _take_quotes(text: str, names: _Names) -> str:
    """Take nicknames out of quotes; quotes that hold the name's own words are only removed."""
    while match := _NICK.search(text):
        nick = (match.group(1) or match.group(2)).strip(" ,.")
        before, after = text[: match.start()].strip(), text[match.end() :].strip()
        own_words = not before or before.lower() in ARTICLES or before.endswith((" of", " in", " from"))
        if own_words or not any(c.isalpha() for c in nick):
            names.add("unquoted")
            text = f"{before} {nick} {after}"
        else:
            _add_nicknames(_split_slash(nick), before, after, names, "nickname-in-quotes")
            text = f"{before.rstrip(',')} {after}".replace(" ,", ",")
    return text.replace('"', "")


def _take_comma(text: str, names: _Names) -> str:
    """Cut what follows a comma: a title or second name becomes an alias, a description goes."""
    if re.match(r"the \w+s of ", text, re.IGNORECASE):
        return text
    first, *rest = comma_segments(text)
    for segment in rest:
        words = segment.split()
        gloss = (words[0][0].islower() and words[0] != "the") or words[0].lower() in {"a", "an"}
        gloss = gloss or bool(re.search(r" (?:to|in|at|from) |'s ", segment))
        names.add("comma-description" if gloss else "comma-alias", *([] if gloss else [segment]))
    return first


def _take_slash(text: str, names: _Names) -> str:
    """ "Viola/Cesario" is Viola, also called Cesario."""
    first, *rest = _split_slash(text)
    if rest:
        names.add("slash-alias", *rest)
    return first


def _split_slash(text: str) -> list[str]:
    parts = [part.strip() for part in text.split("/")]
    return [part for part in parts if any(c.isalpha() for c in part)] or [text]


# --- judgements on names --------------------------------------------------------------------------------


def same_person(name: str, author: str) -> bool:
    """Whether a character bears the author's name: the same words in any order, titles aside."""
    words, others = ({w for w in fold(text).split() if w not in HONORIFICS} for text in (name, author))
    return len(words) > 1 and words <= others
