"""Long documents from documents in parts: `merge`, `merge_agreement`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError, plural
from ..files import path_of
from ..formats.detect import by_name
from ..outputs import files_of
from . import options as o
from .books import AnnotatedBook, Books
from .options import PathLike, path_or_none, paths_of
from .tables import Result, Table

if TYPE_CHECKING:
    from ..books import Record
    from ..formats import NotKept
    from ..progress import Progress
    from ..tasks.merging.parts import SplitDocument
    from ..workflows.merge import MergeReport


class Merged(Result):
    """The long documents. `warnings` is what was noticed, `not_kept` what the format of `out` cannot hold,
    `plots` the pictures written, `saved` the number of decisions in the table that was asked for."""

    def __init__(self, report: MergeReport, documents: Sequence[SplitDocument]) -> None:
        self.report, self.warnings = report, list(report.warnings)
        self.not_kept: list[NotKept] = []
        self.plots: list[Path] = []
        self.saved = 0
        self._documents = [d for d in documents if d.doc_key in report.decisions]

    @property
    def books(self) -> Books:
        """The merged documents."""
        return Books(AnnotatedBook(record) for record in self.report.records)

    @property
    def statistics(self) -> dict[str, list[dict[str, Any]]]:
        """Counts by genre, of the parts and of the merged documents."""
        from ..tasks.merging.statistics import statistics

        both = {"parts": as_parts(self._documents), "merged": self.report.records}
        return {name: [s.to_dict() for s in statistics(records)] for name, records in both.items()}

    @property
    def table(self) -> Table:
        """One row per merged document."""
        return self.books.table

    def to_dict(self) -> dict[str, Any]:
        return self.report.to_dict() | {"statistics": self.statistics}

    def _line(self) -> str:
        report = self.report
        read = f"{plural(len(report.records), 'document')} from {plural(report.parts, 'part')}"
        return f"{read}, {plural(report.links, 'chain')} joined, {report.new:,} new"


@o.only_with("!decisions", "by least cast")
@o.only_with("!key_ids", "key")
@o.only_with("out", "split")
@files_of("out", "save", "plots", reads=("parts", "cast", "decisions", "key", "recipe"))
def merge(
    parts: PathLike, out: PathLike | None = None, *, by: str | None = None, least: o.Proportion | None = None,
    cast: PathLike | None = None, decisions: PathLike | Iterable[PathLike] = (), save: PathLike | None = None,
    key: PathLike | None = None, key_ids: bool = False, only_merged: bool = False, named: bool = False,
    plots: PathLike | None = None, split: o.SplitName = "test", replace: o.Replace = False,
    recipe: o.Recipe = None, format: o.Format = None, progress: Progress | None = None,
) -> Merged:  # fmt: skip
    """Join the parts of documents, and the chains that refer to the same entity.

    Args:
        parts: documents in parts or windows, in any format.
        out: file (.conll, .conllu, .jsonl) or data set folder.
        by: "linker", "greedy", "id" (equal ids are one chain) or "new" (default: what the recipe says).
        least: least probability of a link that the linker makes (default: what the recipe says).
        cast: list of characters, one a line: chains with the names of one become that character's, and so
            does each of its names in the text.
        decisions: table of decisions to take in place of `by`; repeatable, the majority decides.
        save: write the decisions made as a table.
        key: whole documents of the same tokens: score decisions and chains.
        key_ids: score against equal ids of chains instead of `key`.
        only_merged: leave out documents with only one part (LongtoNotes_s).
        named: leave out chains without a name, as where a key has characters alone (BookCoref).
        plots: folder for pictures of lengths and distances.
        split: split of the data set folder.

    Raises:
        UsageError: no such way to decide, a cast beside tables, a document not decided in whole, or none
            like it in the key; a folder that is not ours, or that would lose documents.
    """
    from ..tasks.merging.statistics import save_plots
    from ..tasks.merging.table import write_table
    from ..workflows import merge as work

    target = path_or_none(out)
    if split != "test" and target is not None and by_name(target) is not None:
        raise UsageError("--split does nothing where --out is a file", expected="a folder", found=target)
    plan = work.read_plan(path_or_none(recipe), by, least)
    documents, tables = work.read_parts(path_of(parts), format), paths_of(decisions)
    if (names := path_or_none(cast)) is not None:
        documents = work.with_cast(documents, names)
    if tables:
        chosen = work.voted(documents, work.read_tables(tables, documents))
    else:
        chosen = work.decide(documents, plan.decide, progress, plan.least)
    report = work.merge_documents(documents, chosen, only_merged=only_merged, named=named)
    if key is not None or key_ids:
        work.score(report, documents, path_or_none(key), plan)
    merged = Merged(report, documents)
    if target is not None:
        merged.not_kept = work.write(report, target, split, replace=replace)
    if (file := path_or_none(save)) is not None:
        merged.saved = write_table(file, documents, report.decisions)
    if (folder := path_or_none(plots)) is not None:
        merged.plots = list(save_plots({"parts": as_parts(documents), "merged": report.records}, folder))
    return merged


@files_of(reads=("parts", "decisions"))
def merge_agreement(
    parts: PathLike, decisions: PathLike | Iterable[PathLike], *, format: o.Format = None
) -> Table:
    """The agreement of annotators, one row per genre and pair of them.

    Columns: genre, annotators, decisions, strict, jaccard, new, not_new, alpha (Krippendorff's).
    """
    from ..tasks.merging.scoring import agreement_by_genre
    from ..workflows import merge as work

    documents = work.read_parts(path_of(parts), format)
    found = agreement_by_genre(documents, work.read_tables(paths_of(decisions), documents)).items()
    rows = ((genre, pair, values) for genre, pairs in found for pair, values in pairs.items())
    return Table.of_dicts({"genre": genre, "annotators": list(p), **v.to_dict()} for genre, p, v in rows)


def as_parts(documents: Iterable[SplitDocument]) -> list[Record]:
    """Each part's chains on their own, over the tokens of the whole document."""
    from ..tasks.merging.parts import merge as join

    return [join(document, {}).to_record() for document in documents]
