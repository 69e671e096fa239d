"""Another corpus as a data set folder: read its public layout, check each document, write parquet and card.

    import KIND DIR --out FOLDER [--records FILE]

The folder has the columns of every data set here. What these have no place for (speakers, quotations, parts
of speech, ...) is counted; `--records` keeps all of it in a file of JSON lines.
"""

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..books import Book, Record
from ..errors import DataError, require_choice
from ..formats import ConversionReport, write_documents
from ..formats.base import EMPTY_CLUSTER, EMPTY_SENTENCE, OUTSIDE
from ..formats.corpora import Corpus, corpora, read_corpus
from ..formats.folder import check_replaceable, writing_folder
from ..formats.layers import note_layers
from ..formats.schema import SPLITS
from ..progress import Progress, followed
from ..shapes import attributes
from ..text.read_book import ReadSettings, read_book

NOT_GUTENBERG = "0"
"""The `gutenberg_key` of a document that is not known to be from there, as in the release."""
FIELDS = "fields of documents that the columns have no place for"


@dataclasses.dataclass(frozen=True)
class Imported:
    """What was written: the corpus, the folder, documents by split, counts, the digest of the content.

    `report` counts what the folder does not hold.
    """

    corpus: Corpus
    out: Path
    splits: dict[str, int]
    digest: str
    report: ConversionReport
    records: Path | None = None

    @property
    def differences(self) -> dict[str, tuple[int, int]]:
        """(published, found) of every published count of the corpus that is another one here."""
        counts = {name: int(getattr(self.report, name) or 0) for name in ("documents", "tokens", "mentions")}
        return self.corpus.differences(counts | self.splits)

    def __repr__(self) -> str:
        return f"<Imported: {self.corpus.name}, {self.report.documents:,} documents in {self.out}>"

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; the counts of the report stand beside the fields."""
        counts = self.report.to_dict()
        return {
            **attributes(self.corpus, "kind name"),
            **attributes(self, "out records splits digest"),
            **{name: counts[name] for name in ("documents", "tokens", "mentions", "clusters", "not_kept")},
            **attributes(self.corpus, "texts annotation citation published"),
            "broken": [str(error) for error in self.report.broken],
        }


def import_corpus(
    kind: str, path: Path | str, out: Path | str, *, records: Path | str | None = None,
    split: str | None = None, progress: Progress | None = None,
) -> Imported:  # fmt: skip
    """What `import_corpus` of the front door does; where names say nothing of a split, it is "test"."""
    out = Path(out)
    if split is not None:
        require_choice("split", split, SPLITS)
    corpus = corpora().get(kind)
    check_replaceable(out)
    report = ConversionReport(kind, "folder")
    read = read_corpus(kind, Path(path), report, tokenise)
    found = list(followed(read, progress, "read", None, "documents"))
    if split is not None:
        found = [item._replace(split=split) for item in found]
    assert corpus is not None, "read_corpus refuses a corpus that is not in the manifest"
    seen: dict[str, str] = {}
    for _, record in found:
        if record.doc_key in seen:
            what = f"{record.source}: the document {record.doc_key!r} comes twice"
            expected = "each document once"
            hint = "import one of the two folders, or one file"
            raise DataError(what, expected=expected, found=f"also at {seen[record.doc_key]}", hint=hint)
        seen[record.doc_key] = record.source
    # Written first: whoever asks for the whole content should not be left with the folder alone.
    if records is not None:
        write_documents([item.record for item in found], Path(records), "jsonl")
    splits = dict.fromkeys(SPLITS, 0)
    with writing_folder(out) as writer:
        for name in SPLITS:
            some = [item.record for item in found if item.split == name]
            for book in _books(some, report, whole=records is not None):
                writer.add_book(book, name, check="given")
                splits[name] += 1
        build = writer.finish(
            corpus.name, licences=(("Texts", corpus.texts), ("Annotation", corpus.annotation)),
            notes=(f"imported from {corpus.address}", "windows are cut here; the corpus has none"),
            source={"corpus": corpus.kind, "address": corpus.address}, citation=corpus.bibtex,
        )  # fmt: skip
    return Imported(corpus, out, splits, build.digest, report, None if records is None else Path(records))


def tokenise(data: bytes, name: str) -> Any:
    return read_book(data, f"{name}.txt", ReadSettings(apparatus="keep", guard=False))


def _books(records: list[Record], report: ConversionReport, *, whole: bool) -> Iterator[Book]:
    """The records as checked books. What a book cannot be is left out and counted: empty sentences and
    clusters, mentions outside the tokens, duplicates."""
    for record in records:
        if not any(record.sentences or []):
            report.add("documents without tokens", record.doc_key)
            continue
        if not whole:
            note_layers(record, report)
            names = sorted(name for name in record.extra if name not in ("document", "part"))
            report.add(FIELDS, record.doc_key, ", ".join(names), count=len(names))
        sentences = [sentence for sentence in record.sentences or [] if sentence]
        report.add(EMPTY_SENTENCE, record.doc_key, count=len(record.sentences or []) - len(sentences))
        size = sum(map(len, sentences))
        clusters = []
        for cluster in record.clusters:
            inside = [m for m in cluster if 0 <= m.start <= m.end < size]
            once = list(dict.fromkeys(inside))
            report.add(OUTSIDE, record.doc_key, count=len(cluster) - len(inside))
            report.add("mentions given twice in one cluster", record.doc_key, count=len(inside) - len(once))
            report.add(EMPTY_CLUSTER, record.doc_key, count=int(not once))
            clusters.append(once)
        characters = [
            (name, list(dict.fromkeys(m for m in spans if 0 <= m.start <= m.end < size)))
            for name, spans in record.characters
        ]
        book = dataclasses.replace(
            record, gutenberg_key=record.gutenberg_key or NOT_GUTENBERG, sentences=sentences,
            clusters=[cluster for cluster in clusters if cluster],
            characters=[(name, spans) for name, spans in characters if spans], speakers=None, layers={},
        ).to_book()  # fmt: skip
        report.wrote(len(book.tokens), book.clusters)
        yield book
