"""The greedy string baseline of LongtoNotes (Appendix A.5)."""

from __future__ import annotations

from ...evaluate.mention_types import TypeRules
from .parts import ChainRef, Document, walk


def decide_greedily(document: Document) -> dict[ChainRef, ChainRef | None]:
    """Join a chain to the first earlier one with a mention of the same words as one of its noun phrases.

    Not determined in the paper: here whole mentions are compared, in lower case; the chain with the
    earliest first mention wins; chains of pronouns alone are New. Parts of speech are not read: a mention
    counts unless all its words are pronouns.
    """
    rules = TypeRules(document.tokens, document.sentence_ends)
    first_with: dict[str, ChainRef] = {}
    root_of: dict[ChainRef, ChainRef] = {}
    decisions: dict[ChainRef, ChainRef | None] = {}

    def strings(ref: ChainRef) -> list[str]:
        nouns = [m for m in document.chains[ref] if rules.type_of(m.start, m.end) != "pronoun"]
        return [document.text_of(m).lower() for m in nouns]

    def order(root: ChainRef) -> tuple[int, int]:
        return document.chains[root][0]

    def remember(ref: ChainRef) -> None:
        for text in strings(ref):
            known = first_with.get(text)
            if known is None or order(root_of[ref]) < order(known):
                first_with[text] = root_of[ref]

    for ref in document.of_part(0):
        root_of[ref] = ref
        remember(ref)
    for _, chains in walk(document):
        for ref in chains:
            found = next((first_with[text] for text in strings(ref) if text in first_with), None)
            decisions[ref] = found
            root_of[ref] = found or ref
        for ref in chains:
            remember(ref)
    return decisions
