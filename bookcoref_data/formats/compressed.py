"""Read and write files that may be gzip or zstd: known by their first bytes, written by their suffix.

What comes out of a compressed file is bounded, so that a small hostile file cannot fill the memory.
"""

import contextlib
import gzip
import io
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Protocol, cast

from ..errors import FormatError
from ..files import read_some, unreadable, writing

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
SUFFIXES = (".gz", ".zst")
PACKED = ("", *SUFFIXES)
"""What may stand behind the name of a file that may be packed."""
_AGAIN = "fetch the file again"

# Text of books and their annotation shrinks 3 to 40 times; a bomb shrinks a thousand times and more.
MAX_RATIO = 250
ALWAYS_ALLOWED = 256 << 20

# A zstd block of 4 bytes can stand for 128 KiB, so this much input gives at most 32 MiB at once.
_ZSTD_PIECE = 1 << 10


def bare_suffix(path: Path) -> str:
    """The suffix of a file name in lower case, `.gz` and `.zst` set aside: `a.jsonl.gz` gives `.jsonl`."""
    name = Path(path.name)
    return (Path(name.stem) if name.suffix.lower() in SUFFIXES else name).suffix.lower()


def bare_stem(path: Path) -> str:
    """The file name without its suffix and without `.gz` or `.zst`: `a.b.jsonl.gz` gives `a.b`."""
    name = Path(path.name)
    return (Path(name.stem) if name.suffix.lower() in SUFFIXES else name).stem


# What was read ahead from pipes and waits for its reader.
_READ_AHEAD: dict[str, bytes] = {}


def is_pipe(path: Path) -> bool:
    """Whether `path` can be read only once: "-" (standard input), a FIFO, `/dev/fd/63`, a terminal."""
    if str(path) == "-":
        return True
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode)


@contextlib.contextmanager
def reading(path: Path, *, again: bool = False) -> Iterator[io.BufferedReader]:
    """Open a file for reading bytes, unpacked if it is gzip or zstd.

    `path` may be a pipe, or "-" for standard input. Such a thing can be read only once: with `again` (to
    see what it holds) its content is kept for the next call.

    Raises SourceError: the file is not there or cannot be read. FormatError: it is cut short, damaged, or
    unpacks to far more than such text can.
    """
    try:
        if is_pipe(path):
            data = _READ_AHEAD.pop(str(path), None)
            data = read_some(path) if data is None else data
            if again:
                _READ_AHEAD[str(path)] = data
            # The buffer can look ahead at any number of bytes, as a file can.
            raw: io.BufferedReader = io.BufferedReader(io.BytesIO(data), max(len(data), 1))
        else:
            raw = path.open("rb")
    except OSError as error:
        raise unreadable(path, error, "check the path and its permissions") from error
    with raw:
        try:
            head = raw.peek(4)[:4]
            size = len(raw.peek()) if is_pipe(path) else path.stat().st_size
            bound = max(ALWAYS_ALLOWED, MAX_RATIO * size)
            if head.startswith(GZIP_MAGIC):
                yield io.BufferedReader(_Bounded(gzip.GzipFile(fileobj=raw), bound, path), 1 << 20)
            elif head == ZSTD_MAGIC:
                yield io.BufferedReader(_Bounded(_ZstdStream(raw, path), bound, path), 1 << 20)
            elif not head and path.suffix.lower() in SUFFIXES:
                raise FormatError(f"{path}: the packed data is cut short", found="nothing", hint=_AGAIN)
            else:
                yield raw
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise FormatError(f"{path}: gzip data damaged or cut short", found=error, hint=_AGAIN) from error


def read_bytes(path: Path) -> bytes:
    """The whole content, unpacked."""
    with reading(path) as stream:
        return stream.read()


@contextlib.contextmanager
def packing(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for writing bytes whole or not at all, packed if its name ends in `.gz` or `.zst`.

    The packed bytes depend on the content alone: no time and no name is stored.
    """
    suffix = path.suffix.lower()
    with writing(path) as stream:
        if suffix == ".gz":
            with gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0, compresslevel=6) as packed:
                yield cast("IO[bytes]", packed)
        elif suffix == ".zst":
            import zstandard

            tool = zstandard.ZstdCompressor(level=9, write_checksum=True)
            with tool.stream_writer(stream, closefd=False) as packed:
                yield packed
        else:
            yield stream


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class _Bounded(io.RawIOBase):
    """Passes bytes through until `bound` is exceeded."""

    def __init__(self, inner: _Readable, bound: int, path: Path) -> None:
        self._inner, self._left, self._bound, self._path = inner, bound, bound, path

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._inner.read(len(buffer))
        self._left -= len(piece)
        if self._left < 0:
            what = f"{self._path}: unpacks to far more than text of its size can"
            hint = "unpack it by hand if you trust it, and give the unpacked file"
            raise FormatError(what, expected=f"at most {self._bound:,} bytes", found="more", hint=hint)
        buffer[: len(piece)] = piece
        return len(piece)


class _ZstdStream:
    """Reads zstd frames one after another and notices a frame that is cut short."""

    def __init__(self, raw: IO[bytes], path: Path) -> None:
        import zstandard

        self._fault = zstandard.ZstdError
        self._new = zstandard.ZstdDecompressor().decompressobj
        self._frame, self._raw, self._path, self._ready, self._rest = self._new(), raw, path, b"", b""
        self._fresh = True

    def read(self, size: int) -> bytes:
        while not self._ready:
            piece = self._rest or self._raw.read(_ZSTD_PIECE)
            self._rest = b""
            if not piece:
                if not self._fresh:
                    raise FormatError(f"{self._path}: the zstd data is cut short", hint=_AGAIN)
                return b""
            try:
                self._ready = self._frame.decompress(piece)
            except self._fault as error:
                raise FormatError(f"{self._path}: damaged zstd data", found=error, hint=_AGAIN) from error
            self._fresh = False
            if self._frame.eof:
                self._rest, self._frame, self._fresh = self._frame.unused_data, self._new(), True
        out, self._ready = self._ready[:size], self._ready[size:]
        return out
