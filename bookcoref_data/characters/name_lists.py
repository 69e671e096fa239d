"""Split one entry of a cast list into its people: "Mr. and Mrs. Jones", "Guards: Ungolad and Terne".

Only the separators are read here; what a single stretch says of its person is `names.py`'s business.
"""

import re

from ..resources import load_toml, resource
from ..words import word_set
from ..words.honorifics import HONORIFICS, NAME_SUFFIXES

_LISTS = load_toml(resource("manifests", "names.toml"))
ARTICLES, ADJECTIVES, KIN = map(word_set, (_LISTS["articles"], _LISTS["adjectives"], _LISTS["kin"]))
COLLECTIVES, ROLES = map(word_set, (_LISTS["collectives"], _LISTS["roles"]))
NUMBERS, SUFFIXES = word_set(_LISTS["numbers"]), NAME_SUFFIXES | word_set(_LISTS["suffixes"])
HEADINGS, ALIAS_MARKS = tuple(_LISTS["headings"]), tuple(_LISTS["alias_marks"])
_SHIELD = 0xE000  # private use: the i-th bracketed or quoted stretch stands as the character _SHIELD + i
_BRACKETED = re.compile(r'\([^()]*(?:\([^()]*\)[^()]*)*\)|(?<!\w)"[^"]*"')
_AND = re.compile(r",?\s+(?:and|&)\s+")
ALIAS_START = re.compile(rf"(?:,\s*|\s+)(?:{'|'.join(ALIAS_MARKS)})(?=[\s\uE000-\uF8FF])\s*", re.IGNORECASE)


def shield(text: str) -> tuple[str, list[str]]:
    """Replace bracketed and quoted stretches by one character each, so that splitting does not see inside."""
    pieces: list[str] = []

    def keep(match: re.Match[str]) -> str:
        pieces.append(match.group())
        return chr(_SHIELD + len(pieces) - 1)

    return _BRACKETED.sub(keep, text), pieces


def unshield(text: str, pieces: list[str]) -> str:
    return re.sub(r"[\uE000-\uF8FF]", lambda m: pieces[ord(m.group()) - _SHIELD], text)


def split_people(text: str, rules: set[str]) -> list[tuple[str, tuple[str, ...]]]:
    """The stretches of `text` that name one person each, with flags."""
    masked, pieces = shield(text)
    masked = _after_group_heading(masked, rules)
    mark = ALIAS_START.search(masked)
    head, tail = (masked[: mark.start()], masked[mark.start() :]) if mark else (masked, "")
    parts = [part for part in _list_parts(head) if any(c.isalnum() for c in unshield(part, pieces))] or [head]
    if len(parts) > 1:
        rules.add("several-people")
        # "And family", "& Son": company without a name of its own, unless all are of that kind
        named = [part for part in parts if _bare(part) not in KIN]
        if named and len(named) < len(parts) and _bare(parts[0]) not in KIN:
            rules.add("others-dropped")
            parts = named
    # What only the last person of a list states is given to those before: "Mr. and Mrs. Jones".
    donor = re.sub(r"[\uE000-\uF8FF].*", "", parts[-1]).split(",")[0].split()
    shared = [*(_shared(part, donor) for part in parts[:-1]), (parts[-1], ())]
    if any(flags for _, flags in shared):
        rules.add("shared-surname")
    last, flags = shared[-1]
    shared[-1] = (last + tail, flags)
    return [(unshield(part, pieces), flags) for part, flags in shared]


def _after_group_heading(text: str, rules: set[str]) -> str:
    """ "The Detectives: Ear, Eye, Arm" names three; "Husband: The Banker" names the banker.

    Otherwise what follows a colon is a description of the name before it.
    """
    head, _, rest = text.partition(":")
    head, rest = head.strip(), rest.strip()
    if not (any(c.isalnum() for c in head) and any(c.isalnum() for c in rest)):
        return text
    rules.add("colon")
    words = head.lower().split()
    several = words[-1] in COLLECTIVES | ROLES or _AND.search(rest) or rest.count(",") > 1
    is_heading = words[0] == "the" or several
    if is_heading and not rest[0].islower():
        return rest
    return head if rest[0].islower() else f"{head}, {rest}"


def _list_parts(text: str) -> list[str]:
    """Cut "A, B and C" into its people; titles, descriptions and collectives that hold "and" stay whole."""
    segments = comma_segments(text)
    if len(segments) == 1:
        return _and_parts(text)
    first, rest = segments[0], segments[1:]
    if re.match(r"the \w+s of ", first, re.IGNORECASE):
        return [text]
    bare = [*(re.sub(r"^(?:and|&)\s+", "", s) for s in rest[:-1]), rest[-1]]
    described = any(map(_is_description, bare))
    if described or (len(segments) == 2 and not _AND.search(f" {rest[0]}")):
        parts = _and_parts(first)
        return [*parts[:-1], ", ".join([parts[-1], *rest])]
    if len(segments) == 2 and is_collective(first) and not rest[0].startswith("and "):
        return _and_parts(rest[0])
    parts = [part for segment in segments for part in _and_parts(re.sub(r"^(?:and|&)\s+", "", segment))]
    return [part for part in parts if part]


def comma_segments(text: str) -> list[str]:
    """Split at commas, keeping "Jr.", "M.D." and the like with the name before them."""
    segments: list[str] = []
    for segment in re.split(r"\s*,\s*", text):
        word = re.sub(r"[\uE000-\uF8FF. ]", "", segment).lower()
        if segments and (word in SUFFIXES or not word):
            segments[-1] += f", {segment}" if word else f" {segment}"
        elif segment:
            segments.append(segment)
    return segments or [text]


def _is_description(segment: str) -> bool:
    """Whether a segment after a comma describes the name before it ("King of Navarre")."""
    return (
        bool(segment)
        and (
            segment[0].islower()
            or segment.split()[0].lower() in ARTICLES
            or bool(re.search(r" (?:of|to|from) ", segment))
        )
        and not re.match(r"(?:and|&) ", segment)
    )


def _and_parts(text: str) -> list[str]:
    parts = [part for part in _AND.split(text) if part.strip()]
    if len(parts) == 1 or not parts:
        return [text]
    words = text.lower().split()
    if words[0] == "the" and words[-1] in COLLECTIVES and not parts[-1].lower().startswith("the "):
        return [text]
    return parts


def _bare(part: str) -> str:
    return re.sub(r"^(?:his|her|their|the|other)\s+|[\uE000-\uF8FF]", "", part.lower()).strip().rstrip(".")


def _shared(part: str, donor: list[str]) -> tuple[str, tuple[str, ...]]:
    words = part.split()
    kinds = _kinds(words)
    if kinds and len(donor) > 1 and _kinds(donor[:1]) == kinds - {"article"}:
        rest = donor[1:]
        while len(rest) > 1 and _kinds(rest[:1]) == {"title"}:
            rest = rest[1:]
        return " ".join([*words, *rest]), ()
    plain = len(words) == 1 and words[0][0].isupper() and words[0].isalpha() and not _kinds(words)
    gives = len(donor) > 1 and donor[0][0].isupper() and not (_kinds(donor[:1]) or {"of", "the"} & {*donor})
    if plain and gives and donor[0].lower() not in ARTICLES and "'s" not in donor[0]:
        # The last word, the lower-case particles before it ("van der Luyden"), any suffix after it
        at = len(donor) - 1
        while at > 1 and donor[at].lower().rstrip(".") in SUFFIXES:
            at -= 1
        while at > 1 and donor[at - 1].islower():
            at -= 1
        return " ".join([*words, *donor[at:]]), ("shared-surname",)
    return part, ()


def _kinds(words: list[str]) -> set[str]:
    """{"title"}, {"adjective"} (plus "article") when the words are only that; empty otherwise."""
    found = set()
    for word in words:
        folded = word.lower().rstrip(".")
        kind = {True: "title"}.get(folded in HONORIFICS) or {True: "adjective"}.get(folded in ADJECTIVES)
        if folded in ARTICLES and word is words[0] and len(words) > 1:
            kind = "article"
        if kind is None:
            return set()
        found.add(kind)
    return found


def is_collective(text: str) -> bool:
    """Whether a heading stands for several beings: "The Vicario Brothers", "Ares 3 Crew"."""
    words = re.findall(r"[^\W\d_]+", text.lower())
    return bool(words) and words[-1] in COLLECTIVES
