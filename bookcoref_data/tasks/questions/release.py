"""A release of questions: every one is checked by rules, and they are drawn evenly from books and bands.

A phrase is malformed or a pronoun; two options may name one person; the words of the mention alone give the
answer: such a question is not asked. What was refused is counted by reason.
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise, zip_longest
from typing import Any

from ...shapes import together
from ...words import letters_of, word_set
from ...words.honorifics import HONORIFICS, MARRIED, NAME_SUFFIXES, UNMARRIED, honorific_gender
from ...words.kin import KIN
from .phrases import PRONOUN_CLASS, trimmed

MOST_ALIKE = 5
"""Questions about nominals of a book with the same words: silver errs on all of "the Squire" alike."""
FAR = 500
"""Tokens from the last name of somebody: beyond it eight of nine nominals of silver were somebody else's."""
Pairs = frozenset[tuple[str, str]]
Row = Mapping[str, Any]
_MALFORMED = re.compile(r"\s[,.;:!?”]|[“(]\s|\" .* \"|^\W|,\s*$|\s\s|_|\b(?:Mr|Mrs|Dr|St),")
_TITLES = HONORIFICS | NAME_SUFFIXES
_WOMEN = (MARRIED, UNMARRIED)
_RELATIVES = KIN | word_set("bride bridegroom widow widower")
_SMALL = word_set("a an and her his its my of one our that the their this your")


@lru_cache(maxsize=100_000)
def words_of(text: str) -> frozenset[str]:
    """The words of a text that can name somebody, in lower case, without possessive endings."""
    words = (re.sub(r"['’]s?$", "", word) for word in text.casefold().split())
    return frozenset(letters_of(word) for word in words) - {"", "s"} - _SMALL - PRONOUN_CLASS.keys()


def names_together(tokens: Sequence[str]) -> frozenset[tuple[str, str]]:
    """Pairs of words with capitals that stand side by side in a book: ("jane", "eyre")."""
    pairs = ((a, b) for a, b in pairwise(tokens) if a[:1].isupper() and b[:1].isupper())
    return frozenset((a.casefold(), b.casefold()) for a, b in pairs)


def may_be_one(one: str, other: str, genders: Mapping[str, str], together: Pairs = frozenset()) -> bool:
    """Whether two phrases may name one person: all names of one are in the other, or the book says their
    names side by side, and nothing speaks against it.

    "Darcy" may be "Fitzwilliam Darcy", and "Jane" be "Miss Eyre"; "Mr. Darcy" is not "Georgiana Darcy", and
    "Miss Bates" not "Mrs. Bates".
    """
    words, others = words_of(one), words_of(other)
    names, more = sorted((words - _TITLES, others - _TITLES), key=len)
    known = {genders.get(one, "")[:1], genders.get(other, "")[:1], *map(honorific_gender, words | others)}
    if {"m", "f"} <= known or any(words & a and others & b for a, b in (_WOMEN, _WOMEN[::-1])):
        return False
    beside = any((a, b) in together or (b, a) in together for a in names for b in more if len(names) == 1)
    return beside or (names <= more and bool(names or words & others))


def sound(phrase: str) -> bool:
    """Whether a phrase is printed as in running text, and no pronoun."""
    formed = not _MALFORMED.search(phrase) and trimmed(phrase) == phrase
    return formed and phrase.casefold() not in PRONOUN_CLASS


def distinct(phrases: Iterable[str], genders: Mapping[str, str], together: Pairs) -> Iterator[str]:
    """The first phrase and all sound ones that cannot name a person whom one before them names."""
    kept: list[str] = []
    for phrase in phrases:
        if not kept or (sound(phrase) and not any(may_be_one(phrase, p, genders, together) for p in kept)):
            kept.append(phrase)
            yield phrase


def said_by_the_words(mention: str, options: Sequence[str]) -> str | None:
    """The one option that shares most words with the mention; None where no word or several decide."""
    shared = Counter({option: len(words_of(mention) & words_of(option)) for option in options})
    best = [option for option in options if shared[option] == max(shared.values())]
    return best[0] if len(best) == 1 and shared[best[0]] else None


def fault_of(question: Row, together: Pairs = frozenset(), *, silver: bool = True) -> str | None:
    """Why a question is not fit for a release, None if it is."""
    phrases = list(question["options"][:-1])
    if not all(map(sound, phrases)):
        return "a malformed option, or a pronoun"
    genders = dict(zip(phrases, question["genders"], strict=False))
    if len(list(distinct(phrases, genders, together))) < len(phrases):
        return "two options that may be one person"
    # "her father", "the bride": two people decide who that is, and silver erred on nine of eighteen such
    if silver and not _RELATIVES.isdisjoint(question["mention"].casefold().split()):
        return "a word for a relative"
    if silver and words_of(question["mention"]) == {"dear"} and "my" not in question["mention"].lower():
        return "an exclamation"
    if silver and question["category"] == "NOM" and question["evidence_distance"] > FAR:
        return "a nominal far from any name"
    names = words_of(question["mention"]) - _TITLES  # "the lady of Thomas Palmer"
    others = any(names & words_of(option) for option in phrases)
    if silver and others and not names & words_of(question["entity"]):
        return "the words of the mention name somebody else"
    if said_by_the_words(question["mention"], phrases) == question["answer"]:
        return "the words of the mention give the answer"
    return None


def drawn(
    cells: Sequence[Sequence[Any]], number: int, apart: int, rng: random.Random,
    ask: Callable[[int, Any], Any | None],
) -> list[list[Any]]:  # fmt: skip
    """So many questions, evenly from the cells and in each evenly from its books.

    `cells` hold candidates; `ask(cell, candidate)` gives its question, None if that is unfit.
    Mentions of a book are `apart` tokens from each other, and few nominals of it are said in the same words.
    Where a cell has too few, the others have more.
    """
    taken: dict[str, list[int]] = {}
    alike: Counter[tuple[str, str]] = Counter()
    found: list[list[Any]] = [[] for _ in cells]
    queues = [_in_turn(cell, rng) for cell in cells]
    open_ = set(range(len(cells)))
    while open_ and sum(map(len, found)) < number:
        cell = min(open_, key=lambda i: (len(found[i]), i))
        candidate = next(queues[cell], None)
        if candidate is None:
            open_.remove(cell)
            continue
        book, said = candidate.document.book.doc_key, candidate.scores
        places, words = taken.setdefault(book, []), (book, said.text.casefold())
        often = said.category == "NOM" and alike[words] >= MOST_ALIKE
        if not often and all(abs(said.mention.start - place) >= apart for place in places):
            question = ask(cell, candidate)
            if question is not None:
                alike[words] += 1
                places.append(said.mention.start)
                found[cell].append(question)
    return found


def _in_turn(candidates: Sequence[Any], rng: random.Random) -> Iterator[Any]:
    """The candidates in random order, one of each book in turn."""
    drawn = rng.sample(list(candidates), len(candidates))
    for row in zip_longest(*together((c.document.book.doc_key, c) for c in drawn).values()):
        yield from (candidate for candidate in row if candidate is not None)
