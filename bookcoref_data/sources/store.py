"""One cache for everything that is fetched or worked out, safe to share between processes.

    <root>/CACHEDIR.TAG    the mark of a cache that we made; without it nothing is ever cleared
    <root>/<part>/...      the parts that PARTS names; each can be cleared alone
    <root>/.locks/*.lock   one lock file per piece of work; the system frees it when a process dies

The root is, in this order: the argument (`--cache-dir`), the variable BOOKCOREF_DATA_HOME, the
platform's cache folder. Entries appear whole (`files.writing`, `Store.make`) or not at all.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import json
import os
import platform
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import DataError, SourceError, UsageError
from ..files import json_page, path_of, safe_name, sha256_bytes, sha256_file, write_text
from ..guard import CACHE_TAG, is_marked_cache, mark_cache
from ..late import filelock
from ..progress import Progress, Silent
from ..words import word_set

VARIABLE = "BOOKCOREF_DATA_HOME"
# Everything that we put into a cache; nothing else in its folder is shown or cleared.
PARTS = word_set(
    "annotations annotations-unfinished books catalogue delta harvest hub packs release silver texts"
)
# The parts that only `working` runs write to.
_OF_RUNS = ("annotations", "annotations-unfinished", "books", "packs", "release", "silver")
_LOCKS = ".locks"
_RUN, _CLEARING = "run-", "clearing"
_RUNS = itertools.count()
_SILENT_WAIT = 2.0
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

    @classmethod
    @contextlib.contextmanager
    def around(cls, folder: Path) -> Iterator[None]:
        """Around what is done in a folder of the cache: an OSError becomes this error."""
        try:
            yield
        except OSError as error:
            raise cls.at(folder, error) from error


class PartSize(NamedTuple):
    """What one part of the cache holds: number of files and their bytes."""

    part: str
    files: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Store:
    """The cache at `root`. Making a Store touches no disk. `progress` hears when a lock is waited for."""

    root: Path
    progress: Progress = field(default_factory=Silent, compare=False, repr=False)

    @classmethod
    def open(cls, folder: Path | str | None = None, progress: Progress | None = None) -> Store:
        """The cache at `folder`, else where BOOKCOREF_DATA_HOME says, else at the platform's place."""
        named = folder or os.environ.get(VARIABLE)
        if named:
            return cls(path_of(named).absolute(), progress or Silent())
        from platformdirs import user_cache_dir

        return cls(Path(user_cache_dir("bookcoref-data", appauthor=False)), progress or Silent())

    def path(self, part: str, *names: str) -> Path:
        """The path of an entry; every name is checked, so that names from data cannot leave the cache. Raises
        DataError: a name that cannot be one component of a path."""
        if safe_name(part, "cache part") not in PARTS:
            raise DataError(f"unknown cache part {part!r}", expected=", ".join(sorted(PARTS)))
        return self.root.joinpath(part, *(safe_name(name, f"cache entry of {part}") for name in names))

    @contextlib.contextmanager
    def lock(self, name: str, wait: float = 3600.0) -> Iterator[None]:
        """Hold the lock `name` against all other processes (and threads); wait up to `wait` seconds.

        The lock belongs to the operating system's file, not to the file's existence: a killed process
        leaves no stale lock behind.

        Raises CacheError: the cache cannot be written. SourceError: another process held the lock for too
        long.
        """
        path = self.root / _LOCKS / f"{safe_name(name, 'lock')}.lock"
        try:
            mark_cache(self.root)
            path.parent.mkdir(parents=True, exist_ok=True)
            held = self._acquire(path, name, wait)
        except filelock.Timeout as error:
            what = f"another process works on {name} in the cache {self.root}"
            found = f"no end after {wait:g} s of waiting for {path}, held by {lock_holder(path)}"
            hint = "wait for it to finish and run the same command again"
            raise SourceError(what, found=found, hint=hint) from error
        except OSError as error:
            raise CacheError.at(self.root, error) from error
        try:
            # Write beside a lock who holds it. It is a help for people, so a failure is none of ours
            facts = {"pid": os.getpid(), "host": platform.node(), "program": Path(sys.argv[0]).name}
            with contextlib.suppress(OSError):
                _holder_path(path).write_text(json.dumps(facts), encoding="utf-8")
            yield
        finally:
            _holder_path(path).unlink(missing_ok=True)
            held.release()

    def _acquire(self, path: Path, name: str, wait: float) -> filelock.BaseFileLock:
        """Take the lock; a wait of more than two seconds is reported with the process that holds it."""
        lock: filelock.BaseFileLock = filelock.FileLock(path)
        try:
            try:
                lock.acquire(timeout=min(wait, _SILENT_WAIT))
            except NotImplementedError:  # file systems without locks (some clusters): a lock file
                lock = filelock.SoftFileLock(path)
                lock.acquire(timeout=min(wait, _SILENT_WAIT))
        except filelock.Timeout:
            if wait <= _SILENT_WAIT:
                raise
            self.progress.note(f"waiting for {name} in the cache {self.root}: held by {lock_holder(path)}")
            lock.acquire(timeout=wait - _SILENT_WAIT)
        return lock

    @contextlib.contextmanager
    def working(self) -> Iterator[None]:
        """Hold this cache for a whole run: until the end nobody can clear it. Runs do not exclude each other.

        A cache that cannot be written needs no such care, and passes.
        """
        name = f"{_RUN}{os.getpid()}-{threading.get_ident()}-{next(_RUNS)}"
        path = self.root / _LOCKS / f"{name}.lock"
        with contextlib.ExitStack() as held:
            with contextlib.suppress(CacheError):
                with self.lock(_CLEARING):
                    self._forget_ended_runs()
                    held.enter_context(self.lock(name))
                held.callback(_remove_quietly, path)
            yield

    def _forget_ended_runs(self) -> None:
        """Remove the lock files of runs that were killed: nobody holds them.

        Where no other run goes on, what they left half-made in the parts that only runs write to goes, too.
        """
        alone = True
        for path in (self.root / _LOCKS).glob(f"{_RUN}*.lock"):
            try:
                with self.lock(path.name.removesuffix(".lock"), wait=0):
                    _remove_quietly(path)
            except SourceError:
                alone = False
        for part in _OF_RUNS if alone and is_marked_cache(self.root) else ():
            for name in (".making-*", ".*.part"):
                for path in (self.root / part).glob(name):
                    shutil.rmtree(path, ignore_errors=True)
                    _remove_quietly(path)

    def make(
        self, part: str, name: str, fill: Callable[[Path], None], sound: Callable[[Path], bool] = Path.is_dir
    ) -> Path:
        """The folder entry `part/name`; when it is not there, or not `sound`, `fill(folder)` writes it, once.

        `fill` gets an empty temporary folder, which is renamed into place when it returns; when it
        raises, nothing is left. Two processes asking at once: one works, the other waits and takes.
        """
        target = self.path(part, name)
        if sound(target):
            return target
        with self.lock(f"{part}-{name}"):
            if sound(target):
                return target
            with CacheError.around(self.root):
                target.parent.mkdir(parents=True, exist_ok=True)
                scratch = Path(tempfile.mkdtemp(prefix=".making-", dir=target.parent))
                if target.is_dir():  # renamed first, so that nobody sees half of it
                    damaged = target.rename(scratch.with_name(f"{scratch.name}-damaged"))
                    shutil.rmtree(damaged, ignore_errors=True)
            try:
                fill(scratch)
                current = os.umask(0)
                os.umask(current)
                scratch.chmod(0o777 & ~current)
                scratch.rename(target)
            except BaseException:
                shutil.rmtree(scratch, ignore_errors=True)
                raise
        return target

    def parts(self) -> list[str]:
        """Names of the parts that exist, sorted. Other folders in the cache's folder are none of them."""
        return sorted(name for name in PARTS if (self.root / name).is_dir())

    def sizes(self) -> list[PartSize]:
        """Files and bytes of every part, sorted by name; half-fetched files count too."""
        return [_measure(self.root / name) for name in self.parts()]

    def clear(self, part: str | None = None) -> list[PartSize]:
        """Remove one part, or all; return what was removed.

        Raises UsageError: there is no such part (lists those there are), or the folder has no mark of a
        cache. SourceError: another process is at work in this cache; or a file cannot be removed.
        """
        names = self.parts()
        if part is not None and part not in names:
            raise UsageError(
                f"{self.root} has no part {part!r}", expected=", ".join(names) or "(it is empty)"
            )
        if self.root.is_dir() and any(self.root.iterdir()) and not is_marked_cache(self.root):
            raise UsageError(
                f"{self.root} is not marked as a cache of bookcoref-data, so nothing in it is removed",
                expected=f"a file {CACHE_TAG} with our mark, which a cache gets when it is made",
                hint="if it is a cache of an older version, remove its folders yourself: "
                f"{', '.join(names) or 'there is none here'}",
            )
        with contextlib.ExitStack() as held:
            # Every lock there is, so that no file vanishes under a process that works
            if (self.root / _LOCKS).is_dir():
                held.enter_context(self.lock(_CLEARING, wait=0))
            locks = sorted(path.stem for path in (self.root / _LOCKS).glob("*.lock"))
            for name in locks:
                if name != _CLEARING:
                    held.enter_context(self.lock(name, wait=0))
            removed = [_measure(self.root / name) for name in names if part in (None, name)]
            with CacheError.around(self.root):
                for size in removed:
                    shutil.rmtree(self.root / size.part)
        return removed


def _holder_path(lock: Path) -> Path:
    return lock.with_suffix(".holder")


def lock_holder(lock: Path) -> str:
    """Who holds a lock, in words: process, program, host, and whether the process is stopped."""
    try:
        facts = json.loads(_holder_path(lock).read_text(encoding="utf-8"))
        pid, host, program = int(facts["pid"]), str(facts["host"])[:80], str(facts["program"])[:80]
    except (OSError, ValueError, KeyError, TypeError):
        return "a process that left no name"
    here = host == platform.node()
    stopped = ", which is stopped: let it go on (kill -CONT) or end it" if here and _is_stopped(pid) else ""
    return f"process {pid} ({program}{'' if here else f' on {host}'}){stopped}"


def _is_stopped(pid: int) -> bool:
    """Whether a process of this machine is stopped (Ctrl-Z), where the system shows it."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return False
    return state in ("T", "t")


def _remove_quietly(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


def _measure(folder: Path) -> PartSize:
    files = [p for p in folder.rglob("*") if p.is_file() and not p.is_symlink()]
    return PartSize(folder.name, len(files), sum(p.stat().st_size for p in files))


_SEAL = "note_sha256"
_MOST_BYTES = 16 << 20


def write_note(path: Path, value: Mapping[str, Any]) -> None:
    """Write a note beside a cached file: `value` (JSON-ready, string keys) with its digest, or nothing.

    It says what the file is and which sha256 it must have. A flipped bit in the note is as bad as one in the
    file, so one that is absent, unreadable or altered counts as not there: all is fetched or made again.
    """
    write_text(path, json_page({**value, _SEAL: _digest(value)}), at_once=True)


def read_note(path: Path) -> dict[str, Any] | None:
    """The content of a note; None when there is no such file or it is not what was written."""
    try:
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return None
        value = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(value, dict):
            return None
        stated = value.pop(_SEAL, None)
        return value if stated == _digest(value) else None
    except (OSError, ValueError, RecursionError):
        return None


def _digest(value: Mapping[str, Any]) -> str:
    return sha256_bytes(json.dumps(value, sort_keys=True, separators=(",", ":")).encode("utf-8"))


def sha256_once(path: Path) -> str:
    """Hex sha256 of a file, read once per process as long as its length, time and place on disk stay.

    A release is 240 MB, and both its check and its key need the digests of its files.
    """
    facts = path.stat()
    return _sha256_at(path, facts.st_size, facts.st_mtime_ns, facts.st_ino)


@lru_cache(maxsize=4096)
def _sha256_at(path: Path, size: int, changed: int, place: int) -> str:
    return sha256_file(path)
