"""Turn a release, or a built data set folder, into packs: one small file per book and an index.

DIR/index.json            {"format": 1, "packs": [{doc_key, file, bytes, sha256, tokens, ...}]}
DIR/<doc_key>.pack        see docs/pack-format.md
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from ..books import Book, Record, read_window_key
from ..books.facts import BookFacts, books_called
from ..errors import BookcorefError, DataError, EditionError, SourceError, UsageError
from ..files import json_page, safe_name, sha256_bytes, write_bytes, write_text
from ..formats.folder import iter_folder, read_build
from ..formats.reasons import read_reasons
from ..outputs import place_of, whole
from ..progress import Progress, Silent
from ..publishing.rights import WHY_NO_FINGERPRINT, record_says_free
from ..shapes import attributes
from ..sources.gutenberg import TextFile
from ..stitch.fingerprint import BITS
from ..stitch.pack import not_in_text, read_pack
from .engine import Finished, JobResults, Outcome, run
from .packed import INDEX, INDEX_FORMAT, SUFFIX, pack_book
from .rebuild import RebuildPlan, TextCandidates, rebuild

_MOST_RECORD = 4 << 20


@dataclass(frozen=True, slots=True)
class PackEntry:
    """One line of the index."""

    doc_key: str
    gutenberg_key: str
    split: str
    file: str
    bytes: int
    sha256: str
    tokens: int
    tokens_sha256: str
    source_sha256: str
    literal_characters: int
    licence: str = ""
    attribution: str = ""
    fingerprint_bits: int = 0


@dataclass(slots=True)
class PackReport(JobResults):
    """What packing did. `left_out` maps doc_keys to reasons."""

    out: Path = Path()
    packs: list[PackEntry] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        told = attributes(self, "out packs") | {"bytes": sum(p.bytes for p in self.packs)}
        failed = {key: str(error) for key, error in self.failed.items()}
        return told | attributes(self, "left_out notes") | {"failed": failed}


@dataclass(frozen=True)
class PackJob:
    """Everything a worker needs to pack one book into the file `path`."""

    facts: BookFacts
    book: Book
    windows: tuple[Book, ...]
    text: TextFile
    settings: Mapping[str, Any]
    path: Path
    reasons: str = ""

    def __str__(self) -> str:
        return self.facts.doc_key


def pack_plan(
    plan: RebuildPlan, out: Path, work: Path, *, settings: Mapping[str, Any] | None = None, jobs: int = 0,
    progress: Progress | None = None,
) -> PackReport:  # fmt: skip
    """Build the books of a plan (from the cache where they are finished) and pack them.

    `work` is a folder for the dataset in between; it is left to the caller.
    """
    asked = replace(plan.settings, out=work, replace=True)
    built = rebuild(replace(plan, settings=asked), jobs=jobs, progress=progress)
    report = pack_folder(work, plan.candidates, out, settings=settings, jobs=jobs, progress=progress)
    for key, error in built.failed.items():
        if isinstance(error, SourceError) and key in plan.instructions:
            report.left_out[key] = error.what
        else:
            report.failed[key] = error
    return report


def pack_folder(
    folder: Path, candidates: TextCandidates, out: Path, *, settings: Mapping[str, Any] | None = None,
    jobs: int = 0, progress: Progress | None = None, books: Sequence[str] = (),
) -> PackReport:  # fmt: skip
    """Pack the books of a data set folder whose Gutenberg text can be had; `books` names some of them.

    `out` is a folder, or a file ending in `.pack` when there is just one book.
    """
    settings, progress = settings or {}, progress or Silent()
    report = PackReport(out=out)
    facts = {b.doc_key: b for b in books_called(books, read_build(folder).books, folder)}
    if out.suffix == SUFFIX and len(facts) > 1:
        raise UsageError(f"--out {out} is one file, but there are {len(facts)} books", expected="a folder")
    with whole(out):
        todo = _jobs(folder, facts, candidates, settings, report)
        run(_pack, todo, report, progress, bar=("packs", len(facts), "books"), workers=jobs)
        for path in report.finished.values():
            data = path.read_bytes()
            pack = read_pack(data, path.name)
            report.packs.append(PackEntry(
                pack.doc_key, pack.gutenberg_key, pack.split, path.name, len(data), sha256_bytes(data),
                pack.token_count, pack.tokens_sha256, pack.source_sha256, pack.literal_characters,
                pack.licence, pack.attribution, pack.fingerprint.bits if pack.fingerprint else 0,
            ))  # fmt: skip
        if settings.get("fingerprint_bits", BITS):
            bare = (pack.doc_key for pack in report.packs if not pack.fingerprint_bits)
            report.notes += [f"{key}: {WHY_NO_FINGERPRINT}" for key in bare]
        if not report.packs:
            errors = list(report.failed.values())
            if len(errors) == 1:
                raise errors[0]
            found = "; ".join([*report.left_out.values(), *(e.what for e in errors)][:5])
            raise DataError("no book could be packed", found=found)
        if out.suffix != SUFFIX:
            index = {"format": INDEX_FORMAT, "packs": [asdict(p) for p in report.packs]}
            write_text(out / INDEX, json_page(index))
    return report


def _jobs(
    folder: Path, facts: Mapping[str, BookFacts], candidates: TextCandidates, settings: Mapping[str, Any],
    report: PackReport,
) -> Iterator[PackJob | Outcome[str, Finished]]:  # fmt: skip
    reasons = read_reasons(folder)

    def book_of(row: tuple[str, Record]) -> str:
        return getattr(read_window_key(row[1].doc_key), "book", row[1].doc_key)

    def text_of(facts: BookFacts, sentences: Sequence[Sequence[str]]) -> TextFile:
        """The text that the book was built from, by its checksum; where none was noted, the edition that has
        most of its words (`make_pack` checks every token)."""
        known, found = facts.text.get("sha256"), list[tuple[float, TextFile]]()
        for text in candidates(facts.gutenberg_key):
            other = (
                text.sha256 != known if known else not_in_text(facts.doc_key, text.read().text, sentences)[0]
            )
            if not other:
                return text
            found.append((other, text))
        if known or not found:
            names = ", ".join(f"{text.name} ({text.sha256[:16]}…)" for _, text in found)
            what = f"{facts.doc_key}: the text it was built from is not there"
            expected = f"sha256 {known[:16]}…" if known else f"Gutenberg text {facts.gutenberg_key}"
            hint = "give the mirror that the book was built with"
            raise EditionError(what, expected=expected, found=names or "no text", hint=hint)
        return min(found, key=lambda pair: pair[0])[1]

    # In the order of the books
    windows = groupby(iter_folder(folder, "split"), book_of)
    for _, record in iter_folder(folder, "full"):
        fact = facts.get(record.doc_key)
        parts = tuple(part.to_book() for _, part in next(windows, ("", ()))[1])
        if fact is None:
            continue
        if fact.gutenberg_key in ("", "0"):
            why = "its file is neither called pgNUMBER.txt nor has a Gutenberg header"
            report.left_out[fact.doc_key] = f"{fact.doc_key} has no Gutenberg number: {why}"
            continue
        book = record.to_book()
        try:
            text = text_of(fact, book.sentences)
        except BookcorefError as error:
            yield Outcome(fact.doc_key, error=error)
            continue
        out = report.out
        path = out if out.suffix == SUFFIX else out / f"{safe_name(fact.doc_key, 'document key')}{SUFFIX}"
        known = reasons.get(fact.doc_key, "")
        yield PackJob(fact, book, parts, text, settings, place_of(path), known)


def _pack(job: PackJob) -> Finished:
    data = pack_book(
        job.book, job.windows, job.text.read().text, split=job.facts.split, source_sha256=job.text.sha256,
        source_name=job.text.name, public_domain=record_says(job.text.path), reasons=job.reasons,
        **job.settings,
    )  # fmt: skip
    write_bytes(job.path, data)
    return Finished(job.path, fresh=True)


def record_says(path: Path) -> bool | None:
    """What the catalogue record beside a mirror's text says of its rights; None without one of this book."""
    record = path.with_suffix(".rdf")
    try:
        if not record.is_file() or record.stat().st_size > _MOST_RECORD:
            return None
        said = record_says_free(told := record.read_text(encoding="utf-8", errors="replace"))
        return None if said and f'"ebooks/{re.sub("[^0-9]", "", path.stem)}"' not in told else said
    except OSError:
        return None
