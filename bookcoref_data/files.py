"""Files written whole or not at all, hashed while they are read, named so that data cannot escape.

The only helpers for disk that every room may use.
"""

import contextlib
import errno
import glob
import hashlib
import json
import os
import re
import secrets
import stat
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any

from .errors import DataError, FormatError, MissingFileError, SourceError, UsageError, WrongFileError
from .guard import require_regular

NO_SPACE = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG}
# Windows has devices of these names, whatever stands behind the first dot, and drops a dot at the end.
_SAFE_NAME = re.compile(
    r"(?!(?i:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|\Z))[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9_-])?\Z"
)


def path_of(value: str | os.PathLike[str]) -> Path:
    """A path as the user gave it, "~" expanded.

    Raises UsageError: "~name" of somebody who has no home here.
    """
    try:
        return Path(value).expanduser()
    except RuntimeError as error:
        told = f"there is no home folder for {os.fspath(value)[:100]}"
        raise UsageError(told, found=error, hint="give the path without ~") from error


WAITING: ContextVar[Callable[[Path], Path | None] | None] = ContextVar("waiting", default=None)
"""Where a file waits that belongs to the output of a verb; set by `outputs`."""


@contextlib.contextmanager
def writing(path: Path, mode: str = "wb", *, at_once: bool = False) -> Iterator[IO[Any]]:
    """Open a temporary file beside `path`; on success move it into place, on any failure remove it.

    Readers see the old content or the new, never half of it; two processes writing the same path leave
    one of the two whole. Text modes are UTF-8 with "\\n" line ends. A symbolic link is followed. An output of
    the verb that runs (`outputs`) waits for its end, unless it must be seen `at_once`.

    Raises UsageError: `path` is a folder, a pipe or a device. SourceError: the folder cannot be written
    (names the folder and the way to move the cache), or the disk is full.
    """
    require_regular(path)
    waiting = WAITING.get()
    place = waiting(path) if waiting is not None and not at_once else None
    real = place or Path(os.path.realpath(path))
    part = real.with_name(f".{real.name[:80]}.{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        real.parent.mkdir(parents=True, exist_ok=True)
        if at_once:
            _sweep(real)
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    except OSError as error:
        raise cannot_write(path.parent, error) from error
    try:
        as_text: dict[str, Any] = {} if "b" in mode else {"encoding": "utf-8", "newline": "\n"}
        with os.fdopen(handle, mode, **as_text) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if real.exists():
            os.chmod(part, stat.S_IMODE(real.stat().st_mode))
        os.replace(part, real)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(part)
        if isinstance(error, OSError) and error.errno in NO_SPACE:
            raise cannot_finish(path, error) from error
        raise


def _sweep(path: Path) -> None:
    """Remove what a killed process of this machine left of the file `path`."""
    for part in path.parent.glob(f".{glob.escape(path.name[:80])}.*-*.part"):
        number = part.name.removeprefix(f".{path.name[:80]}.").partition("-")[0]
        if is_dead(number):
            part.unlink(missing_ok=True)


def is_dead(process: str) -> bool:
    """Whether no process of this number runs here; False where that cannot be told."""
    if os.name != "posix" or not process.isdecimal():  # elsewhere one cannot look without ending it
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        pass
    return False


def cannot_write(folder: Path, error: OSError) -> SourceError:
    """The error for a folder that cannot be written."""
    return SourceError(
        f"cannot write to {folder}", found=error.strerror or str(error),
        hint="choose another folder, or move the cache with BOOKCOREF_DATA_HOME or --cache-dir",
    )  # fmt: skip


def cannot_finish(path: Path, error: OSError) -> SourceError:
    """The error for a write that broke off; what was there before is there still."""
    space = "free some space, or move the cache with BOOKCOREF_DATA_HOME or --cache-dir, and "
    first = space if error.errno in NO_SPACE else ""
    return SourceError(
        f"cannot finish writing {path}", found=error.strerror or str(error),
        hint=f"{first}run the command again; nothing half-written was left",
    )  # fmt: skip


def write_bytes(path: Path, data: bytes, *, at_once: bool = False) -> None:
    """Write `data` to `path` whole or not at all."""
    with writing(path, at_once=at_once) as stream:
        stream.write(data)


def write_text(path: Path, text: str, *, at_once: bool = False) -> None:
    """Write `text` as UTF-8 to `path` whole or not at all. Raises DataError: half a surrogate pair in it."""
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        what = f"cannot write {path}: half a surrogate pair is no text"
        raise DataError(what, found=repr(text[error.start :][:20])) from error
    write_bytes(path, data, at_once=at_once)


def unreadable(path: Path, error: Exception, hint: str = "check the path") -> SourceError:
    """What is raised for an input that cannot be opened."""
    kind = MissingFileError if isinstance(error, FileNotFoundError) else SourceError
    reason = getattr(error, "strerror", None) or str(error)
    return kind(f"cannot read {path}", expected="a file", found=reason, hint=hint)


def check_input(path: Path) -> int:
    """The length of an input file, which must be a regular file: a pipe or a device may never end.

    Raises SourceError: there is no such file, it cannot be looked at, or it is something else.
    """
    try:
        facts = path.stat()
    except (OSError, ValueError) as error:
        raise unreadable(path, error, "check the path and its permissions") from error
    if not stat.S_ISREG(facts.st_mode):
        kind = "a folder" if stat.S_ISDIR(facts.st_mode) else "a pipe, a device or a socket"
        raise SourceError(
            f"cannot read {path}", expected="a regular file", found=kind,
            hint="give a file; write the output of another program to a file first",
        )  # fmt: skip
    return facts.st_size


def read_regular(path: Path, most: int) -> bytes:
    """The whole content of a regular file of at most `most` bytes.

    Raises SourceError: as `check_input`. DataError: the file is larger.
    """
    size = check_input(path)
    if size > most:
        raise DataError(f"{path} is too large", expected=f"at most {most:,} bytes", found=f"{size:,} bytes")
    try:
        return path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from error


_NO_TEXT = re.compile(rb"[\x00-\x06\x0e-\x19]")
"""Bytes that stand in pictures, archives and programs, in no text."""


def utf8(data: bytes, path: Path, line: int = 0, begins: bytes = b"") -> str:
    """The text of a file without its byte order mark, or of its line `line`, where the file `begins` so.

    Raises WrongFileError: it is no text at all. FormatError: a byte is not UTF-8 (file and line).
    """
    data = data.removeprefix(b"\xef\xbb\xbf") if line <= 1 else data
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        start = data.rfind(b"\n", 0, error.start) + 1
        place = f"{path}:{line or data.count(10, 0, start) + 1}"
        hint = "convert it to UTF-8 (iconv -f ... -t utf-8), or check that it is the right file"
        if data.startswith((b"\xff\xfe", b"\xfe\xff")) and line <= 1:
            raise FormatError(f"{place}: is UTF-16 text", expected="UTF-8", hint=hint) from error
        found = f"byte 0x{data[error.start]:02x} at byte {error.start - start + 1} of the line"
        if control := _NO_TEXT.search(begins or data[:4096]):
            raise WrongFileError(
                f"{path} is not a text file", expected="text in UTF-8",
                found=f"byte {control[0][0]:#04x}, which no text has", hint="is it the right file?",
            ) from error  # fmt: skip
        raise FormatError(f"{place}: is not UTF-8 text", expected="UTF-8", found=found, hint=hint) from error


def read_some(path: Path, most: int = 1 << 30) -> bytes:
    """The whole content of a file, a pipe or "-" (standard input), of at most `most` bytes.

    Raises SourceError: it cannot be read. DataError: it is longer, or never ends.
    """
    try:
        with contextlib.nullcontext(sys.stdin.buffer) if str(path) == "-" else open(path, "rb") as stream:
            pieces = []
            while most >= 0 and (piece := stream.read(1 << 20)):
                pieces.append(piece)
                most -= len(piece)
    except OSError as error:
        raise unreadable(path, error) from error
    if most < 0:
        raise DataError(f"{path} is too large", found="no end in sight", hint="is this the right file?")
    return b"".join(pieces)


def sha256_file(path: Path) -> str:
    """Hex sha256 of a file, read in pieces of 1 MiB."""
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        while piece := stream.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def sha256_bytes(data: bytes) -> str:
    """Hex sha256 of bytes."""
    return hashlib.sha256(data).hexdigest()


def json_page(value: object) -> str:
    """A value as JSON that a person can read."""
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def seal_of(value: dict[str, Any]) -> str:
    """The sha256 of a page of JSON without the end of its last line."""
    return sha256_bytes(json_page(value).rstrip().encode())


def sealed(value: dict[str, Any]) -> str:
    """Facts as a page of JSON, whose last entry is the seal of the page without it."""
    return json_page(value | {"sha256": seal_of(value)})


def key_of(path: Path) -> str:
    """The document key of a text file, by its name; one in another script than Latin has a digest behind."""
    key = re.sub(r"[^A-Za-z0-9._-]+", "_", path.stem).strip("._-") or "book"
    if not re.search("[A-Za-z]", path.stem) and any(map(str.isalpha, path.stem)):
        key += f"-{sha256_bytes(unicodedata.normalize('NFC', path.stem).encode())[:8]}"
    return key[:150]


def safe_name(name: str, what: str) -> str:
    """Return `name` if it can be one component of a path, else refuse it.

    Names that come from data (document keys, ids, file names in an index) pass here before they touch
    a path: letters, digits, `.`, `_`, `-`, no leading dot.

    Raises DataError: anything else ("../x", "a/b", "", control characters, over 200 characters).
    """
    if len(name) > 200 or not _SAFE_NAME.match(name):
        raise DataError(
            f"{what} {name!r} cannot be used as a file name",
            expected="letters, digits, '.', '_', '-', no '.' at the ends, no name of a device such as CON or "
            "AUX.TXT, at most 200 characters",
            hint="rename it in the data; nothing was written",
        )
    return name
