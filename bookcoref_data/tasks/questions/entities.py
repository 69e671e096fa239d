"""The entities of a document that can be asked about, and the phrase that stands for each.

Names of characters are the phrases where a file has them, then names of clusters (LitBank), else the
fullest common name or noun phrase among the mentions, see `phrases`.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...books import Book, Mention, Record
from ...errors import DataError
from ...formats.layers import mention_types
from ...scoring.mention_types import TypeRules
from ...words import letters_of, long_lists, word_set
from .phrases import PLURAL_CLASSES, PRONOUN_CLASS, SINGULAR_CLASSES, cluster_name, proposals, written_words
from .release import names_together

_LITBANK_TYPE = re.compile(r"(PROP|NOM|PRON)_[A-Z]+")
_OPENING, _CLOSING = frozenset(["“", "``"]), frozenset(["”", "''"])
_HE, _SHE = 2, 3
_MALE = word_set(long_lists()["NAMED_MALE"])
_FEMALE = word_set(long_lists()["NAMED_FEMALE"])
_CATEGORY = {"name": "PROP", "nominal": "NOM", "pronoun": "PRON"}


@dataclass(frozen=True, slots=True, eq=False)
class Askable:
    """A book prepared for questions: every mention once, sorted, with its entity and category.

    `owners[i]` is the entity of mention `i`, an index of `phrases`; a phrase of None means unlabelled.
    `sources` says where the phrases come from. A span in two clusters belongs to the first that lists it.
    `genders` are "male", "female" or "neutral" by entity; `quoted` says of each token if it is in a quote;
    `together` are words with capitals that stand side by side.
    """

    book: Book
    mentions: tuple[Mention, ...]
    owners: tuple[int, ...]
    categories: tuple[str, ...]
    phrases: tuple[str | None, ...]
    source: str
    genders: tuple[str, ...]
    quoted: tuple[bool, ...]
    together: frozenset[tuple[str, str]] = frozenset()

    @property
    def unlabelled_share(self) -> float:
        """Share of the mentions whose entity has no phrase."""
        if not self.mentions:
            return 1.0
        return sum(self.phrases[o] is None for o in self.owners) / len(self.owners)


def make_document(
    record: Record, *, least_mentions: int = 3, untyped: str = "rules",
    phrases: Sequence[str | None] | None = None,
) -> Askable:  # fmt: skip
    """Prepare a record. `phrases` names its groups by hand: characters first, then unnamed clusters.

    `untyped` says how mentions are sorted where the file has no types: "rules" (name, noun phrase, pronoun
    by fixed rules) or "table" (as the public code does for FantasyCoref: a pronoun if it is in its table,
    else a noun phrase, names included).

    Raises BookError: the record is no sound book. DataError: a phrase for no group, or for two.
    """
    book = record.to_book()
    groups, names, source = _groups(record, book)
    owner_of = {mention: n for n in reversed(range(len(groups))) for mention in groups[n]}
    mentions = tuple(sorted(owner_of))
    owners = tuple(owner_of[m] for m in mentions)
    typed = mention_types(record, _LITBANK_TYPE)
    if untyped == "table" and not typed:
        categories = tuple("PRON" if book.text_of(m).lower() in PRONOUN_CLASS else "NOM" for m in mentions)
    else:
        rules = TypeRules(book.tokens, book.sentence_ends, [c.name for c in book.characters])
        kinds = (typed[m].split("_")[0] if m in typed else _CATEGORY[rules.type_of(*m)] for m in mentions)
        categories = tuple(kinds)
    by_entity: list[list[int]] = [[] for _ in groups]
    for i, owner in enumerate(owners):
        by_entity[owner].append(i)
    if phrases is None:
        texts = [book.text_of(m) for m in mentions]
        written = written_words(book.tokens)
        proposed = [
            iter([names[n]]) if n < len(book.characters)
            else proposals(names[n], [texts[i] for i in of], [categories[i] for i in of], written)
            for n, of in enumerate(by_entity)
        ]  # fmt: skip
        phrases = _phrases(by_entity, names, texts, proposed, least_mentions)
    elif len(phrases) > len(groups) or max(Counter(filter(None, phrases)).values(), default=0) > 1:
        expected = f"phrases for some of the groups 0 to {len(groups) - 1}, each another"
        raise DataError(f"{book.doc_key}: the phrases by hand do not fit", expected=expected)
    phrases = [*phrases, *[None] * (len(groups) - len(phrases))]
    said = [[book.text_of(mentions[i]).lower() for i in members] for members in by_entity]
    classes = [Counter(map(PRONOUN_CLASS.get, texts)) for texts in said]
    genders = tuple(gender_of(p, c[_HE], c[_SHE]) for p, c in zip(phrases, classes, strict=False))
    return Askable(
        book, mentions, owners, categories, tuple(phrases), source, genders, tuple(quoted(book.tokens)),
        names_together(book.tokens),
    )  # fmt: skip


def gender_of(phrase: str | None, he: int, she: int) -> str:
    """The gender of an entity: of its pronouns where three of four agree, else of words of its phrase."""
    if max(he, she) >= 3 * max(1, min(he, she)):
        return "male" if he > she else "female"
    words = {word.strip(".,'’").casefold() for word in (phrase or "").split()}
    male, female = bool(words & _MALE), bool(words & _FEMALE)
    return "neutral" if male == female else "male" if male else "female"


def quoted(tokens: Sequence[str]) -> Iterator[bool]:
    """Whether each token lies in a quotation; one that never closes ends at the next opening mark."""
    inside = False
    for token in tokens:
        opens = token in _OPENING or (token == '"' and not inside)
        closes = token in _CLOSING or (token == '"' and inside)
        inside = opens or (inside and not closes)
        yield inside


def _groups(record: Record, book: Book) -> tuple[list[tuple[Mention, ...]], list[str | None], str]:
    """Clusters with the names they bear: characters and what no character covers, else all clusters."""
    if book.characters:
        covered = {m for c in book.characters for m in c.mentions}
        rest = [cluster for cluster in book.clusters if not covered.issuperset(cluster)]
        named = [(c.mentions, c.name) for c in book.characters]
        return [g for g, _ in named] + rest, [n for _, n in named] + [None] * len(rest), "characters"
    ids = record.extra.get("cluster_ids")
    names: list[str | None] = [None] * len(book.clusters)
    if isinstance(ids, list) and len(ids) == len(names):
        names = [cluster_name(i) for i in ids]
    return list(book.clusters), names, "cluster names" if any(names) else "mentions"


def _phrases(
    by_entity: Sequence[Sequence[int]], names: Sequence[str | None], texts: Sequence[str],
    proposed: Sequence[Iterator[str | None]], least_mentions: int,
) -> list[str | None]:  # fmt: skip
    """A distinct phrase for every entity that is large enough and no plural; the largest choose first."""
    chosen: list[str | None] = [None] * len(by_entity)
    taken: set[str] = set()
    order = sorted(range(len(by_entity)), key=lambda n: (names[n] is None, -len(by_entity[n]), n))
    for number in order:
        members = by_entity[number]
        # Nobody asks about those of whom most pronouns are plural.
        classes = [PRONOUN_CLASS.get(texts[i].lower(), -1) for i in members]
        plural = sum(c in PLURAL_CLASSES for c in classes) > sum(c in SINGULAR_CLASSES for c in classes)
        if len(members) < least_mentions or plural:
            continue
        for phrase in proposed[number]:
            if phrase and letters_of(phrase) not in taken:
                taken.add(letters_of(phrase))
                chosen[number] = phrase
                break
    return chosen
