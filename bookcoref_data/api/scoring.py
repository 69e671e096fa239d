"""`evaluate`, `stats`, `align` and `convert` for Python."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from .books import AnnotatedBook, PathLike, records_of
from .tables import Table

if TYPE_CHECKING:
    import pandas

    from ..evaluate import ClusterScores, Evaluation
    from ..formats import ConversionReport
    from ..workflows.align import Aligned


class Scores:
    """The scores of a response against a key: pooled, per book, as tables."""

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation = evaluation

    @property
    def pooled(self) -> ClusterScores:
        """The pooled scores by metric, for instance `pooled.conll.f1`."""
        return self.evaluation.pooled

    @property
    def conll_f1(self) -> float:
        """Mean F1 of MUC, B3 and CEAF-e, from 0 to 1."""
        return self.evaluation.pooled.conll.f1

    @property
    def notes(self) -> tuple[str, ...]:
        """What is worth knowing about these scores."""
        return self.evaluation.notes

    @property
    def table(self) -> Table:
        """One row per metric: precision, recall and F1 in percent."""
        from ..report.evaluation_tables import score_table

        made = score_table(self.evaluation)
        return Table.of_rows(made.columns, made.rows)

    @property
    def books(self) -> Table:
        """One row per book."""
        from ..report.evaluation_tables import book_table

        made = book_table(self.evaluation)
        return Table.of_rows(made.columns, made.rows)

    def to_pandas(self) -> pandas.DataFrame:
        """The table of metrics as a data frame of pandas (which must be installed)."""
        return self.table.to_pandas()

    def to_markdown(self) -> str:
        """The table of metrics in Markdown."""
        return self.table.to_markdown()

    def to_dict(self) -> dict[str, Any]:
        """The same document as `evaluate --json`."""
        return self.evaluation.to_dict()

    def __repr__(self) -> str:
        return f"<Scores: CoNLL F1 {100 * self.conll_f1:.2f} over {len(self.evaluation.books)} books>"

    def _repr_html_(self) -> str:
        return self.table._repr_html_()


def evaluate(
    key: Any,
    response: Any,
    mode: str = "full",
    *,
    singletons: str = "keep",
    duplicates: str = "released",
    missing: str = "error",
    window_size: int = 1500,
) -> Scores:
    """Score a response against a key. Both are a path, a book, or books; they are paired by doc_key.

    Args:
        mode: "full", "split", "gold-window" or "gold-window-released", see docs/evaluation.md.
        singletons: "keep" or "drop" clusters of one mention.
        duplicates: "released" (as BookCoref's code) or "first" (as the CoNLL scorer).
        missing: "error", "skip" or "empty", for key books that the response lacks.
        window_size: tokens per window in the modes with windows.

    Raises:
        UsageError, DataError: the two do not fit; the message says why.
    """
    from ..evaluate import evaluate as run

    return Scores(
        run(
            records_of(key),
            records_of(response),
            mode,
            singletons=singletons,
            duplicates=duplicates,
            missing=missing,
            window_size=window_size,
        )
    )


def stats(*sources: Any) -> Table:
    """The paper's Table 1, one row per source; a source is a path, a book, or books."""
    from ..books.statistics import corpus_statistics, document_statistics

    if not sources:
        raise UsageError("nothing to count", expected="at least one path, book, or list of books")
    rows = []
    for number, source in enumerate(sources, 1):
        found = corpus_statistics([document_statistics(record) for record in records_of(source)])
        name = str(source) if isinstance(source, str | Path) else f"source {number}"
        rows.append({"source": name, **{f: getattr(found, f) for f in found.__dataclass_fields__}})
    return Table({name: [row[name] for row in rows] for name in rows[0]})


class Carried:
    """An annotation carried over to another text: the book, and what became of its mentions."""

    def __init__(self, aligned: Aligned) -> None:
        self.aligned = aligned

    @property
    def book(self) -> AnnotatedBook:
        """The new text with the annotation that could be carried over."""
        return AnnotatedBook(self.aligned.record)

    @property
    def exact(self) -> bool:
        """Whether `new` is the very edition that was annotated."""
        return self.aligned.report is None

    def to_dict(self) -> dict[str, Any]:
        """`result`, with counts and examples of mentions kept, moved, changed and lost unless it is exact."""
        report = self.aligned.report
        return {"result": self.aligned.result, **(report.to_dict() if report else {})}

    def __repr__(self) -> str:
        mentions = sum(map(len, self.aligned.record.clusters))
        return f"<Carried {self.aligned.record.doc_key!r}: {self.aligned.result}, {mentions:,} mentions>"


def align(old: PathLike | AnnotatedBook, new: PathLike, *, doc_key: str | None = None) -> Carried:
    """Carry the annotation of `old` (a book, annotated file or pack) over to another edition of the text.

    Raises:
        SourceError, FormatError: a file cannot be read. UsageError: `old` holds several books and `doc_key`
        names none. EditionError: `new` is no edition of the same book.
    """
    from ..workflows.align import align_files, align_records

    if isinstance(old, AnnotatedBook):
        return Carried(align_records([old.record], Path(new).expanduser())[0])
    found = align_files(Path(old).expanduser(), Path(new).expanduser(), doc_key=doc_key)
    if len(found) != 1:
        raise UsageError(f"{old} holds {len(found)} books", expected="one book, or doc_key=")
    return Carried(found[0])


def convert(
    source: PathLike,
    target: PathLike,
    *,
    read_as: str | None = None,
    write_as: str | None = None,
    config: str | None = None,
    key: PathLike | None = None,
    parts: str | None = None,
    doc_key: str | None = None,
    tokenizer: str | None = None,
    segment_length: int | None = None,
) -> ConversionReport:
    """Convert a file to another format; returns what was written and what could not be kept.

    The options are those of the command line: `key` moves the mentions onto the tokens of other documents,
    `parts` joins parts of CoNLL documents, `doc_key` names JSON lines without a key, `tokenizer` and
    `segment_length` are for the formats in subwords (longdoc, dual-cache).

    Raises:
        UsageError, FormatError, DataError, SourceError: as the command line reports them.
    """
    from ..formats.convert import convert as run

    return run(
        Path(source).expanduser(),
        Path(target).expanduser(),
        read_as=read_as,
        write_as=write_as,
        config=config,
        key=None if key is None else Path(key).expanduser(),
        parts=parts,
        doc_key=doc_key,
        tokenizer=tokenizer,
        segment_length=segment_length,
    )
