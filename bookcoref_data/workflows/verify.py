"""Prove that a dataset folder is right and whole: recompute everything, compare with what is known.

Three witnesses are asked: the folder's own build record (was anything changed since?), the manifest of
published facts (are these the released tokens?), and a recorded manifest of somebody else's build.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..books import Book
from ..books.facts import BookFacts, content_digest, facts_of
from ..errors import BookError, DataError, FormatError, UsageError
from ..files import sha256_file, write_text
from ..formats.folder import BuildRecord, iter_folder, read_build, read_card_digest
from ..formats.schema import CONFIGS, SPLITS
from ..guard import require_new_or_own
from ..resources import resource
from .ingest import SPLIT_MARK

MANIFEST_FORMAT = 1
# What two builds of the same book must share; where the text came from may differ.
COMPARED = (
    "split", "tokens", "sentences", "characters", "clusters", "mentions", "tokens_sha256", "spans_sha256",
    "document_sha256", "windows", "windows_sha256",
)  # fmt: skip
PUBLISHED = ("tokens", "sentences", "tokens_sha256", "windows", "clusters", "mentions", "spans_sha256")

OK, CHANGED, MISSING, EXTRA = "ok", "changed", "missing", "extra"


@dataclass(slots=True)
class BookCheck:
    """What was found of one book. `proof` says what its tokens were compared with."""

    doc_key: str
    status: str
    proof: str = ""
    facts: BookFacts | None = None
    problems: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        return {
            "doc_key": self.doc_key,
            "status": self.status,
            "proof": self.proof,
            "problems": self.problems,
            "facts": self.facts.to_dict() if self.facts else None,
        }


@dataclass(slots=True)
class Verification:
    """The result of `verify`: one check per book, and problems of the folder as a whole."""

    folder: Path
    digest: str
    books: list[BookCheck]
    problems: list[str] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """0 all right, 4 some content is not what its checksum says, 1 something is missing."""
        states = {b.status for b in self.books}
        if CHANGED in states or self.problems:
            return 4
        return 1 if states & {MISSING, EXTRA} else 0

    def to_dict(self) -> dict[str, Any]:
        return {
            "folder": str(self.folder),
            "digest": self.digest,
            "exit_code": self.exit_code,
            "problems": self.problems,
            "books": [b.to_dict() for b in self.books],
        }


def verify(folder: Path, *, manifest: Path | None = None, complete: bool = False) -> Verification:
    """Read the whole folder, recompute counts and checksums of every book, compare.

    `manifest` is a file of `write_manifest` to compare with; `complete` demands all 53 published books.

    Raises:
        FormatError: not a dataset folder, or files that cannot be read.
    """
    record = read_build(folder)
    problems = _file_problems(folder, record)
    found, broken = _recompute(folder, record)
    known = known_facts()
    checks = [
        _check(doc_key, found.get(doc_key), broken.get(doc_key, []), stated, known.get(doc_key))
        for doc_key, stated in {b.doc_key: b for b in record.books}.items()
    ]
    checks += [
        BookCheck(key, EXTRA, facts=facts, problems=["not in the build record"])
        for key, facts in found.items()
        if key not in {b.doc_key for b in record.books}
    ]
    checks += [BookCheck(key, MISSING, problems=[why]) for key, why in record.missing.items()]
    digest = content_digest(_in_order(found.values(), record))
    if not any(c.status == CHANGED for c in checks):
        if digest != record.digest:
            problems.append(f"the build record says digest {record.digest[:16]}…, the content {digest[:16]}…")
        if read_card_digest(folder) != record.digest:
            problems.append("the card (README.md) states another digest than the build record")
    result = Verification(folder, digest, checks, problems)
    if complete:
        _demand_all(result)
    if manifest:
        _compare(result, read_manifest(manifest))
    return result


def manifest_of(record: BuildRecord) -> dict[str, Any]:
    """The facts of a build that another person's build must share."""
    return {
        "format": MANIFEST_FORMAT,
        "title": record.title,
        "digest": record.digest,
        "made_with": record.made_with,
        "books": {b.doc_key: {k: getattr(b, k) for k in COMPARED} for b in record.books},
    }


def write_manifest(folder: Path, out: Path) -> str:
    """Record a build in `out`; returns its digest. The folder is verified first.

    Raises:
        DataError: the folder does not verify.
        UsageError: `out` is a file that is not a recorded manifest, or no regular file; it is left alone.
    """
    require_new_or_own(out, read_manifest, "a recorded manifest")
    result = verify(folder)
    if result.exit_code == 4:
        raise DataError(
            f"{folder} does not verify, so it is not recorded",
            found="; ".join([*result.problems, *(p for b in result.books for p in b.problems)][:5]),
            hint="rebuild it first",
        )
    write_text(out, json.dumps(manifest_of(read_build(folder)), ensure_ascii=False, indent=1) + "\n")
    return result.digest


def read_manifest(path: Path) -> dict[str, Any]:
    """Read a file of `write_manifest`. Raises UsageError, FormatError."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read the manifest {path}", found=error.strerror) from error
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path} is not JSON", found=str(error)[:200]) from error
    if not _is_manifest(value):
        raise FormatError(
            f"{path} is not a recorded manifest", expected="a file of `bookcoref-data manifest write`"
        )
    return value


def _is_manifest(value: Any) -> bool:
    """Whether it has the shape of a manifest and not that of a build record, which has a digest, too."""
    return (
        isinstance(value, dict)
        and value.keys() == {"format", "title", "digest", "made_with", "books"}
        and value["format"] == MANIFEST_FORMAT
        and isinstance(value["digest"], str)
        and isinstance(value["books"], dict)
        and all(isinstance(facts, dict) for facts in value["books"].values())
    )


def _file_problems(folder: Path, record: BuildRecord) -> list[str]:
    """Files that the record names and that are gone or altered, and parquet files that it does not name."""
    problems = []
    for name, facts in record.files.items():
        path = folder / name
        if not path.is_file():
            problems.append(f"{name} is missing")
        elif sha256_file(path) != facts["sha256"]:
            problems.append(f"{name} was changed since it was written")
    named = set(record.files)
    strays = {f"{c}/{p.name}" for c in CONFIGS for p in (folder / c).glob("*.parquet")} - named
    return problems + [f"{name} is not in the build record" for name in sorted(strays)]


def _recompute(folder: Path, record: BuildRecord) -> tuple[dict[str, BookFacts], dict[str, list[str]]]:
    """({doc_key: facts from the parquet files}, {doc_key: what is wrong with its rows})."""
    windows: dict[str, list[Book]] = {}
    broken: dict[str, list[str]] = {}
    configs = [(c, [s for s in SPLITS if (folder / c / f"{s}.parquet").is_file()]) for c in ("split", "full")]
    found: dict[str, BookFacts] = {}
    for config, splits in configs:
        for split, row in iter_folder(folder, config, splits) if splits else ():
            key = row.doc_key.rpartition(SPLIT_MARK)[0] if config == "split" else row.doc_key
            try:
                book = row.to_book()
            except BookError as error:
                broken.setdefault(key, []).append(error.what)
                continue
            if config == "split":
                windows.setdefault(key, []).append(book)
            else:
                parts = windows.pop(key, [])
                broken.setdefault(key, []).extend(_partition_problems(book, parts))
                found[key] = facts_of(book, parts, split)
    for key, parts in windows.items():
        broken.setdefault(key, []).append(f"{len(parts)} windows without their book")
    return found, {k: v for k, v in broken.items() if v}


def _partition_problems(book: Book, windows: list[Book]) -> Iterable[str]:
    """The windows of a book must hold its tokens, each once, in order."""
    together = tuple(token for window in windows for token in window.tokens)
    if together != book.tokens:
        yield f"its {len(windows)} windows hold {len(together):,} tokens that are not those of the book"


def _check(
    key: str,
    found: BookFacts | None,
    broken: list[str],
    stated: BookFacts,
    published: Mapping[str, Any] | None,
) -> BookCheck:
    if found is None:
        return BookCheck(key, CHANGED if broken else MISSING, problems=broken or ["not in the parquet files"])
    problems = [*broken, *_differences(found, {k: getattr(stated, k) for k in COMPARED}, "build record")]
    proof = stated.check
    if published and stated.check != "remapped":
        differs = _differences(found, {k: v for k, v in published.items() if k in PUBLISHED}, "publication")
        proof = "published" if not differs else stated.check
        # A build that says it is of another release need not hold the published tokens.
        if stated.check in ("manifest", "given", "release"):
            problems += differs
    return BookCheck(key, CHANGED if problems else OK, proof, found, problems)


def _differences(found: BookFacts, expected: Mapping[str, Any], witness: str) -> list[str]:
    return [
        f"{name}: {witness} {_short(value)}, found {_short(getattr(found, name))}"
        for name, value in expected.items()
        if getattr(found, name) != value
    ]


def _short(value: Any) -> str:
    return (
        f"{value:,}" if isinstance(value, int) else f"{str(value)[:16]}…" if len(str(value)) > 20 else value
    )


def _demand_all(result: Verification) -> None:
    ids = {b.doc_key.rpartition("_")[2] for b in result.books}
    for key in (b["doc_key"] for b in published_books()):
        if key.rpartition("_")[2] not in ids:
            result.books.append(BookCheck(key, MISSING, problems=["a book of the published data set"]))


def _compare(result: Verification, manifest: Mapping[str, Any]) -> None:
    """Add what differs from a recorded manifest."""
    if result.digest == manifest["digest"]:
        return
    mine = {b.doc_key: b for b in result.books if b.facts}
    facts = {b.doc_key: b.facts for b in result.books if b.facts}
    for key, expected in manifest.get("books", {}).items():
        if key not in mine:
            result.books.append(BookCheck(key, MISSING, problems=["in the manifest, not in this folder"]))
        elif differs := _differences(facts[key], expected, "manifest"):
            mine[key].status = CHANGED
            mine[key].problems += differs
    for key, check in mine.items():
        if key not in manifest.get("books", {}):
            check.status = EXTRA
            check.problems.append("not in the manifest")
    if all(b.status == OK for b in result.books):
        result.problems.append(f"the digest is not the manifest's ({manifest['digest'][:16]}…): other order")


def _in_order(found: Iterable[BookFacts], record: BuildRecord) -> list[BookFacts]:
    order = {b.doc_key: i for i, b in enumerate(record.books)}
    return sorted(found, key=lambda b: order.get(b.doc_key, len(order)))


def published_books() -> list[dict[str, Any]]:
    """The 53 books of the published data set with what is known and what the paper reports of each."""
    return _manifest_books("bookcoref.json")


def known_facts() -> dict[str, dict[str, Any]]:
    """{doc_key: facts known for certain} of the published books and of the embedded sample."""
    books = published_books() + _manifest_books("sample.json")
    return {b["doc_key"]: b["known"] for b in books if "known" in b}


def _manifest_books(name: str) -> list[dict[str, Any]]:
    return json.loads(resource("manifests", name).read_text(encoding="utf-8"))["books"]
