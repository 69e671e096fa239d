"""Verify that a data set folder is right and whole: recompute everything, compare with what is known.

Three sources are compared: the folder's own build record (was anything changed since?), the manifest of
published facts (are these the released tokens?), and a recorded manifest of somebody else's build.
"""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from ..books import read_window_key
from ..books.facts import BookFacts, content_digest, facts_of, is_remapped, released_key
from ..books.stored import StoredBook, are_parts
from ..errors import BookError, ChecksumError, DataError, FormatError, UsageError
from ..files import json_page, write_text
from ..formats.annotated import DATASET
from ..formats.documents import is_annotated_folder
from ..formats.folder import (
    BUILD_FILE,
    BuildRecord,
    iter_stored,
    read_build,
    read_card_digest,
    record_problems,
)
from ..formats.reasons import read_reasons
from ..formats.schema import CONFIGS, SPLITS
from ..guard import require_regular
from ..outputs import RECORD, whole
from ..outputs import problems as written_problems
from ..resources import resource
from ..shapes import attributes, check, read_json

MANIFEST_FORMAT = 1
# What two builds of the same book must share; where the text came from may differ.
COMPARED = (
    "split", "tokens", "sentences", "characters", "clusters", "mentions", "tokens_sha256", "spans_sha256",
    "document_sha256", "windows", "windows_sha256", "reasons_sha256",
)  # fmt: skip
PUBLISHED = ("tokens", "sentences", "tokens_sha256", "windows", "clusters", "mentions", "spans_sha256")

OK, CHANGED, MISSING, EXTRA = "ok", "changed", "missing", "extra"


@dataclass(slots=True)
class Checked:
    """What was found of one book.

    `tokens_by` and `spans_by` say what its tokens and its spans were compared with: "published" for the
    published facts, "build record" for the record alone; tokens may also name how the rebuild verified them
    ("pack", "counts", ...), see `BookFacts.check`.
    """

    doc_key: str
    status: str
    tokens_by: str = ""
    spans_by: str = ""
    facts: BookFacts | None = None
    problems: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        by = {"tokens_verified_by": self.tokens_by, "spans_verified_by": self.spans_by}
        told = attributes(self, "doc_key status") | {"remapped": is_remapped(self.doc_key), **by}
        return told | attributes(self, "problems facts")


@dataclass(slots=True)
class Verification:
    """The result of `verify`: one check per book, and problems of the folder as a whole. `files` is the
    number of files that were compared with the record of a folder that holds no data set."""

    folder: Path
    digest: str
    books: list[Checked]
    problems: list[str] = field(default_factory=list)
    accept_remapped: bool = False
    files: int = 0

    @property
    def remapped(self) -> list[str]:
        """The books whose tokens are those of another edition."""
        return [b.doc_key for b in self.books if is_remapped(b.doc_key)]

    @property
    def exit_code(self) -> int:
        """0 all right, 4 some content is not what its checksum says, 1 something is missing or remapped."""
        states = {b.status for b in self.books}
        if CHANGED in states or self.problems:
            return 4
        return 1 if states & {MISSING, EXTRA} or (self.remapped and not self.accept_remapped) else 0

    def to_dict(self) -> dict[str, Any]:
        return attributes(self, "folder digest exit_code remapped problems files books")


def verify(
    folder: Path, *, manifest: Path | None = None, complete: bool = False, accept_remapped: bool = False
) -> Verification:
    """Read the whole folder, recompute counts and checksums of every book, compare.

    Of a folder of another kind with a record, the files are compared with it, and its data set is verified.

    `manifest` is a file of `write_manifest` to compare with; `complete` requires all 53 published books;
    `accept_remapped` takes books whose annotation was carried over to another edition as they are. Memory
    holds one book.
    """
    if not os.path.lexists(folder / BUILD_FILE) and (folder / RECORD).is_file():
        if (folder / DATASET).is_dir():
            folder = folder / DATASET
        else:
            if manifest or complete:
                expected = f"{BUILD_FILE}, or a data set in {DATASET}"
                raise UsageError(f"{folder} holds no data set to compare", expected=expected)
            wrong, groups = written_problems(folder), read_json(folder / RECORD, 64 << 20)["files"].values()
            files = sum((folder / name).is_file() for group in groups for name in group)
            return Verification(folder, "", [], wrong, files=files)
    if is_annotated_folder(folder) and not os.path.lexists(folder / BUILD_FILE):
        unknown = f"there is no {RECORD}, so nobody can tell whether the files belong together"
        return Verification(folder, "", [], [unknown])
    record = read_build(folder)
    wanted = read_manifest(manifest) if manifest else None
    problems = record_problems(folder, record)
    found, broken = _recompute(folder, record, problems)
    known = known_facts()
    stated = {b.doc_key: b for b in record.books}
    checks = [_check(k, found.get(k), broken.get(k, []), said, known.get(k)) for k, said in stated.items()]
    more = ((key, facts) for key, facts in found.items() if key not in stated)
    checks += [Checked(k, EXTRA, facts=facts, problems=["not in the build record"]) for k, facts in more]
    checks += [Checked(key, MISSING, problems=[why]) for key, why in record.missing.items()]
    order = {b.doc_key: i for i, b in enumerate(record.books)}
    digest = content_digest(sorted(found.values(), key=lambda b: order.get(b.doc_key, len(order))))
    if not any(c.status == CHANGED for c in checks):
        if digest != record.digest:
            problems.append(f"the build record says digest {record.digest[:16]}…, the content {digest[:16]}…")
        if read_card_digest(folder) != record.digest:
            problems.append("the card (README.md) states another digest than the build record")
    result = Verification(folder, digest, checks, problems, accept_remapped)
    if complete:
        ids = {released_key(b.doc_key).rpartition("_")[2] for b in result.books}
        left = [b["doc_key"] for b in published_books() if b["doc_key"].rpartition("_")[2] not in ids]
        why = "missing, and part of the published data set"
        result.books += [Checked(key, MISSING, problems=[why]) for key in left]
    if wanted:
        _compare(result, wanted)
    return result


def manifest_of(record: BuildRecord) -> dict[str, Any]:
    """The facts of a build that another person's build must share."""
    books = {b.doc_key: {k: v for k in COMPARED if (v := getattr(b, k)) != ""} for b in record.books}
    return {"format": MANIFEST_FORMAT, **attributes(record, "title digest made_with"), "books": books}


def write_manifest(folder: Path, out: Path) -> str:
    """Record a build in `out`; returns its digest. The folder is verified first. Raises DataError: the folder
    does not verify. UsageError: `out` is a file that is not a recorded manifest, or no regular file; it is
    left alone."""
    require_regular(out)
    result = require_sound(folder, "recorded")
    with whole(out):
        write_text(out, json_page(manifest_of(read_build(folder))))
    return result.digest


def require_sound(folder: Path, use: str) -> Verification:
    """What `verify` says of a folder that is to be used. Raises DataError where it does not verify."""
    result = verify(folder)
    if result.exit_code == 4:
        problems = [*result.problems, *(p for b in result.books for p in b.problems)]
        what = f"{folder} does not verify, so it is not {use}"
        raise DataError(what, found="; ".join(problems[:5]), hint="rebuild it first")
    return result


def read_manifest(path: Path) -> dict[str, Any]:
    """Read a file of `write_manifest`."""
    value = read_json(path, 64 << 20)
    check(value, "recorded_manifest", f"{path} is not a recorded manifest")
    books = []
    try:
        for key, facts in value["books"].items():
            if {*facts, "reasons_sha256"} != {*COMPARED}:
                raise ValueError(f"{key[:80]}: other facts than a manifest has")
            books.append(BookFacts.from_dict({"doc_key": key, "gutenberg_key": "", **facts}))
    except ValueError as error:
        what = f"{path} is not a recorded manifest"
        expected = "a file of `bookcoref-data manifest write`"
        raise FormatError(what, expected=expected, found=str(error)) from error
    if content_digest(books) != value["digest"]:
        what = f"{path} contradicts itself: its books do not give its digest"
        hint = "the file was changed or damaged: get it again"
        raise ChecksumError(what, expected=value["digest"][:80], found=content_digest(books), hint=hint)
    return dict(value)


def _recompute(
    folder: Path, record: BuildRecord, problems: list[str]
) -> tuple[dict[str, BookFacts], dict[str, list[str]]]:
    """({doc_key: facts from the parquet files}, {doc_key: what is wrong with its rows}).

    Books and windows lie in the same order, so one book with its windows is in memory at a time. A file
    that cannot be read is a problem; its books are then missing.
    """
    stated = {b.doc_key: b for b in record.books}
    found: dict[str, BookFacts] = {}
    broken: dict[str, list[str]] = {}
    reasons: dict[str, str] = {}
    try:
        reasons = read_reasons(folder)
    except FormatError as error:
        problems.append(error.what)
    for split in SPLITS:
        if not any((folder / config / f"{split}.parquet").is_file() for config in CONFIGS):
            continue
        groups = _windows(folder, split, broken, problems)
        waiting: dict[str, list[StoredBook]] = {}
        for key, book in _readable(folder, "full", split, problems):
            if key in found:
                broken.setdefault(key, []).append(f"it stands twice in the books of full, again in {split}")
                continue
            while key not in waiting and (group := next(groups, None)):
                waiting.setdefault(group[0], []).extend(group[1])
            parts = waiting.pop(key, [])
            if isinstance(book, BookError):
                broken.setdefault(key, []).append(book.what)
                continue
            if not are_parts(parts, book):
                size = sum(part.token_count for part in parts)
                told = f"its {len(parts)} windows hold {size:,} tokens that are not those of the book"
                broken.setdefault(key, []).append(told)
            facts = facts_of(book, parts, split, reasons=reasons.get(key, ""))
            if said := stated.get(key):
                facts = replace(facts, text=said.text, check=said.check, notes=said.notes)
            found[key] = facts
        for key, windows in groups:
            waiting.setdefault(key, []).extend(windows)
        for key, windows in waiting.items():
            broken.setdefault(key, []).append(f"{len(windows)} windows without their book")
    return found, {k: v for k, v in broken.items() if v}


def _windows(
    folder: Path, split: str, broken: dict[str, list[str]], problems: list[str]
) -> Iterator[tuple[str, list[StoredBook]]]:
    """(doc_key, its windows) in the order of the file, "" for rows whose key is not a window's; windows that
    break a rule go into `broken`."""
    rows = _readable(folder, "split", split, problems)
    for key, group in groupby(rows, lambda row: getattr(read_window_key(row[0]), "book", "")):
        windows = []
        for _, book in group:
            if isinstance(book, BookError):
                broken.setdefault(key, []).append(book.what)
            else:
                windows.append(book)
        yield key, windows


def _readable(
    folder: Path, config: str, split: str, problems: list[str]
) -> Iterator[tuple[str, StoredBook | BookError]]:
    """The rows of a file as far as it can be read."""
    if not (folder / config / f"{split}.parquet").is_file():
        return
    try:
        yield from iter_stored(folder, config, split)
    except FormatError as error:
        problems.append(error.what)


def _check(
    key: str, found: BookFacts | None, broken: list[str], stated: BookFacts,
    published: Mapping[str, Any] | None,
) -> Checked:  # fmt: skip
    if found is None:
        return Checked(key, CHANGED if broken else MISSING, problems=broken or ["not in the parquet files"])
    problems = [*broken, *_differences(found, {k: getattr(stated, k) for k in COMPARED}, "build record")]
    tokens_by, spans_by = stated.check, "build record"
    if published and stated.check != "remapped":
        differs = _differences(found, {k: v for k, v in published.items() if k in PUBLISHED}, "publication")
        if not differs:
            tokens_by = "published" if "tokens_sha256" in published else tokens_by
            spans_by = "published" if "spans_sha256" in published else spans_by
        # A build that says it is of another release need not hold the published tokens.
        if stated.check in ("manifest", "given", "release"):
            problems += differs
    return Checked(key, CHANGED if problems else OK, tokens_by, spans_by, found, problems)


def _differences(found: BookFacts, expected: Mapping[str, Any], witness: str) -> list[str]:
    differ = ((name, value) for name, value in expected.items() if getattr(found, name) != value)
    return [f"{n}: {witness} {_short(v)}, found {_short(getattr(found, n))}" for n, v in differ]


def _short(value: Any) -> str:
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return f"{text[:16]}…" if len(text) > 20 else text


def _compare(result: Verification, manifest: Mapping[str, Any]) -> None:
    """Add what differs from a recorded manifest."""
    mine = {b.doc_key: (b, b.facts) for b in result.books if b.facts}
    for key, expected in manifest["books"].items():
        if key not in mine:
            result.books.append(Checked(key, MISSING, problems=["in the manifest, not in this folder"]))
            continue
        check, facts = mine[key]
        if differs := _differences(facts, {"reasons_sha256": "", **expected}, "manifest"):
            check.status = CHANGED
            check.problems += differs
    for key, (check, _) in mine.items():
        if key not in manifest["books"]:
            check.status = EXTRA
            check.problems.append("not in the manifest")
    if result.digest != manifest["digest"] and all(b.status == OK for b in result.books):
        result.problems.append(f"the digest is not the manifest's ({manifest['digest'][:16]}…): other order")


@cache
def published_books() -> list[dict[str, Any]]:
    """The 53 books of the published data set with what is known and what the paper reports of each."""
    return _manifest_books("bookcoref.json")


def known_facts() -> dict[str, dict[str, Any]]:
    """{doc_key: facts known for certain} of the published books and of the embedded sample."""
    books = published_books() + _manifest_books("sample.json")
    return {b["doc_key"]: b["known"] for b in books if "known" in b}


def _manifest_books(name: str) -> list[dict[str, Any]]:
    return list(json.loads(resource("manifests", name).read_text(encoding="utf-8"))["books"])
