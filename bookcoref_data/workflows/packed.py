"""Packs as releases: the books of a pack folder, and annotation carried over to another edition."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..books import Book, split_book
from ..books.windows import windows_at
from ..errors import ChecksumError, DataError
from ..files import read_regular, safe_name, sha256_bytes
from ..publishing.rights import header_says_free
from ..shapes import attributes, check, read_json
from ..stitch.container import read_directory
from ..stitch.pack import Pack, make_pack, read_pack
from ..stitch.remap import RemapReport
from ..stitch.spans import Standoff
from .ingest import BookPart

SUFFIX = ".pack"
INDEX = "index.json"
INDEX_FORMAT = 1
LICENCE = "CC BY-NC-SA 4.0"
ATTRIBUTION = (
    "Annotation of BookCoref: Martinelli, Bonomo, Huguet Cabot, Navigli (ACL 2025), "
    "https://aclanthology.org/2025.acl-long.1197/, converted to standoff offsets"
)
MOST_FILE_BYTES = 64 << 20
MOST_NAMED = 12


def is_pack_release(path: Path) -> bool:
    """Whether `path` is a pack file or a folder of packs."""
    return path.suffix == SUFFIX or (path.is_dir() and next(path.glob(f"*{SUFFIX}"), None) is not None)


def pack_parts(path: Path) -> tuple[Path, list[BookPart]]:
    """The folder of a pack release and its books, in the order of its index."""
    parts = [
        BookPart(e["doc_key"], e["gutenberg_key"], e["split"] or "test", "", "", e["sha256"], e["file"])
        for e in _entries(path)
    ]
    keys = [p.doc_key for p in parts]
    if twice := sorted({k for k in keys if keys.count(k) > 1}):
        raise DataError(f"{path} holds two packs of {', '.join(twice)}", hint="remove one of them")
    return path if path.is_dir() else path.parent, parts


def makers_of_packs(path: Path) -> set[tuple[str, str]]:
    """(licence, attribution) of the annotation of each pack; one that cannot be read tells nothing."""
    return {(entry.get("licence", ""), entry.get("attribution", "")) for entry in _entries(path)}


def _entries(path: Path) -> list[dict[str, str]]:
    """The index of a folder of packs; without one, or of a single pack, what each says of itself."""
    if (path / INDEX).is_file():
        return read_index(path)
    entries = []
    for file in pack_files(path):
        data = _read(file)
        try:
            pack = read_pack(data, str(file))
            told = attributes(pack, "doc_key gutenberg_key split licence attribution")
        except DataError:  # a damaged pack stops no other: it goes by the name of its file
            book = safe_name(file.name.removesuffix(SUFFIX), "pack")
            told = {"doc_key": book, "gutenberg_key": book.rpartition("_")[2], "split": ""}
        entries.append({**told, "file": file.name, "sha256": sha256_bytes(data)})
    return entries


def remap_notes(report: RemapReport) -> list[str]:
    """What the card says of a remapped book: in total, per character, and the first that was lost."""
    total = report.total
    lines = [
        f"REMAPPED onto another edition, its tokens are not the released ones: of {total.total:,} mentions "
        f"{total.kept:,} kept, {total.moved:,} moved with their passage, {total.changed:,} with changed "
        f"words, {total.lost:,} lost ({total.kept_share:.2%} kept whole)"
    ]
    worst = sorted(report.characters, key=lambda t: (-(t.lost + t.changed), t.name))
    named = [f"{t.name} {t.kept + t.moved:,}/{t.total:,}" for t in worst[:MOST_NAMED] if t.lost + t.changed]
    if named:
        lines.append("kept whole by character, worst first: " + "; ".join(named))
    shown = []
    for e in report.examples[:3]:
        # A pack does not know the old words, so there their place stands for them.
        words = dict.fromkeys(f"“{text}”" for text in (e.old_text, e.new_text) if text)
        told = " -> ".join(words) or f"tokens {e.old.start}-{e.old.end} of the release"
        shown.append(f"{e.character}: {told} {e.status}")
    return lines + (["for example " + "; ".join(shown)] if shown else []) + list(report.warnings)


def read_released(path: Path, sha256: str) -> Pack:
    """A pack of a release."""
    data = _read(path)
    if sha256_bytes(data) != sha256:
        what = f"{path} is not the pack that its index names"
        expected = f"sha256 {sha256[:16]}…"
        found = f"sha256 {sha256_bytes(data)[:16]}…"
        raise ChecksumError(what, expected=expected, found=found, hint="get the folder of packs again")
    return read_pack(data, str(path))


def pack_book(
    book: Book, windows: Sequence[Book], text: str, *, public_domain: bool | None = None,
    licence: str = LICENCE, attribution: str = ATTRIBUTION, **how: Any,
) -> bytes:  # fmt: skip
    """The pack of a built book and its windows, made from the decoded source text; `how` are more arguments
    of `make_pack`. Raises DataError: the text is not the book's (the pack would have to hold it), or the
    windows are no partition of its sentences."""
    counts = [len(w.sentence_ends) for w in windows]
    firsts = [sum(counts[:i]) for i in range(len(counts))]
    if windows and (sum(counts) != len(book.sentence_ends) or any(c == 0 for c in counts)):
        what = f"{book.doc_key}: its windows are no partition of its sentences"
        raise DataError(what, expected=len(book.sentence_ends), found=sum(counts))
    # Annotations of the windows whose spans are not just those of the book.
    own: dict[int, Standoff] = {}
    if windows:
        made = split_book(book, windows=windows_at(firsts, book.sentence_ends)).books
        pairs = enumerate(zip(windows, made, strict=True))
        own = {i: Standoff.of(had) for i, (had, cut) in pairs if Standoff.of(had) != Standoff.of(cut)}
    return make_pack(
        text, book.sentences, doc_key=book.doc_key, gutenberg_key=book.gutenberg_key,
        annotation=Standoff.of(book), window_annotations=own, licence=licence, attribution=attribution,
        windows=[(w.doc_key, first) for w, first in zip(windows, firsts, strict=True)],
        public_domain=bool(header_says_free(text)) if public_domain is None else public_domain, **how,
    )  # fmt: skip


def pack_files(path: Path) -> list[Path]:
    """`path` itself, or the packs of a folder in the order of its index."""
    if not path.is_dir():
        return [path]
    if not (path / INDEX).is_file():
        return sorted(path.glob(f"*{SUFFIX}"))
    return [path / entry["file"] for entry in read_index(path)]


def read_index(path: Path) -> list[dict[str, str]]:
    """The entries of the index in a folder of packs, their names and checksums checked."""
    index = path / INDEX
    value = read_json(index, MOST_FILE_BYTES)
    check(value, "pack_index", str(index))
    entries: list[dict[str, str]] = value["packs"]
    for entry in entries:
        safe_name(entry["file"], f"{index}: file")
        safe_name(entry["doc_key"], f"{index}: document key")
    return entries


def _read(path: Path) -> bytes:
    return read_regular(path, MOST_FILE_BYTES)


def describe(path: Path) -> dict[str, Any]:
    """What is in a pack: counts, checksums, bytes per section. Shows no text but the literals' size."""
    data = _read(path)
    pack = read_pack(data, str(path))
    directory, _ = read_directory(data, str(path))
    return {
        "file": path.name, "bytes": len(data), **attributes(pack, "doc_key gutenberg_key split"),
        "source": {"name": pack.source_name, "sha256": pack.source_sha256},
        "tokens": pack.token_count, "sentences": pack.sentence_count, "tokens_sha256": pack.tokens_sha256,
        "clusters": len(pack.annotation.clusters), "mentions": sum(map(len, pack.annotation.clusters)),
        "characters": [name for name, _ in pack.annotation.characters], "windows": len(pack.windows),
        "windows_with_own_spans": len(pack.window_annotations), "edits": len(pack.edits.keep),
        "literal_characters": pack.literal_characters,
        "literal_share": pack.literal_characters / max(pack.visible_count, 1),
        "longest_literal": pack.edits.longest_literal,
        "fingerprint_bits": pack.fingerprint.bits if pack.fingerprint else 0, "licence": pack.licence,
        "attribution": pack.attribution, "sections": {name: stored for name, _, _, stored in directory},
    }  # fmt: skip
