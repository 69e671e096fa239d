"""The embedded annotator on short fiction: the genre fiction of OntoGUM, documents of about 900 tokens.

    python -m benchmarks.bench_gum KEY.conll

KEY holds whole documents with every mention (`key-all.conll.gz`). People are chains with "he", "she", "I" or
"you", or with a first name or a title; what is scored are two casts:

    named    people with two mentions or more of which one is a name, listed by their longest frequent name
    main     people with five mentions or more, also those without a name, by their longest frequent phrase

Scores are pooled MUC, B3, CEAF-e and their mean over the documents; spans must match exactly. The genitive
"'s", which GUM counts to a name before its noun, is left out, as in LitBank and BookCoref.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from bookcoref_data.annotation.backends import make_backend
from bookcoref_data.annotation.cast import make_cast
from bookcoref_data.annotation.embedded import lexicon as lex
from bookcoref_data.annotation.plan import default_plan
from bookcoref_data.annotation.steps import Job, run_steps
from bookcoref_data.books import Book, Mention
from bookcoref_data.formats.conll import read
from bookcoref_data.scoring import ClusterScores, score_documents
from bookcoref_data.words import pronouns
from training.litbank import cluster_name

GENRE, LEAST_MAIN = "fiction/", 5
_PEOPLE = pronouns.MALE | pronouns.FEMALE | pronouns.FIRST | pronouns.SECOND
_GENITIVE = frozenset(["'s", "’s", "'", "’"])
_SMALL = frozenset(["the", "of", "'s", "’s", "and", "'", "’"])
Words = Sequence[str]


def is_person(phrases: Sequence[Words]) -> bool:
    """Whether a chain is a person's."""
    words = {word.lower().rstrip(".") for phrase in phrases for word in phrase}
    alone = {phrase[0].lower() for phrase in phrases if len(phrase) == 1}
    return bool(alone & _PEOPLE or words & (lex.FIRST_NAMES | lex.TITLES))


def is_name(phrase: Words) -> bool:
    """Whether a mention is a name: all its words but small ones have a capital."""
    if phrase[0].lower() in pronouns.ALL_PRONOUNS and len(phrase) == 1:
        return False
    return phrase[0].lower() != "the" and all(w[:1].isupper() or w.lower() in _SMALL for w in phrase)


def without_genitive(book: Book, chain: Sequence[Mention]) -> list[Mention]:
    """The mentions of a chain without a genitive "'s" at their end."""
    return [Mention(a, b - (b > a and book.tokens[b] in _GENITIVE)) for a, b in chain]


def score(documents: Sequence[Book], main: bool) -> tuple[int, ClusterScores]:
    """Number of people, and the pooled scores of the documents that have one."""
    plan = default_plan("embedded")
    backend = make_backend(plan)
    pairs, people = [], 0
    for book in documents:
        listed: dict[str, list[tuple[int, int]]] = {}
        for chain in (without_genitive(book, chain) for chain in book.clusters):
            phrases = [book.tokens[m.start : m.end + 1] for m in chain]
            said = [p for p in phrases if not (len(p) == 1 and p[0].lower() in _PEOPLE)]
            names = [p for p in said if is_name(p)] or (said if main else [])
            if is_person(phrases) and names and len(chain) >= (LEAST_MAIN if main else 2):
                listed.setdefault(cluster_name([list(p) for p in names]), []).extend(map(tuple, chain))
        if listed:
            people += len(listed)
            bare = Book.make(book.doc_key, book.sentences)
            state = run_steps(backend, Job(bare, make_cast(listed)), plan.steps)
            found = [[tuple(m) for m in spans] for spans in state.spans() if spans]
            pairs.append(([sorted(spans) for spans in listed.values()], found))
    return people, score_documents(pairs)


def main() -> None:
    """Score both casts, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("key", type=Path)
    records = read(parser.parse_args().key)
    documents = [r.to_book() for r in records if r.doc_key.startswith(GENRE)]
    for main_people in (False, True):
        people, s = score(documents, main_people)
        print(
            f"{'main' if main_people else 'named'}: {people} people in {len(documents)} documents, "
            f"CoNLL {100 * s.conll.f1:.1f} (MUC {100 * s.muc.f1:.1f}, B3 {100 * s.b_cubed.f1:.1f}, "
            f"CEAF-e {100 * s.ceaf_e.f1:.1f})"
        )


if __name__ == "__main__":
    main()
