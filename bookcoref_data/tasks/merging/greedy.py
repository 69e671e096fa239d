"""The greedy string baseline of LongtoNotes (Appendix A.5)."""

from __future__ import annotations

from ...books import Mention
from ...formats.layers import flat
from ...scoring.mention_types import TypeRules
from .parts import ChainRef, SplitDocument, walk


def decide_greedily(document: SplitDocument) -> dict[ChainRef, ChainRef | None]:
    """Join a chain to the first earlier one with a mention of the same words as one of its noun phrases.

    Not determined in the paper: here whole mentions are compared, in lower case; the chain with the
    earliest first mention wins; chains of pronouns alone are New. A mention counts if one of its words is
    tagged as a noun (NN..., NP...); in documents without tags, unless all its words are pronouns.
    """
    tags = flat(document.layers.get("xpos"))
    rules = TypeRules(document.tokens, document.sentence_ends)
    first_with: dict[str, ChainRef] = {}
    root_of: dict[ChainRef, ChainRef] = {}
    decisions: dict[ChainRef, ChainRef | None] = {}

    def strings(ref: ChainRef) -> list[str]:
        return [document.text_of(m).lower() for m in document.chains[ref] if has_noun(m)]

    def has_noun(mention: Mention) -> bool:
        if tags:
            return any(tag.startswith(("NN", "NP")) for tag in tags[mention.start : mention.end + 1])
        return rules.type_of(mention.start, mention.end) != "pronoun"

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
