"""One cache for everything that is fetched or worked out, safe to share between processes.

    <root>/<part>/...      parts: texts, delta, packs, books, hub, ... each can be cleared alone
    <root>/.locks/*.lock   one lock file per piece of work; the system frees it when a process dies

The root is, in this order: the argument (`--cache-dir`), the variable BOOKCOREF_DATA_HOME, the
platform's cache folder. Entries appear whole (`files.writing`, `Store.make`) or not at all.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ..errors import SourceError, UsageError
from ..files import safe_name

VARIABLE = "BOOKCOREF_DATA_HOME"
_LOCKS = ".locks"
_MOVE = f"move the cache with {VARIABLE} or --cache-dir"


class CacheError(SourceError):
    """The cache cannot be used, whatever the source: no right to write, no space left."""

    @classmethod
    def at(cls, folder: Path, error: OSError) -> CacheError:
        """For a folder of the cache that cannot be used; names the variable that moves the cache."""
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        return cls(
            f"no space left in the cache {folder}" if full else f"cannot write to the cache {folder}",
            found=error.strerror or str(error),
            hint=f"free some space, or {_MOVE}" if full else f"{_MOVE}, or make the folder writable",
        )


class PartSize(NamedTuple):
    """What one part of the cache holds: number of files and their bytes."""

    part: str
    files: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Store:
    """The cache at `root`. Making a Store touches no disk."""

    root: Path

    @classmethod
    def open(cls, folder: Path | str | None = None) -> Store:
        """The cache at `folder`, else where BOOKCOREF_DATA_HOME says, else at the platform's place."""
        named = folder or os.environ.get(VARIABLE)
        if named:
            return cls(Path(named).expanduser().absolute())
        from platformdirs import user_cache_dir

        return cls(Path(user_cache_dir("bookcoref-data", appauthor=False)))

    def path(self, part: str, *names: str) -> Path:
        """The path of an entry; every name is checked, so that names from data cannot leave the cache.

        Raises:
            DataError: a name that cannot be one component of a path.
        """
        safe_name(part, "cache part")
        return self.root.joinpath(part, *(safe_name(name, f"cache entry of {part}") for name in names))

    @contextlib.contextmanager
    def lock(self, name: str, wait: float = 3600.0) -> Iterator[None]:
        """Hold the lock `name` against all other processes (and threads); wait up to `wait` seconds.

        The lock belongs to the operating system's file, not to the file's existence: a killed process
        leaves no stale lock behind.

        Raises:
            CacheError: the cache cannot be written.
            SourceError: another process held the lock for too long.
        """
        from filelock import Timeout

        path = self.root / _LOCKS / f"{safe_name(name, 'lock')}.lock"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            held = _acquire(path, wait)
        except Timeout as error:
            raise SourceError(
                f"another process works on {name} in the cache {self.root}",
                found=f"no end after {wait:g} s of waiting for {path}",
                hint="wait for it to finish and run the same command again",
            ) from error
        except OSError as error:
            raise CacheError.at(self.root, error) from error
        try:
            yield
        finally:
            held.release()

    def make(self, part: str, name: str, fill: Callable[[Path], None]) -> Path:
        """The folder entry `part/name`; when it is not there, `fill(folder)` writes it, once.

        `fill` gets an empty temporary folder, which is renamed into place when it returns; when it
        raises, nothing is left. Two processes asking at once: one works, the other waits and takes.
        """
        target = self.path(part, name)
        if target.is_dir():
            return target
        with self.lock(f"{part}-{name}"):
            if target.is_dir():
                return target
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                scratch = Path(tempfile.mkdtemp(prefix=".making-", dir=target.parent))
            except OSError as error:
                raise CacheError.at(self.root, error) from error
            try:
                fill(scratch)
                scratch.chmod(0o777 & ~_umask())
                scratch.rename(target)
            except BaseException:
                shutil.rmtree(scratch, ignore_errors=True)
                raise
        return target

    def parts(self) -> list[str]:
        """Names of the parts that exist, sorted."""
        if not self.root.is_dir():
            return []
        return sorted(p.name for p in self.root.iterdir() if p.is_dir() and not p.name.startswith("."))

    def sizes(self) -> list[PartSize]:
        """Files and bytes of every part, sorted by name; half-fetched files count too."""
        return [_measure(self.root / name) for name in self.parts()]

    def clear(self, part: str | None = None) -> list[PartSize]:
        """Remove one part, or all; return what was removed.

        Raises:
            UsageError: there is no such part (lists those there are).
            SourceError: another process is at work in this cache; or a file cannot be removed.
        """
        names = self.parts()
        if part is not None and part not in names:
            raise UsageError(
                f"the cache {self.root} has no part {part!r}", expected=", ".join(names) or "(it is empty)"
            )
        with self._alone():
            removed = [_measure(self.root / name) for name in names if part in (None, name)]
            for size in removed:
                try:
                    shutil.rmtree(self.root / size.part)
                except OSError as error:
                    raise CacheError.at(self.root, error) from error
        return removed

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold every lock there is, so that no file vanishes under a process that works."""
        with contextlib.ExitStack() as held:
            for path in sorted((self.root / _LOCKS).glob("*.lock")):
                held.enter_context(self.lock(path.name.removesuffix(".lock"), wait=0))
            yield


def _acquire(path: Path, wait: float):
    """A lock of the system, or, on file systems that have none (some clusters), a lock file."""
    from filelock import FileLock, SoftFileLock

    try:
        lock = FileLock(path)
        lock.acquire(timeout=wait)
    except NotImplementedError:
        lock = SoftFileLock(path)
        lock.acquire(timeout=wait)
    return lock


def _measure(folder: Path) -> PartSize:
    files = [p for p in folder.rglob("*") if p.is_file() and not p.is_symlink()]
    return PartSize(folder.name, len(files), sum(p.stat().st_size for p in files))


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
