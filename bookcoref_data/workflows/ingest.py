"""Split a release once into one small part per book, so that one book alone needs only its own files.

A release is up to 208 MB of delta and 30 MB of annotations in a few files. The first rebuild walks
them once, streaming, and keeps per book: `<doc_key>.jsonl` (the record of the full config, then those
of the split config) and `<gutenberg id>.delta` (opcodes in compact form with the sentence lengths). Their
checksums are compared before parts are used again.
"""

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from ..books import Record, read_window_key
from ..errors import DataError, EditionError, FormatError
from ..files import safe_name, sha256_bytes, write_bytes, write_text
from ..formats.jsonl import parse_record
from ..formats.lines import read_lines
from ..progress import Progress, followed
from ..shapes import require_text
from ..sources.release import Release
from ..sources.store import CacheError, Store
from ..stitch.official import delta_to_bytes, read_deltas
from .engine import finished

PART, INDEX = "release", "index.json"


@dataclass(frozen=True, slots=True)
class BookPart:
    """One book of a release as it lies in the cache.

    `annotation` is the name of its record file ("" in a release without annotations), `delta` that of
    its opcodes ("" when the record holds its own text), `pack` that of a pack that holds both; `key` is
    the sha256 of the contents. `bare`: the release has windows of other books of this split, and none of it.
    """

    doc_key: str
    gutenberg_key: str
    split: str
    annotation: str
    delta: str
    key: str
    pack: str = ""
    bare: bool = False


def ingest(release: Release, store: Store, doc_keys: dict[str, str]) -> tuple[Path, list[BookPart]]:
    """The folder of a release that is split, now or before, and its books.

    `doc_keys` maps Gutenberg ids to document keys, for a release that has a delta but no annotations. Raises
    FormatError, EditionError: the release is damaged or contradicts itself; nothing is left behind.
    """

    def split(folder: Path) -> None:
        parts = _split(release, folder, store.progress, doc_keys)
        write_text(folder / INDEX, json.dumps(list(map(asdict, parts))), at_once=True)

    done = finished(store, PART, release.key()[:32], split)
    if done.repaired:
        store.progress.note(f"the release was split again: {done.folder} was not as it was written")
    parts = json.loads((done.folder / INDEX).read_text(encoding="utf-8"))
    return done.folder, [BookPart(**part) for part in parts]


def _split(release: Release, work: Path, progress: Progress, doc_keys: dict[str, str]) -> list[BookPart]:
    # `<id>.delta` of each book: {id: (file name, sha256)}.
    deltas: dict[str, tuple[str, str]] = {}
    if release.delta is not None:
        lengths = release.sentence_lengths()
        read = read_deltas(release.delta_pieces(), str(release.delta))
        for delta in followed(read, progress, "release", len(lengths) or None, "books"):
            gid = delta.gutenberg_id
            if gid not in lengths:
                what = f"the release has a delta but no sentence lengths for book {gid}"
                expected = f"the key {gid!r} in {release.lengths or 'a file of sentence lengths'}"
                hint = "name the right file with --lengths"
                raise EditionError(what, expected=expected, found=f"{len(lengths)} other books", hint=hint)
            data = delta_to_bytes(delta, lengths[gid])
            write_bytes(work / f"{gid}.delta", data)
            deltas[gid] = (f"{gid}.delta", sha256_bytes(data))
    if not release.annotations:
        books = ((doc_keys.get(gid, f"book_{gid}"), gid, *part) for gid, part in deltas.items())
        return [BookPart(doc_key, gid, "train", "", name, key) for doc_key, gid, name, key in books]
    return _split_annotations(release, work, deltas)


def _split_annotations(release: Release, work: Path, deltas: dict[str, tuple[str, str]]) -> list[BookPart]:
    # The lines of the split config sorted by book into files: {doc_key: file}.
    folder = work / "windows"
    folder.mkdir()
    windows: dict[str, Path] = {}
    cut = set()
    for split, source, line, record in records_of(release, "split"):
        window = read_window_key(record.doc_key)
        if window is None:
            expected = "<doc_key>_split<size>_S<number of its first sentence>"
            raise FormatError(f"{source}: {record.doc_key!r} is not the key of a window", expected=expected)
        cut.add(split)
        name = safe_name(window.book, f"{source}: the document key")
        windows[window.book] = path = folder / f"{name}.jsonl"
        with (
            CacheError.around(path.parent),
            open(path, "a", encoding="utf-8", errors="surrogatepass", newline="\n") as stream,
        ):
            stream.write(line + "\n")
    parts: list[BookPart] = []
    seen: dict[str, str] = {}
    for split, source, line, record in records_of(release, "full"):
        key = safe_name(record.doc_key, f"{source}: the document key")
        if key in seen:
            what = f"{source}: document {key!r} comes twice"
            hint = "remove one of the two lines"
            raise FormatError(what, expected="each doc_key once", found=f"first at {seen[key]}", hint=hint)
        seen[key] = source
        gid = record.gutenberg_key or key.rpartition("_")[2]
        if not re.fullmatch("[0-9]{1,9}", gid):
            what = f"{source}: the document has no Gutenberg id"
            raise FormatError(what, expected="gutenberg_key, digits ('0' for none)", found=repr(gid[:40]))
        delta, delta_key = ("", "") if record.sentences is not None else deltas.get(gid, ("", ""))
        lines = [line]
        if key in windows:
            text = windows[key].read_text(encoding="utf-8", errors="surrogatepass")
            lines += text.removesuffix("\n").split("\n")
        data = "\n".join(lines).encode("utf-8", "surrogatepass")
        write_bytes(work / f"{key}.jsonl", data)
        content = sha256_bytes(f"{sha256_bytes(data)} {delta_key}".encode())
        bare = split in cut and key not in windows
        parts.append(BookPart(key, gid, split, f"{key}.jsonl", delta, content, bare=bare))
    orphans = sorted(set(windows) - set(seen))
    if orphans:
        raise DataError(
            f"the split annotations have windows of books that the full ones lack: {', '.join(orphans[:5])}",
            expected="windows named <doc_key>_split<size>_S<sentence>",
            hint="both configs must come from the same release",
        )
    shutil.rmtree(work / "windows", ignore_errors=True)
    return parts


def records_of(release: Release, config: str) -> Iterator[tuple[str, str, str, Record]]:
    """(split, place, line, record) of every document of a configuration, its text checked."""
    for (name, split), path in release.annotations.items():
        for number, line in enumerate(read_lines(path) if name == config else (), 1):
            if line and not line.isspace():
                record = parse_record(line, source := f"{path}:{number}")
                words = [record.doc_key, *(name for name, _ in record.characters)]
                words += [token for sentence in record.sentences or () for token in sentence]
                what = f"{record.source}: a name or a token is no text"
                require_text(words, what, "the release is damaged; fetch it again")
                yield split, source, line, record
