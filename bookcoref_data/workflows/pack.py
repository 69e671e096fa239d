"""Turn a release, or a built dataset folder, into packs: one small file per book and an index.

DIR/index.json            {"format": 1, "packs": [{doc_key, file, bytes, sha256, tokens, ...}]}
DIR/<doc_key>.pack        see docs/pack-format.md
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from ..books import Book, Window, split_book
from ..books.facts import BookFacts
from ..errors import (
    BookcorefError,
    ChecksumError,
    DataError,
    EditionError,
    FormatError,
    SourceError,
    UsageError,
)
from ..files import read_regular, safe_name, sha256_bytes, write_bytes, write_text
from ..formats.folder import iter_folder, read_build
from ..progress import Progress, Silent
from ..stitch.container import read_directory
from ..stitch.fingerprint import BITS
from ..stitch.pack import MOST_LITERAL_SHARE, Pack, make_pack, read_pack
from ..stitch.spans import Annotation
from ..text.rights import WHY_NO_FINGERPRINT, header_says_free, record_says_free
from .ingest import SPLIT_MARK
from .packed import INDEX, SUFFIX
from .pool import run_jobs, worker_count
from .rebuild import Candidates, Plan, SourceText, rebuild

INDEX_FORMAT = 1
LICENCE = "CC BY-NC-SA 4.0"
ATTRIBUTION = (
    "Annotation of BookCoref: Martinelli, Bonomo, Huguet Cabot, Navigli (ACL 2025), "
    "https://aclanthology.org/2025.acl-long.1197/, converted to standoff offsets"
)
MOST_FILE_BYTES = 64 << 20
_MOST_RECORD = 4 << 20


@dataclass(frozen=True, slots=True)
class PackSettings:
    """How packs are made.

    `fingerprint_bits` per token (0: none; only for texts that are known to be in the public domain), the
    bound on text held as text, licence and attribution of the annotation.
    """

    fingerprint_bits: int = BITS
    most_literal_share: float = MOST_LITERAL_SHARE
    licence: str = LICENCE
    attribution: str = ATTRIBUTION


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
class PackReport:
    """What packing did. `left_out` maps doc_keys to reasons, `failed` to errors."""

    out: Path
    packs: list[PackEntry] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    failed: dict[str, BookcorefError] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {
            "out": str(self.out),
            "packs": [asdict(p) for p in self.packs],
            "bytes": sum(p.bytes for p in self.packs),
            "left_out": self.left_out,
            "notes": self.notes,
            "failed": {k: str(e) for k, e in self.failed.items()},
        }


@dataclass(frozen=True)
class _Job:
    """Everything a worker needs to pack one book."""

    facts: BookFacts
    book: Book
    windows: tuple[Book, ...]
    text: SourceText
    settings: PackSettings

    def __str__(self) -> str:
        return self.facts.doc_key


def pack_book(
    book: Book,
    windows: Sequence[Book],
    text: str,
    *,
    split: str = "",
    source_sha256: str = "",
    source_name: str = "",
    public_domain: bool | None = None,
    settings: PackSettings | None = None,
) -> bytes:
    """The pack of a built book and its windows, made from the decoded source text.

    Raises:
        DataError: the text is not the book's (the pack would have to hold it), or the windows are no
        partition of its sentences.
    """
    settings = settings or PackSettings()
    firsts = _first_sentences(book, windows)
    return make_pack(
        text,
        book.sentences,
        doc_key=book.doc_key,
        gutenberg_key=book.gutenberg_key,
        split=split,
        source_sha256=source_sha256,
        source_name=source_name,
        annotation=Annotation.of(book),
        windows=[(w.doc_key, first) for w, first in zip(windows, firsts, strict=True)],
        window_annotations=_own_annotations(book, windows, firsts),
        fingerprint_bits=settings.fingerprint_bits,
        public_domain=header_says_free(text) if public_domain is None else public_domain,
        licence=settings.licence,
        attribution=settings.attribution,
        most_literal_share=settings.most_literal_share,
    )


def _first_sentences(book: Book, windows: Sequence[Book]) -> list[int]:
    counts = [len(w.sentence_ends) for w in windows]
    firsts = [sum(counts[:i]) for i in range(len(counts))]
    if windows and (sum(counts) != len(book.sentence_ends) or any(c == 0 for c in counts)):
        raise DataError(
            f"{book.doc_key}: its windows are no partition of its sentences",
            expected=len(book.sentence_ends), found=sum(counts),
        )  # fmt: skip
    return firsts


def _own_annotations(book: Book, windows: Sequence[Book], firsts: Sequence[int]) -> dict[int, Annotation]:
    """Annotations of the windows whose spans are not just those of the book."""
    if not windows:
        return {}
    starts = (0, *book.sentence_ends)
    bounds = [*firsts, len(book.sentence_ends)]
    made = split_book(book, windows=[Window(a, b, starts[a], starts[b]) for a, b in pairwise(bounds)]).books
    pairs = enumerate(zip(windows, made, strict=True))
    return {i: Annotation.of(own) for i, (own, cut) in pairs if Annotation.of(own) != Annotation.of(cut)}


def pack_plan(
    plan: Plan, out: Path, work: Path, *, settings: PackSettings | None = None, jobs: int = 0,
    progress: Progress | None = None,
) -> PackReport:  # fmt: skip
    """Build the books of a plan (from the cache where they are finished) and pack them.

    `work` is a folder for the dataset in between; it is left to the caller.
    """
    built = rebuild(replace(plan, out=work, replace=True), jobs=jobs, progress=progress)
    report = pack_folder(work, plan.candidates, out, settings=settings, jobs=jobs, progress=progress)
    for key, error in built.failed.items():
        if isinstance(error, SourceError) and key in plan.instructions:
            report.left_out[key] = error.what
        else:
            report.failed[key] = error
    return report


def pack_folder(
    folder: Path, candidates: Candidates, out: Path, *, settings: PackSettings | None = None, jobs: int = 0,
    progress: Progress | None = None,
) -> PackReport:  # fmt: skip
    """Pack every book of a dataset folder whose Gutenberg text can be had.

    `out` is a folder, or a file ending in `.pack` when there is just one book.

    Raises:
        UsageError: one file was asked for and there are several books.
        DataError: not one book could be packed.
    """
    settings, progress = settings or PackSettings(), progress or Silent()
    report = PackReport(out)
    facts = {b.doc_key: b for b in read_build(folder).books}
    if out.suffix == SUFFIX and len(facts) > 1:
        raise UsageError(f"--out {out} is one file, but there are {len(facts)} books", expected="a folder")
    progress.begin("packs", len(facts), "books")
    jobs_left = _jobs(folder, facts, candidates, settings, report)
    for outcome in run_jobs(_pack, jobs_left, worker_count(jobs)):
        job = outcome.job
        if outcome.error is None:
            entry = _store(job, outcome.result, out)
            report.packs.append(entry)
            if settings.fingerprint_bits and not entry.fingerprint_bits:
                report.notes.append(f"{entry.doc_key}: {WHY_NO_FINGERPRINT}")
        else:
            report.failed[job.facts.doc_key] = outcome.error
        progress.advance("packs")
    progress.end("packs")
    order = {key: i for i, key in enumerate(facts)}
    report.packs.sort(key=lambda p: order[p.doc_key])
    if not report.packs:
        errors = list(report.failed.values())
        raise (
            errors[0]
            if len(errors) == 1
            else DataError(
                "no book could be packed",
                found="; ".join([*report.left_out.values(), *(e.what for e in errors)][:5]),
            )
        )
    if out.suffix != SUFFIX:
        index = {"format": INDEX_FORMAT, "packs": [asdict(p) for p in report.packs]}
        write_text(out / INDEX, json.dumps(index, ensure_ascii=False, indent=1) + "\n")
    return report


def _jobs(
    folder: Path, facts: Mapping[str, BookFacts], candidates: Candidates, settings: PackSettings,
    report: PackReport,
) -> Iterator[_Job]:  # fmt: skip
    windows = _windows(folder)
    for _, record in iter_folder(folder, "full"):
        fact = facts[record.doc_key]
        parts = next(windows, (record.doc_key, ()))[1]
        if not fact.text.get("sha256") or fact.gutenberg_key in ("", "0"):
            report.left_out[fact.doc_key] = (
                f"{fact.doc_key} has no Gutenberg text: a pack of it would have to hold its text"
            )
            continue
        try:
            text = _text(fact, candidates)
        except BookcorefError as error:
            report.failed[fact.doc_key] = error
            continue
        yield _Job(fact, record.to_book(), tuple(parts), text, settings)


def _windows(folder: Path) -> Iterator[tuple[str, list[Book]]]:
    """(doc_key, its windows) in the order of the books."""
    current, parts = None, []
    for _, record in iter_folder(folder, "split"):
        key = record.doc_key.rpartition(SPLIT_MARK)[0] or record.doc_key
        if key != current and current is not None:
            yield current, parts
            parts = []
        current = key
        parts.append(record.to_book())
    if current is not None:
        yield current, parts


def _text(facts: BookFacts, candidates: Candidates) -> SourceText:
    """The text that the book was built from, told by its checksum."""
    names = []
    for text in candidates(facts.gutenberg_key):
        if text.sha256 == facts.text["sha256"]:
            return text
        names.append(f"{text.name} ({text.sha256[:16]}…)")
    raise EditionError(
        f"{facts.doc_key}: the text it was built from is not there",
        expected=f"sha256 {facts.text['sha256'][:16]}…",
        found=", ".join(names) or "no text",
        hint="give the mirror that the book was built with",
    )


def _pack(job: _Job) -> bytes:
    text = job.text.read()
    return pack_book(
        job.book, job.windows, text, split=job.facts.split, source_sha256=job.text.sha256,
        source_name=job.text.name, public_domain=_record_says(job.text.path), settings=job.settings,
    )  # fmt: skip


def _record_says(path: Path) -> bool | None:
    """What the catalogue record beside a mirror's text says of its rights; None without a record."""
    record = path.with_suffix(".rdf")
    try:
        if not record.is_file() or record.stat().st_size > _MOST_RECORD:
            return None
        return record_says_free(record.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None


def _store(job: _Job, data: bytes, out: Path) -> PackEntry:
    name = out.name if out.suffix == SUFFIX else safe_name(job.facts.doc_key, "document key") + SUFFIX
    write_bytes(out if out.suffix == SUFFIX else out / name, data)
    pack = read_pack(data, name)
    return PackEntry(
        pack.doc_key, pack.gutenberg_key, pack.split, name, len(data), sha256_bytes(data), pack.token_count,
        pack.tokens_sha256, pack.source_sha256, pack.literal_characters, pack.licence, pack.attribution,
        pack.fingerprint.bits if pack.fingerprint else 0,
    )  # fmt: skip


def _read(path: Path) -> bytes:
    return read_regular(path, MOST_FILE_BYTES)


def pack_files(path: Path) -> dict[Path, dict[str, Any]]:
    """{pack: its entry in the index, empty without one}: `path` itself, or the packs of a folder in order.

    Raises:
        FormatError: an index that is broken, of another format, or names a file outside the folder.
    """
    if not path.is_dir():
        return {path: {}}
    index = path / INDEX
    if not index.exists():
        return {file: {} for file in sorted(path.glob(f"*{SUFFIX}"))}
    try:
        value = json.loads(_read(index))
        if value["format"] != INDEX_FORMAT:
            raise FormatError(
                f"{index} is an index of another format", expected=INDEX_FORMAT,
                found=repr(value["format"])[:40], hint="install the newest bookcoref-data",
            )  # fmt: skip
        return {path / safe_name(entry["file"], f"{index}: file"): dict(entry) for entry in value["packs"]}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FormatError(f"{index} is no index of packs", found=str(error)[:200]) from error


def read_listed_pack(file: Path, sha256: str) -> tuple[Pack, bytes]:
    """A pack and its bytes; `sha256` is what an index states, "" without one.

    Raises:
        SourceError: there is no such file. FormatError, DataError: it is damaged. ChecksumError: it is
        whole, but not the pack that the index names.
    """
    data = _read(file)
    pack = read_pack(data, str(file))
    if sha256 and (found := sha256_bytes(data)) != sha256:
        raise ChecksumError(
            f"{file} is not the pack that its index names", expected=f"sha256 {sha256}", found=found,
            hint="fetch or make it again (bookcoref-data pack)",
        )  # fmt: skip
    return pack, data


def describe(path: Path) -> dict[str, Any]:
    """What is in a pack: counts, checksums, bytes per section. Shows no text but the literals' size."""
    data = _read(path)
    pack = read_pack(data, str(path))
    directory, _ = read_directory(data, str(path))
    return {
        "file": path.name,
        "bytes": len(data),
        "doc_key": pack.doc_key,
        "gutenberg_key": pack.gutenberg_key,
        "split": pack.split,
        "source": {"name": pack.source_name, "sha256": pack.source_sha256},
        "tokens": pack.token_count,
        "sentences": pack.sentence_count,
        "tokens_sha256": pack.tokens_sha256,
        "clusters": len(pack.annotation.clusters),
        "mentions": sum(map(len, pack.annotation.clusters)),
        "characters": [name for name, _ in pack.annotation.characters],
        "windows": len(pack.windows),
        "windows_with_own_spans": len(pack.window_annotations),
        "edits": len(pack.edits.keep),
        "literal_characters": pack.literal_characters,
        "literal_share": pack.literal_characters / max(pack.visible_count, 1),
        "longest_literal": pack.edits.longest_literal,
        "fingerprint_bits": pack.fingerprint.bits if pack.fingerprint else 0,
        "licence": pack.licence,
        "attribution": pack.attribution,
        "sections": {name: stored for name, _, _, stored in directory},
    }
