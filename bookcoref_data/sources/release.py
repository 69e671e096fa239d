"""A release of annotations without text, in the layout of the official one.

    bookcoref_annotations/full/<split>.jsonl          offsets over whole books
    bookcoref_annotations/split/<split>_split.jsonl   offsets over windows
    gutenberg_delta.json                              what turns base tokens into released tokens
    sentence_lengths.json                             {gutenberg id: [tokens per sentence]}

Any file may end in `.gz` or `.zst`. Names that are not known for certain are settings (`ReleaseLayout`).
"""

import contextlib
import fnmatch
import io
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import zstandard

from ..errors import FormatError, MissingFileError, SourceError, UsageError, listed
from ..files import check_input, sha256_bytes
from ..formats.compressed import PACKED, reading
from ..stitch.official import MOST_TOKENS
from .store import sha256_once

_PIECE = 1 << 16
_MOST_LENGTHS = 64 << 20  # thirty times those of the whole data set


@dataclass(frozen=True, slots=True)
class ReleaseLayout:
    """Where things lie in a release: glob patterns relative to its folder, tried in order.

    The name of the sentence-length file of the official release is not known for certain, and neither
    is every annotation file's, hence patterns; `split_names` are the words that mark a split in a name.
    """

    annotations: str = "bookcoref_annotations"
    delta: tuple[str, ...] = ("gutenberg_delta.json", "*delta*.json")
    lengths: tuple[str, ...] = ("sentence_lengths.json", "*sentence*len*.json", "*lengths*.json")
    split_names: tuple[tuple[str, str], ...] = (
        ("train", "train"), ("validation", "validation"), ("valid", "validation"), ("val", "validation"),
        ("dev", "validation"), ("test", "test"),
    )  # fmt: skip


@dataclass(frozen=True)
class Release:
    """The files of a release folder; nothing is read before it is asked for."""

    folder: Path
    delta: Path | None
    lengths: Path | None
    annotations: dict[tuple[str, str], Path] = field(default_factory=dict)

    @classmethod
    def open(cls, folder: Path, layout: ReleaseLayout | None = None) -> "Release":
        """Find the files of a release.

        Raises SourceError: no such folder, or nothing of a release in it (the message lists what is there).
        UsageError: several files fit one pattern.
        """
        layout = layout or ReleaseLayout()
        if not folder.is_dir():
            what = f"there is no release folder {folder}"
            hint = "give --release DIR, or leave it out to fetch the official release from the Hub"
            raise MissingFileError(what, expected="a folder with delta and annotations", hint=hint)
        found: dict[tuple[str, str], Path] = {}
        for config in ("full", "split"):
            place = folder / layout.annotations / config
            for path in sorted(place.glob("*.jsonl*")) if place.is_dir() else ():
                split = next((s for word, s in layout.split_names if word in path.name.lower()), None)
                if split is None or (config, split) in found:
                    what = f"cannot tell which split {path} is"
                    expected = "one file per split, named with train, validation (dev) or test"
                    raise UsageError(what, expected=expected, found=_listing(place))
                found[config, split] = path
        delta, lengths = _find(folder, layout.delta, DELTA), _find(folder, layout.lengths, LENGTHS)
        release = cls(folder, delta, lengths, found)
        for path in release.files:
            # A folder, a pipe or a looping link in place of a file is named, not passed over.
            check_input(path)
        if release.delta is None and not release.annotations:
            what = f"{folder} holds no release"
            expected = f"{layout.annotations}/full/*.jsonl and {layout.delta[0]}"
            hint = "name the files with --delta, --lengths and --annotations if they are called otherwise"
            raise SourceError(what, expected=expected, found=_listing(folder), hint=hint)
        return release

    @property
    def files(self) -> list[Path]:
        """All files of the release that are used, in a fixed order."""
        named = [self.annotations[key] for key in sorted(self.annotations)]
        return [*named, *(p for p in (self.delta, self.lengths) if p)]

    def key(self) -> str:
        """Hex sha256 over the names and contents of all files used."""
        lines = [f"{p.relative_to(self.folder).as_posix()} {sha256_once(p)}" for p in self.files]
        return sha256_bytes("\n".join(lines).encode())

    def delta_pieces(self) -> Iterator[str]:
        """The text of the delta in pieces of 64 kB, unpacked on the way."""
        if self.delta is None:
            return
        with reading(self.delta) as stream, io.TextIOWrapper(stream, encoding="utf-8") as text:
            try:
                while piece := text.read(_PIECE):
                    yield piece
            except UnicodeDecodeError as error:
                raise FormatError(f"{self.delta}: not UTF-8", found=str(error)) from error

    def sentence_lengths(self) -> dict[str, list[int]]:
        """{gutenberg id: tokens per sentence}; empty when the release has no such file. Raises FormatError:
        not JSON, or not in that shape."""
        if self.lengths is None:
            return {}
        try:
            with reading(self.lengths) as stream:
                data = bytearray()
                # By pieces: to ask for so many bytes at once would take the memory for all of them.
                while piece := stream.read(1 << 20):
                    data += piece
                    if len(data) > _MOST_LENGTHS:
                        raise FormatError(
                            f"{self.lengths} is too large", expected=f"at most {_MOST_LENGTHS:,} bytes"
                        )
            value: dict[str, list[int]] = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise FormatError(f"{self.lengths}: broken JSON", found=str(error)[:200]) from error
        good = isinstance(value, dict) and all(
            isinstance(v, list) and all(type(n) is int and 0 < n <= MOST_TOKENS for n in v)
            for v in value.values()
        )
        if not good:
            what = f"{self.lengths}: not sentence lengths"
            expected = '{"<gutenberg id>": [positive whole numbers]}'
            raise FormatError(what, expected=expected, hint="name the right file with --lengths")
        return value


DELTA, LENGTHS = "delta", "sentence lengths"
HEAD_BYTES = 1 << 16
_SIGNS = {
    DELTA: re.compile(rb"_iterable_opcodes|iterable_item_(?:added|removed)|values_changed|[\"']root\["),
    LENGTHS: re.compile(rb'\s*\{\s*"\d+"\s*:\s*\[\s*\d+\s*[,\]]'),
}
"""By which the first bytes of a file show what it is: deepdiff's words; {"1342": [12, 30, ..."""


def kind_of(head: bytes) -> str:
    """What a file of a release is by its first bytes (packed or not): DELTA, LENGTHS, or ""."""
    with contextlib.suppress(zlib.error, zstandard.ZstdError):
        if head[:2] == b"\x1f\x8b":
            head = zlib.decompressobj(31).decompress(head)
        elif head[:4] == zstandard.FRAME_HEADER:
            head = zstandard.ZstdDecompressor().decompressobj().decompress(head)
    if _SIGNS[LENGTHS].match(head):
        return LENGTHS
    return DELTA if head.lstrip()[:1] == b"{" and _SIGNS[DELTA].search(head[:HEAD_BYTES]) else ""


def _find(folder: Path, patterns: tuple[str, ...], kind: str) -> Path | None:
    """The one file that fits the first pattern that fits any, packed or not; else the one of that content."""
    names = sorted(p.name for p in folder.iterdir())
    for pattern in patterns:
        fits = [n for n in names if any(fnmatch.fnmatch(n, pattern + end) for end in PACKED)]
        if len(fits) > 1:
            raise UsageError(f"{folder} has several {pattern!r}", found=", ".join(fits), hint="name one")
        if fits:
            return folder / fits[0]
    known = (folder / name for name in names if name.endswith(tuple(f".json{end}" for end in PACKED)))
    alike = []
    for path in filter(Path.is_file, known):
        with path.open("rb") as stream:
            alike += [path] if kind_of(stream.read(HEAD_BYTES)) == kind else []
    return alike[0] if len(alike) == 1 and patterns else None


def _listing(folder: Path) -> str:
    names = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())
    return listed(names) or "no files"
