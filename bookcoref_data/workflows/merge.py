"""`merge`: read documents in parts, decide about their chains, write long documents, score and compare."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..annotation.embedded.names import NameTable, book_words
from ..books import Mention, Record
from ..errors import DataError, SourceError, UsageError, plural, require_choice
from ..formats import NotKept, read_documents, write_documents
from ..formats.conversion_report import ConversionReport
from ..formats.documents import by_name, detect
from ..formats.folder import write_folder
from ..formats.layers import flat
from ..formats.lines import read_lines
from ..progress import Progress, followed
from ..resources import load_toml, resource
from ..scoring import ClusterScores, score_documents
from ..scoring.mention_types import TypeRules, head_of
from ..shapes import attributes, check, plain
from ..tasks.merging.features import Observed
from ..tasks.merging.laying import documents_of
from ..tasks.merging.linker import decide_with_linker
from ..tasks.merging.parts import (
    ChainRef,
    Decisions,
    SplitDocument,
    decide_by_id,
    decide_greedily,
    decisions_from_whole,
    keep_answer,
    merge,
)
from ..tasks.merging.scoring import DecisionScores, score_decisions, vote
from ..tasks.merging.statistics import BinScores, scores_by_size
from ..tasks.merging.table import COLUMNS, DecisionTable, Row, read_table, row_of, rows_of
from .casts import read_cast

DECIDERS: dict[str, Callable[..., dict[ChainRef, ChainRef | None]]] = {
    "linker": decide_with_linker, "greedy": decide_greedily, "id": decide_by_id,
    "new": lambda document: dict.fromkeys(document.questions)
}  # fmt: skip
LICENCES = (("Texts and annotations", "as the documents that were merged"),)


@dataclass(frozen=True, slots=True)
class MergePlan:
    """The recipe: how to decide, the least probability of a link (None: the linker's own), and the limits of
    bins by tokens and by chains."""

    decide: str
    least: float | None
    token_bins: tuple[int, ...]
    chain_bins: tuple[int, ...]


def read_plan(path: Path | None = None, decide: str | None = None, least: float | None = None) -> MergePlan:
    """The recipe in `path` or the one that ships. Raises UsageError for a way to decide that is not there."""
    source = path or resource("recipes", "longtonotes.toml")
    value = load_toml(source)
    check(value, "merge_recipe", str(source), UsageError)
    bins = value.get("statistics", {})
    plan = MergePlan(
        decide or value.get("decide", "linker"), least if least is not None else value.get("least"),
        tuple(bins.get("tokens", ())), tuple(bins.get("chains", ()))
    )  # fmt: skip
    if decide is not None:
        require_choice("--by", decide, DECIDERS)
    if least is not None and plan.decide != "linker":
        raise UsageError("--least does nothing without --by linker", found=f"--by {plan.decide}")
    if plan.least is not None and not 0 <= plan.least <= 1:
        raise UsageError("the least probability must lie between 0 and 1", found=plan.least)
    return plan


@dataclass(slots=True)
class MergeReport:
    """Merged documents and what happened. `scores` are None without a key."""

    records: list[Record] = field(default_factory=list)
    decisions: dict[str, Decisions] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    parts: int = 0
    links: int = 0
    new: int = 0
    decision_scores: DecisionScores | None = None
    scores: ClusterScores | None = None
    unmerged: ClusterScores | None = None
    by_size: dict[str, list[BinScores]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        scored: dict[str, Any] = {}
        if self.decision_scores and self.scores and self.unmerged:
            scored = {"decisions_against_key": plain(self.decision_scores)}
            scored |= attributes(self, "scores unmerged by_size")
        return {
            "documents": len(self.records), "parts": self.parts, "decisions": {"link": self.links, "new":
            self.new}, "warnings": self.warnings, **scored
        }  # fmt: skip


def read_parts(path: Path, format: str | None = None) -> list[SplitDocument]:
    """The documents of a file or folder, their parts apart."""
    name = format or detect(path)
    options: dict[str, Any] = {"parts": "apart"} if name == "conll" else {}
    documents = documents_of(read_documents(path, name, windows=True, **options))
    if not documents:
        raise DataError(f"{path} holds no document")
    return documents


def with_cast(documents: Sequence[SplitDocument], path: Path) -> list[SplitDocument]:
    """The documents with the characters of a cast file on the chains, and on the mentions, that have their
    names.

    A chain is a character's when more than half of its names are that character's: the name table of
    `annotate` ties a name to a character, and it must be the head of the mention. A name that no mention has
    as its head is a mention of its own.
    """
    cast = read_cast(path, "one character a line; see docs/annotation.md")

    def with_names(document: SplitDocument) -> SplitDocument:
        table, words = NameTable(cast), book_words(document.tokens)
        table.learn(words)
        hits = table.find(words)
        known = [(Mention(hit.start, hit.end), cast.names[who])
                 for hit, (who, _) in zip(hits, table.settle(hits), strict=True) if who >= 0]  # fmt: skip
        character = {i: name for mention, name in known for i in range(mention.start, mention.end + 1)}
        rules = TypeRules(document.tokens, document.sentence_ends, cast.names)
        found, named, heads = dict[ChainRef, str](), dict[Mention, str](), set[int | None]()
        for ref, mentions in document.chains.items():
            own = {m: head_of(document.tokens, *m) for m in mentions}
            heads.update(own.values())
            sure = {m: character[head] for m, head in own.items() if head in character}
            names = sum(
                any(i in character for i in range(m.start, m.end + 1)) or rules.type_of(*m) == "name"
                for m in own
            )
            named.update(sure)
            for who, count in Counter(sure.values()).most_common(1):
                if 2 * count > names:
                    found[ref] = who
        alone = {m: name for m, name in known if not heads & {*range(m.start, m.end + 1)}}
        return replace(document, names=found, named=named | alone)

    return list(map(with_names, documents))


def decide(
    documents: Sequence[SplitDocument], how: str, progress: Progress | None = None, least: float | None = None
) -> dict[str, Decisions]:
    """The decisions of one of `DECIDERS` for every document; chains that share mentions are joined by all.

    `least` is for the linker: the least probability of a link that is made.
    """
    options = {"least": least} if how == "linker" else {}
    each = followed(documents, progress, "merge", len(documents), "documents")
    return {d.doc_key: DECIDERS[how](d, **options) | dict(d.shared) for d in each}


def read_tables(paths: Iterable[Path], documents: Sequence[SplitDocument]) -> DecisionTable:
    """The decisions of all annotators in some tables; a file without names counts as one annotator."""
    found: DecisionTable = {}
    questions = {d.doc_key: d.questions for d in documents}
    for path in paths:
        for annotator, tables in read_table(path, documents).items():
            own = found.setdefault(name := annotator or path.stem, {})
            for key, decided in tables.items():
                left = sum(ref not in decided for ref in questions[key])
                if left or key in own:
                    what = f"{path}: {name} has not decided document {key!r} in whole and in one table"
                    expected = f"{len(questions[key])} decisions"
                    given = f"{left} are missing" if left else "another table of theirs about it"
                    hint = "finish it with --ask, or leave its rows out"
                    raise UsageError(what, expected=expected, found=given, hint=hint)
            own.update(tables)
    return found


def voted(documents: Sequence[SplitDocument], annotators: DecisionTable) -> dict[str, Decisions]:
    """The decisions about each document: of its annotator, or by majority, the first one breaking ties."""
    made: dict[str, Decisions] = {}
    for document in documents:
        given = [tables[document.doc_key] for tables in annotators.values() if document.doc_key in tables]
        if document.questions and not given:
            raise UsageError(f"nobody decided about document {document.doc_key!r}", hint="decide with --ask")
        made[document.doc_key] = vote(document, given)
    return made


def merge_documents(
    documents: Sequence[SplitDocument], decisions: Mapping[str, Decisions], *, only_merged: bool = False,
    named: bool = False
) -> MergeReport:  # fmt: skip
    """The long documents. `only_merged` leaves out documents of one part (LongtoNotes_s), `named` chains
    without a name."""
    report = MergeReport()
    if all(len(document.numbers) < 2 for document in documents):
        report.warnings.append(
            "every document has one part, so nothing is joined; parts have keys such as book_window2, or a "
            "field part or window"
        )
    left_out = sum((Counter(document.left_out) for document in documents), Counter[str]())
    if left_out:
        told = ", ".join(f"{field} ({count:,})" for field, count in left_out.items())
        report.warnings.append(f"the long documents have no place for what the parts say in: {told}")
    for document in documents:
        if only_merged and len(document.numbers) < 2:
            continue
        chosen = decisions[document.doc_key]
        merged = merge(document, chosen)
        record = merged.to_record()
        if named:
            reading, characters = Observed(document), [mentions for _, mentions in record.characters]
            kept = [
                c for c in record.clusters if c in characters or any(reading.kind_of(m) == "name" for m in c)
            ]
            record = replace(record, clusters=kept)
        report.records.append(record)
        report.decisions[document.doc_key] = chosen
        report.warnings += merged.warnings
        report.parts += len(document.numbers)
        links = sum(chosen.get(ref) is not None for ref in document.questions)
        report.links += links
        report.new += len(document.questions) - links
    return report


def score(report: MergeReport, documents: Sequence[SplitDocument], key: Path | None, plan: MergePlan) -> None:
    """Score decisions and documents against whole documents, or against equal ids where `key` is None."""
    whole = {r.doc_key: r for r in read_documents(key)} if key else {}
    counts, made = DecisionScores(), []
    for document in documents:
        if document.doc_key not in report.decisions:
            continue
        if key and document.doc_key not in whole:
            raise UsageError(f"{key} has no document {document.doc_key!r}")
        right = decisions_from_whole(document, whole[document.doc_key]) if key else decide_by_id(document)
        chosen = report.decisions[document.doc_key]
        counts += score_decisions(document, right, chosen)
        made.append([merge(document, decisions).to_record() for decisions in (right, chosen, {})])
    report.decision_scores = counts
    pairs = ([(records[0].clusters, records[i].clusters) for records in made] for i in (1, 2))
    report.scores, report.unmerged = map(score_documents, pairs)
    both = [(key_record, merged) for key_record, merged, _ in made]
    report.by_size = scores_by_size(both, plan.token_bins, plan.chain_bins)


def write(report: MergeReport, out: Path, split: str = "test", *, replace: bool = False) -> list[NotKept]:
    """Write the documents: a file where the name says which format, else a data set folder.

    `replace` allows the folder to lose documents. Returns what the format cannot hold.
    """
    if by_name(out) is not None:
        kept = ConversionReport()
        write_documents(report.records, out, report=kept)
        return kept.not_kept
    links = plural(report.links, "chain")
    notes = [f"long documents from {report.parts:,} parts: {links} joined, {report.new:,} new"]
    write_folder(
        out, {split: [r.to_book() for r in report.records]}, title="Merged documents", licences=LICENCES,
        notes=notes, replace=replace,
    )  # fmt: skip
    return []


class AnswerFile:
    """The table of one annotator, to which every answer is appended at once."""

    def __init__(self, path: Path, annotator: str) -> None:
        self.path, self.annotator = path, annotator

    def text(self) -> str:
        """The table as it is, or its first line; what is appended begins a line of its own."""
        text = "".join(f"{line}\n" for line in read_lines(self.path)) if self.path.exists() else ""
        return text or "\t".join(COLUMNS) + "\n"

    def rows(self, documents: Sequence[SplitDocument]) -> list[Row]:
        """The answers in the order in which they were given, revised ones too."""
        lines = self.text().split("\n")
        return [row for row in rows_of(lines, documents, str(self.path)) if row[0] == self.annotator]

    def load(self, documents: Sequence[SplitDocument]) -> dict[str, dict[ChainRef, ChainRef | None]]:
        """The answers that stand, by document."""
        found: dict[str, dict[ChainRef, ChainRef | None]] = {d.doc_key: {} for d in documents}
        for _, document, ref, target in self.rows(documents):
            keep_answer(document, found[document.doc_key], ref, target)
        return found

    def page_data(
        self, documents: Sequence[SplitDocument], advice: Mapping[str, Decisions]
    ) -> dict[str, Any]:
        """What the page of a round reads. Chains are named by their places in a document, in order of
        decision; `advice` is the linker's."""
        place = {d.doc_key: {ref: i for i, ref in enumerate(d.chains)} for d in documents}
        number = {d.doc_key: i for i, d in enumerate(documents)}

        def at(document: SplitDocument, ref: ChainRef | None) -> int | None:
            return None if ref is None else place[document.doc_key][ref]

        told = [
            {"key": d.doc_key, "numbers": d.numbers, "starts": d.part_starts, "tokens": d.tokens,
             "speakers": flat(d.layers.get("speakers")), "chains": [
                 {"part": r.part, "id": r.chain, "mentions": ms, "advice": at(d, advice[d.doc_key].get(r))}
                 for r, ms in d.chains.items()]}
            for d in documents
        ]  # fmt: skip
        rows = [(number[d.doc_key], at(d, ref), at(d, target)) for _, d, ref, target in self.rows(documents)]
        return {"documents": told, "rows": rows, "text": self.text(), "annotator": self.annotator}

    def add(self, document: SplitDocument, ref: ChainRef, target: ChainRef | None) -> None:
        """Append an answer; a later row about a chain replaces an earlier one when the table is read."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open(self.path, "a", encoding="utf-8", newline="\n") as stream:
                if not stream.tell():
                    stream.write("\t".join(COLUMNS) + "\n")
                stream.write(row_of(document, ref, target, self.annotator) + "\n")
        except OSError as error:
            raise SourceError(f"cannot write answers to {self.path}", found=error.strerror) from error
