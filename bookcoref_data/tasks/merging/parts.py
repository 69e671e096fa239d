"""Documents in parts, decisions about their chains, and the documents that decisions make (LongtoNotes).

A chain of a part is named by the number of its part and its id there. In every part after the first, each
chain is one decision: the earlier chain it joins, or New.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from ...books import Mention, Record
from ...books.book import text_of
from ...errors import DataError
from ...formats.layers import Layer, flat
from ...scoring.mention_types import TypeRules


def genre_of(doc_key: str) -> str:
    """The first part of a key with slashes ("bc/cnn/00/cnn_0001" is "bc"), else ""."""
    return doc_key.split("/")[0] if "/" in doc_key else ""


class ChainRef(NamedTuple):
    """A chain of one part: the part's position in its document, from 0, and the id of the chain there."""

    part: int
    chain: str


Decisions = Mapping[ChainRef, ChainRef | None]
"""For each chain of the parts after the first: a chain of an earlier part that it joins, or None for New."""


@dataclass(frozen=True, eq=False)
class SplitDocument:
    """The parts of one document laid end to end (`laying`). All offsets are tokens of the whole document.

    `chains` holds every chain of every part, in the order in which decisions are made: by part, then by
    first token of the first mention, longer mentions first, then id. `numbers` are the parts' own numbers,
    `part_starts` their first tokens. `layers` are annotations of tokens by name, "speakers" among them.
    Of windows that overlap, `shared` names for a chain the earlier one with which it shares mentions.
    `names` are the characters of a cast whose chains are known; chains of one character are one. `named` are
    mentions that are a name of the cast: in the long document they are that character's, whichever chain has
    them, if any. `windows`: the parts are windows of a book, and not an annotator's. `left_out` counts what
    the records of the parts say, by field, that has no place in the long document.
    """

    doc_key: str
    numbers: tuple[str, ...]
    part_starts: tuple[int, ...]
    sentences: tuple[tuple[str, ...], ...]
    chains: Mapping[ChainRef, tuple[Mention, ...]]
    layers: Mapping[str, Layer] = field(default_factory=dict)
    shared: Mapping[ChainRef, ChainRef] = field(default_factory=dict)
    names: Mapping[ChainRef, str] = field(default_factory=dict)
    named: Mapping[Mention, str] = field(default_factory=dict)
    gutenberg_key: str = ""
    overlaps: bool = False
    windows: bool = False
    left_out: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        return tuple(token for sentence in self.sentences for token in sentence)

    @cached_property
    def sentence_ends(self) -> tuple[int, ...]:
        return tuple(accumulate(len(sentence) for sentence in self.sentences))

    @property
    def genre(self) -> str:
        return genre_of(self.doc_key)

    @cached_property
    def questions(self) -> tuple[ChainRef, ...]:
        """The chains that need a decision, in order."""
        return tuple(ref for ref in self.chains if ref.part > 0)

    def of_part(self, part: int) -> list[ChainRef]:
        return [ref for ref in self.chains if ref.part == part]

    def text_of(self, mention: Mention) -> str:
        """The words of a mention joined by one space."""
        return text_of(self.tokens, *mention)


@dataclass(slots=True)
class JoinedChains:
    """A document after some decisions. `chains` maps the first chain of each document chain to all of them,
    `root_of` each chain to that first one.

    `warnings` names chains of one part that were joined with each other.
    """

    document: SplitDocument
    chains: dict[ChainRef, list[ChainRef]] = field(default_factory=dict)
    root_of: dict[ChainRef, ChainRef] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def mentions_of(self, root: ChainRef) -> frozenset[Mention]:
        return frozenset(m for ref in self.chains[root] for m in self.document.chains[ref])

    def to_record(self) -> Record:
        """The long document: clusters in order of first mention, ids as written in CoNLL."""
        document = self.document
        owned: dict[str | ChainRef, set[Mention]] = {}
        claimed = {*document.named}
        for root, refs in self.chains.items():
            own = self.mentions_of(root) - claimed
            if document.overlaps:
                claimed |= own
            name = next((document.names[ref] for ref in refs if ref in document.names), "")
            owned.setdefault(name or root, set()).update(own)
        for mention, name in document.named.items():
            owned.setdefault(name, set()).add(mention)
        found = sorted((sorted(ms), who if isinstance(who, str) else "") for who, ms in owned.items() if ms)
        layers = dict(document.layers)
        return Record(
            document.doc_key, document.gutenberg_key, [list(s) for s in document.sentences],
            [mentions for mentions, _ in found], [(name, mentions) for mentions, name in found if name],
            source=document.doc_key, speakers=layers.pop("speakers", None), layers=layers,
        )  # fmt: skip


def merge(document: SplitDocument, decisions: Decisions, *, parts: int | None = None) -> JoinedChains:
    """Join the chains of a document; chains without a decision are New. Chains of one character are one.

    `parts` stops before that part: the chains that its decisions may choose from.

    Raises DataError: a decision names a chain that is not there, or not in an earlier part.
    """
    merged = JoinedChains(document)
    root_of = merged.root_of
    of_name: dict[str, ChainRef] = {}
    for ref in document.chains:
        if parts is not None and ref.part >= parts:
            break
        name = document.names.get(ref, "")
        if name in of_name:
            root_of[ref] = of_name[name]
            merged.chains[of_name[name]].append(ref)
            continue
        target = decisions.get(ref)
        if name:
            of_name[name] = ref if target is None else root_of.get(target, ref)
        if target is None:
            root_of[ref] = ref
            merged.chains[ref] = [ref]
            continue
        if target not in document.chains or target.part >= ref.part:
            raise DataError(
                f"{document.doc_key}: chain {ref.chain} of part {document.numbers[ref.part]} cannot join "
                f"chain {target.chain}", expected="a chain of an earlier part",
                found=f"part {target.part}, which is " + ("not earlier" if target in document.chains else
                "without such a chain"), hint="mend the table of decisions"
            )  # fmt: skip
        root = root_of[target]
        if any(other.part == ref.part for other in merged.chains[root]):
            merged.warnings.append(
                f"{document.doc_key}: two chains of part {document.numbers[ref.part]} join one chain "
                f"({root.chain} of part {document.numbers[root.part]}) and so each other"
            )
        root_of[ref] = root
        merged.chains[root].append(ref)
    if len(merged.warnings) > 1:
        merged.warnings = [f"{merged.warnings[0]}; {len(merged.warnings) - 1} other places like it"]
    return merged


def keep_answer(
    document: SplitDocument, decisions: dict[ChainRef, ChainRef | None], ref: ChainRef,
    target: ChainRef | None,
) -> list[ChainRef]:  # fmt: skip
    """Keep a decision. A revised one may change what later parts chose from: their decisions that no longer
    stand are forgotten and returned, to be asked again.
    """
    changed = ref in decisions and decisions[ref] != target
    decisions[ref] = target
    forgotten = [r for r in decisions if r.part > ref.part] if changed else []
    for later in forgotten:
        del decisions[later]
    return forgotten


def decide_by_id(document: SplitDocument) -> dict[ChainRef, ChainRef | None]:
    """Equal ids are one entity (FantasyCoref's parts): join the first chain with that id."""
    first: dict[str, ChainRef] = {}
    decisions: dict[ChainRef, ChainRef | None] = {}
    for ref in document.chains:
        if ref.part > 0:
            decisions[ref] = first.get(ref.chain)
        first.setdefault(ref.chain, ref)
    return decisions


def decide_greedily(document: SplitDocument) -> dict[ChainRef, ChainRef | None]:
    """The greedy string baseline of LongtoNotes (Appendix A.5).

    A chain joins the first earlier one with a mention of the same words as one of its noun phrases.

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

    for part in range(len(document.numbers)):
        refs = document.of_part(part)
        for ref in refs:
            found = next((first_with[text] for text in strings(ref) if text in first_with), None)
            root_of[ref] = found or ref
            if part:
                decisions[ref] = found
        for text, root in ((text, root_of[ref]) for ref in refs for text in strings(ref)):
            known = first_with.setdefault(text, root)
            if document.chains[root][0] < document.chains[known][0]:
                first_with[text] = root
    return decisions


def decisions_from_whole(document: SplitDocument, whole: Record) -> dict[ChainRef, ChainRef | None]:
    """The decisions that a whole annotation implies: a chain joins an earlier one of the same cluster.

    Of the clusters that share mentions with a chain the one with most counts. Raises DataError: the whole
    document has other tokens.
    """
    if tuple(flat(whole.sentences)) != document.tokens:
        raise DataError(f"{document.doc_key}: the whole document has other tokens than its parts")
    owner = {mention: i for i, cluster in enumerate(whole.clusters) for mention in cluster}
    first: dict[int, ChainRef] = {}
    decisions: dict[ChainRef, ChainRef | None] = {}
    for ref, mentions in document.chains.items():
        found = [owner[m] for m in mentions if m in owner]
        cluster = max(found, key=lambda c: (found.count(c), -c)) if found else None
        if ref.part > 0:
            earlier = first.get(cluster) if cluster is not None else None
            decisions[ref] = earlier if earlier is not None and earlier.part < ref.part else None
        if cluster is not None:
            first.setdefault(cluster, ref)
    return decisions


def walk(document: SplitDocument) -> Iterator[tuple[int, list[ChainRef]]]:
    """(part, chains to decide) of every part after the first."""
    for part in range(1, len(document.numbers)):
        yield part, document.of_part(part)
