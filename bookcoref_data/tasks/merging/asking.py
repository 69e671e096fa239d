"""An annotation round: one question per chain of a later part, a summary after each part, answers revisable.

Pure: the command line shows what a `Session` says and hands in answers. Nothing is decided here alone; the
linker only orders the options.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ...books import Mention
from .parts import ChainRef, JoinedChains, SplitDocument, merge

EXAMPLES = 4
AROUND = 12
"""Tokens of context on either side of a mention."""


@dataclass(frozen=True, slots=True)
class Option:
    """A document chain that may be joined: its first chain, its size and some of its mentions."""

    root: ChainRef
    size: int
    words: tuple[str, ...]


class Session:
    """The questions of one document and the answers so far (`decisions`)."""

    def __init__(
        self, document: SplitDocument, decisions: dict[ChainRef, ChainRef | None],
        advice: dict[ChainRef, ChainRef | None],
    ) -> None:  # fmt: skip
        self.document, self.decisions, self._advice = document, decisions, advice

    @property
    def next_question(self) -> ChainRef | None:
        """The first chain without a decision; None when all are made."""
        return next((ref for ref in self.document.questions if ref not in self.decisions), None)

    def before(self, ref: ChainRef) -> JoinedChains:
        """The document chains that `ref` may join: those of the parts before its own."""
        return merge(self.document, self.decisions, parts=ref.part)

    def options(self, ref: ChainRef) -> list[Option]:
        """The chains to choose from: the linker's first, then by how many words they share, then recency."""
        merged = self.before(ref)
        mine = set(self._words(self.document.chains[ref]))
        advised = self._advice.get(ref)
        found = []
        for root, refs in merged.chains.items():
            mentions = sorted(merged.mentions_of(root))
            shared = len(mine & set(self._words(mentions)))
            found.append((advised not in refs, -shared, -mentions[-1].start, root, mentions))
        found.sort()  # no two have one root
        return [Option(root, len(ms), self._shown(ms)) for *_, root, ms in found]

    def _words(self, mentions: Sequence[Mention]) -> list[str]:
        return [w.lower() for m in mentions for w in self.document.text_of(m).split() if len(w) > 2]

    def _shown(self, mentions: Sequence[Mention]) -> tuple[str, ...]:
        """Some different mentions of a chain, the longest first."""
        texts = dict.fromkeys(self.document.text_of(m) for m in mentions)
        return tuple(sorted(texts, key=lambda t: -len(t))[:EXAMPLES])

    def contexts(self, ref: ChainRef) -> list[str]:
        """Some mentions of the chain in context, each marked with [ ]."""
        return [self.context(m) for m in self.document.chains[ref][:EXAMPLES]]

    def context(self, mention: Mention) -> str:
        start, end = mention.start, mention.end + 1
        cuts = ((max(0, start - AROUND), start), (start, end), (end, end + AROUND))
        words = (("/" if t == "\n" else t for t in self.document.tokens[a:b]) for a, b in cuts)
        return "... {} [{}] {} ...".format(*map(" ".join, words))

    def summary(self, part: int) -> list[tuple[ChainRef, str, str]]:
        """(chain, its words, what it joins) for every chain of a part."""
        rows = []
        for ref in self.document.of_part(part):
            own = " | ".join(self._shown(self.document.chains[ref]))
            target = self.decisions.get(ref)
            joined = "new"
            if target is not None:
                merged = self.before(ref)
                joined = " | ".join(self._shown(sorted(merged.mentions_of(merged.root_of[target]))))
            rows.append((ref, own, joined))
        return rows
