"""The phrase that stands for an entity among the options: a name or noun phrase as the text would print it.

Published phrases were written by a model and reviewed by hand, and are not public. Here a phrase is what the
text says: punctuation joined to its word, capitals as in running text, no pronoun, no fragment, and no two
that read alike.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ...resources import load_toml, resource
from ...words import letters_of, long_lists, word_set
from ...words.honorifics import HONORIFICS

_CLASSES: list[str] = load_toml(resource("manifests", "pronouns.toml"))["identifyme"]
PRONOUN_CLASS = {word: number for number, words in enumerate(_CLASSES) for word in words.split()}
"""The pronoun table of the public code; a word that is not in it has class -1."""
PLURAL_CLASSES = (5, 6)
SINGULAR_CLASSES = (0, 2, 3, 4)


LONGEST_PHRASE = 60
_SHARE_OF_COMMONEST = 0.1
"""A fuller name is taken if it occurs at least this often, against the commonest name of the entity."""
_NAMED_CLUSTER = re.compile(r"(.*[^\W\d].*)-\d+")
_TITLE = re.compile(r"\b(mr|mrs|ms|dr|st|messrs)__(?=[^\W_])", re.IGNORECASE)
_CLOSED_UP = (
    (re.compile(r"\s+(?=[,.;:!?)\]])|(?<=[(\[])\s+"), ""),
    (re.compile(r"\s+(?=['’](?:s|ll|re|ve|d|m)?\b|n['’]t\b)", re.IGNORECASE), ""),
    (re.compile(r"\b(\w) ['’] (?=\w)"), r"\1' "),
    (re.compile(r"([“\"]) (.*?) ([”\"])"), r"\1\2\3"),
    (re.compile(r"\s+"), " "),
)
_STAYS = re.compile(r"(?:[IVXL]+|[^AEIOUY]+)[.,]?")
"""Words in capitals that are none of running text: "Louis XIV", "John Good, RN"."""
_EDGES = re.compile(
    r"^(?:[\W_]+|(?:and|at|but|by|for|from|in|of|on|or|to|with)\s+)+|"
    r"(?:\s+(?:and|at|but|by|for|from|in|of|on|or|to|with))+$|(?:\s*[,.;:!?\-–—]|['’]\s*s?)+$",
    re.IGNORECASE,
)
_NOBODY = PRONOUN_CLASS.keys() | word_set(long_lists()["NOBODY"])
"""Words of which a phrase cannot consist alone: it would name nobody."""
_DETERMINER = re.compile(
    r"(?:A|An|Another|Any|Both|Each|Every|Her|His|Its|My|No|One|Our|Some|Such|That|The|Their|These|This|Those|Your)\b"
)
_ABBREVIATED = re.compile(r"(?:\b\w|\b(?:Mr|Mrs|Ms|Dr|St|Jr|Sr|Esq))$")


def cluster_name(cluster_id: object) -> str | None:
    """The name in the id of a LitBank cluster ("Mrs__Hall-12" has "Mrs__Hall"), None where it has none."""
    match = _NAMED_CLUSTER.fullmatch(cluster_id) if isinstance(cluster_id, str) else None
    return match[1] if match else None


def closed_up(text: str) -> str:
    """Tokens joined by spaces, as they are printed: "Mr. Hill , who isn 't" is "Mr. Hill, who isn't"."""
    for pattern, by in _CLOSED_UP:
        text = pattern.sub(by, text)
    return text.strip()


def readable(name: str) -> str:
    """The name of a LitBank cluster as a phrase: "Mrs__Hall" is "Mrs. Hall", "Tom_s_aunt" is "Tom's aunt".

    Each underscore stands for a space or a mark that file names do not allow.
    """
    text = _TITLE.sub(lambda m: f"{m[1]}. ", name)
    text = re.sub(r"(?<=\w)_s_", "'s ", text)
    return re.sub(r"_+", " ", text).strip()


def running_case(text: str, written: Mapping[str, str]) -> str:
    """A phrase in capitals as running text has it; `written` are the book's words by their lower case."""
    words = text.split()
    if not any(len(letters_of(w)) > 1 and w.isupper() for w in words):
        return text
    shown = []
    for word in words:
        known = written.get(word.casefold())
        capitals = word.isupper() and len(word) > 1 and (
            not _STAYS.fullmatch(word) or letters_of(word) in HONORIFICS
        )  # fmt: skip
        shown.append(known or (word.capitalize() if capitals else word))
    return " ".join(shown)


def written_words(tokens: Sequence[str]) -> dict[str, str]:
    """The commonest way in which the book writes each word that is not in capitals, by its lower case."""
    found: dict[str, Counter[str]] = {}
    for token, count in Counter(tokens).items():
        if len(token) > 1 and not token.isupper() and token[0].isalpha():
            found.setdefault(token.casefold(), Counter())[token] += count
    return {word: max(sorted(ways), key=ways.__getitem__) for word, ways in found.items()}


def trimmed(text: str) -> str | None:
    """A phrase without marks and prepositions at its edges; None if it is a pronoun or nothing is left."""
    before = None
    while before != text:
        before, text = text, _EDGES.sub("", text).strip()
        if before.endswith(".") and _ABBREVIATED.search(text):
            text += "."  # the full stop belongs to the word: "Tom Hill Jr."
            break
    sound = any(map(str.isalnum, text)) and not set(text.casefold().split()) <= _NOBODY
    return text if sound and len(text) <= LONGEST_PHRASE else None


def proposals(
    name: str | None, texts: Sequence[str], categories: Sequence[str], written: Mapping[str, str]
) -> Iterator[str]:
    """Phrases for an entity, best first: what its name says, its names, then its commonest noun phrases.

    `texts` and `categories` ("PROP", "NOM", "PRON") are those of its mentions, `name` is its cluster's. For
    two people of one name the last have a noun phrase behind it: "Mr. Hill (the father)".
    """
    if name is not None:
        key = letters_of(name)
        said = [(t, c) for t, c in zip(texts, categories, strict=True) if letters_of(t) == key]
        text, kind = said[0] if said else (readable(name), "PROP")
        yield from _sound([text], kind, written)
    found = []
    for kind in ("PROP", "NOM"):
        counts = Counter(t for t, c in zip(texts, categories, strict=True) if c == kind)
        ordered = sorted(counts, key=lambda t: (-counts[t], -len(t), t))
        if kind == "PROP" and ordered:
            # The fullest of the names that are not rare comes first.
            least = max(2, _SHARE_OF_COMMONEST * counts[ordered[0]])
            full = [t for t in ordered if counts[t] >= least]
            ordered = sorted(full, key=lambda t: -len(t.split())) + [t for t in ordered if t not in full]
        found.append(list(_sound(ordered, kind, written)))
    names, nouns = found
    yield from names
    yield from nouns
    yield from (f"{one} ({noun})" for one in names[:1] for noun in nouns if noun.startswith("the "))


def _sound(texts: Sequence[str], kind: str, written: Mapping[str, str]) -> Iterator[str]:
    for text in texts:
        phrase = trimmed(running_case(closed_up(text), written))
        if phrase and kind != "PROP" and _DETERMINER.match(phrase):
            phrase = phrase[0].lower() + phrase[1:]  # it stood at the beginning of a sentence
        if phrase:
            yield phrase
