"""Files written whole or not at all, hashed while they are read, named so that data cannot escape.

The only helpers for disk that every room may use.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from .errors import DataError, SourceError, UsageError
from .guard import require_regular

_NO_SPACE = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG}
_SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\Z")


def path_of(value: str | os.PathLike[str]) -> Path:
    """A path as the user gave it, "~" expanded.

    Raises:
        UsageError: "~name" of somebody who has no home here.
    """
    try:
        return Path(value).expanduser()
    except RuntimeError as error:
        raise UsageError(
            f"there is no home folder for {os.fspath(value)[:100]}",
            found=str(error),
            hint="give the path without ~",
        ) from error


@contextlib.contextmanager
def writing(path: Path, mode: str = "wb") -> Iterator[IO]:
    """Open a temporary file beside `path`; on success move it into place, on any failure remove it.

    Readers see the old content or the new, never half of it; two processes writing the same path leave
    one of the two whole. Text modes are UTF-8 with "\\n" line ends. A symbolic link is followed.

    Raises:
        UsageError: `path` is a folder, a pipe or a device.
        SourceError: the folder cannot be written (names the folder and the way to move the cache), or
            the disk is full.
    """
    text = "b" not in mode
    require_regular(path)
    path = Path(os.path.realpath(path)) if path.is_symlink() else path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:80]}.", suffix=".part", dir=path.parent)
    except OSError as error:
        raise SourceError(
            f"cannot write to {path.parent}",
            found=error.strerror or str(error),
            hint="choose another folder, or move the cache with BOOKCOREF_DATA_HOME or --cache-dir",
        ) from error
    try:
        with os.fdopen(
            handle, mode, encoding="utf-8" if text else None, newline="\n" if text else None
        ) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(name)
        if isinstance(error, OSError) and error.errno in _NO_SPACE:
            raise SourceError(
                f"cannot finish writing {path}", found=error.strerror,
                hint="free some space, or move the cache with BOOKCOREF_DATA_HOME or --cache-dir, and "
                "run the command again; nothing half-written was left",
            ) from error  # fmt: skip
        raise


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def write_bytes(path: Path, data: bytes) -> None:
    """Write `data` to `path` whole or not at all."""
    with writing(path) as stream:
        stream.write(data)


def write_text(path: Path, text: str) -> None:
    """Write `text` as UTF-8 to `path` whole or not at all."""
    write_bytes(path, text.encode("utf-8"))


def check_input(path: Path) -> int:
    """The length of an input file, which must be a regular file: a pipe or a device may never end.

    Raises:
        SourceError: there is no such file, it cannot be looked at, or it is something else.
    """
    try:
        facts = path.stat()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SourceError(
            f"cannot read {path}", found=reason, hint="check the path and its permissions"
        ) from error
    if not stat.S_ISREG(facts.st_mode):
        kind = "a folder" if stat.S_ISDIR(facts.st_mode) else "a pipe, a device or a socket"
        raise SourceError(
            f"cannot read {path}", expected="a regular file", found=kind,
            hint="give a file; write the output of another program to a file first",
        )  # fmt: skip
    return facts.st_size


def read_regular(path: Path, most: int) -> bytes:
    """The whole content of a regular file of at most `most` bytes.

    Raises:
        SourceError: as `check_input`. DataError: the file is larger.
    """
    size = check_input(path)
    if size > most:
        raise DataError(f"{path} is too large", expected=f"at most {most:,} bytes", found=f"{size:,} bytes")
    try:
        return path.read_bytes()
    except OSError as error:
        raise SourceError(f"cannot read {path}", found=error.strerror, hint="check the path") from error


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


def safe_name(name: str, what: str) -> str:
    """Return `name` if it can be one component of a path, else refuse it.

    Names that come from data (document keys, ids, file names in an index) pass here before they touch
    a path: letters, digits, `.`, `_`, `-`, no leading dot.

    Raises:
        DataError: anything else ("../x", "a/b", "", control characters, over 200 characters).
    """
    if len(name) > 200 or not _SAFE_NAME.match(name):
        raise DataError(
            f"{what} {name!r} cannot be used as a file name",
            expected="letters, digits, '.', '_', '-', not starting with '.', at most 200 characters",
            hint="rename it in the data; nothing was written",
        )
    return name
