"""What a book says that people with a name are: "Mr. Hill, the surgeon", "Mr. Hill was a surgeon"."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from ...books import Book
from . import lexicon as lex
from .parsing import Parse


def living(noun: str) -> str:
    """A noun as livings are compared: a doctor may be called the surgeon, too."""
    return lex.LIVING.get(noun, noun)


def find_callings(
    book: Book, parse: Parse, names: Iterable[tuple[int, int, int]]
) -> defaultdict[int, set[str]]:
    """Character -> the nouns (as `living` has them) that apposition or "is" ties to their names.

    `names` are (first token, last token, character).
    """
    who = {i: character for start, end, character in names for i in range(start, end + 1)}
    subject = {int(parse.head[i]): who[i] for i in who if parse.dep[i] in ("nsubj", "nsubjpass")}
    found: defaultdict[int, set[str]] = defaultdict(set)
    for i, dep in enumerate(parse.dep):
        if dep not in ("appos", "attr"):
            continue
        up = int(parse.head[i])
        if dep == "appos" and i in who:
            noun, character = up, who[i]
        else:
            noun, character = i, (who if dep == "appos" else subject).get(up, -1)
        if character >= 0 and noun not in who and parse.tag[noun] == "NN":
            found[character].add(living(book.tokens[noun].lower()))
    return found
