"""What a verb writes, as one: it waits beside its place, is guarded, and is moved in whole, record last.

    OUT/files.json         every file that we wrote into the folder, with size and sha256
    OUT/.bookcoref-data/   only during a write, or after a kill: waiting files, lock, journal

While `outputs` is open, `files.writing` puts every file of a named output into a waiting folder. At the end,
under a lock that holds for all processes, the rules of `guard` are asked and the files are moved in. A
journal says what is moved; whoever finds one whose process is gone puts the old state back. So a kill at any
point leaves the old state or the new one. A reader compares a folder with its record, before and after.
"""

import contextlib
import filecmp
import functools
import inspect
import json
import os
import platform
import re
import secrets
import shutil
import stat
import time
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from . import __version__, files
from .errors import ChecksumError, DataError, FormatError, SourceError, Unproved, UsageError
from .guard import WORK, backup_name, is_marked_cache, may_replace

RECORD = "files.json"
ANNOTATION = "annotation.jsonl"
"""The first file of a folder of annotations, which always had a record when we wrote it."""
FORMAT = 1
_JOURNAL = "journal.json"
_LOCK = "lock"
_WAIT = 600.0
"""Seconds to wait for another process that moves its files in."""
_POLL = 0.02
_MOST_RECORD = 256 << 20
_SHARED = "files"
"""The group of files that stand for themselves: exports, casts, texts. People may change each of them."""

P = ParamSpec("P")
T = TypeVar("T")
WrittenFile = Mapping[str, Any]
"""Size and sha256 of a file; of the record of a data set also the folder that it is `of`."""
Groups = dict[str, dict[str, WrittenFile]]
Identities = set[tuple[int, int]]


@dataclass
class _Place:
    """A folder into which files are moved: where they wait, and the folders that go in as one."""

    base: Path
    scratch: Path
    folded: dict[str, str] = field(default_factory=dict)
    folders: "dict[str, Callable[[], Replaceable]]" = field(default_factory=dict)

    def name(self, path: Path) -> str:
        """The name of a path in this place. Raises DataError: another name is one with it on some disks."""
        name = path.relative_to(self.base).as_posix()
        other = self.folded.setdefault(unicodedata.normalize("NFC", name).casefold(), name)
        if other != name:
            expected = "names that differ in more than case or the way an accent is written"
            hint = "rename one of them in the data; nothing was written"
            raise DataError(f"{other} and {name} are one file on some disks", expected=expected, hint=hint)
        return name


@dataclass(frozen=True)
class Replaceable:
    """What lies where a folder is to be written: our own files, and whether other things are kept there."""

    files: tuple[str, ...] = ()
    kept: bool = False


@dataclass
class Outputs:
    """The outputs of a running verb; see `outputs`."""

    outs: tuple[Path, ...]
    inputs: tuple[Path, ...]
    replace: bool
    in_place: tuple[Path, ...]
    kinds: dict[Path, str] = field(default_factory=dict)
    rules: dict[Path, Callable[[], object]] = field(default_factory=dict)
    above: "Outputs | None" = None
    places: dict[Path, _Place] = field(default_factory=dict)
    process: int = field(default_factory=os.getpid)

    def base_of(self, path: Path) -> Path | None:
        """The folder to which an output of this verb belongs; None for any other path."""
        for out in self.outs:
            if out in path.parents:
                inside = path.relative_to(out).parts[:-1]
                folders = [out.joinpath(*inside[: i + 1]) for i in range(len(inside))]
                if WORK not in inside and not any(map(is_marked_cache, (out, *folders))):
                    return out
        return next((o.parent for o in self.outs if path == o or path.parent == o.parent), None)

    def waiting(self, path: Path) -> Path | None:
        """Where the file or folder `path` waits; None when it is no output of this verb."""
        if os.getpid() != self.process:
            return None
        real = Path(os.path.realpath(path))
        base = self.base_of(real)
        if base is None and self.base_of(Path(os.path.realpath(path.parent)) / path.name):
            raise UsageError(
                f"will not write through the link {path}", found=str(real), hint="remove the link, or choose "
                "another output; nothing was written",
            )  # fmt: skip
        if base is None:
            return self.above.waiting(path) if self.above else None
        place = self.places.get(base)
        if place is None:
            if base in self.outs:
                refuse_data_set(base)
            place = self.places[base] = _Place(base, _scratch(base))
        return place.scratch / "new" / place.name(real)

    def folder(self, path: Path, plan: Callable[[], Replaceable]) -> Path:
        """An empty folder that takes the place of `path`; `plan` is asked at the end, under the lock."""
        path = Path(os.path.realpath(path))
        base = self.base_of(path)
        if base is None and self.above:
            return self.above.folder(path, plan)
        waiting = self.waiting(path)
        if base is None or waiting is None:
            raise UsageError(f"{path} is no output of this command")
        waiting.mkdir(parents=True)
        self.places[base].folders[path.relative_to(base).as_posix()] = plan
        return waiting

    def covers(self, path: Path) -> bool:
        """Whether what is written below a path, or to it, belongs to this verb, or to one that called it."""
        found = self.base_of(Path(os.path.realpath(path)) / "any") is not None
        return found or (self.above is not None and self.above.covers(path))

    def commit(self, seen: Mapping[Path, object]) -> None:
        """Move everything in. Raises as `outputs`."""
        for base in sorted(self.places):
            with locked(base):
                _recover(base)
                _require_unchanged(seen, alone=True)
                if rule := self.rules.get(base):
                    rule()
                _move_in(base, self.places[base].scratch, *_Plan(self, self.places[base]).moves())

    def close(self) -> None:
        """Remove what waits."""
        for base, place in self.places.items():
            shutil.rmtree(place.scratch, ignore_errors=True)
            _remove_empty(base / WORK)


_NOW: ContextVar[Outputs | None] = ContextVar("outputs", default=None)


@contextlib.contextmanager
def outputs(
    *outs: Path | None, inputs: Iterable[Path] = (), replace: bool = False, in_place: Iterable[Path] = ()
) -> Iterator[Outputs]:
    """While open, files written to `outs` (a file with its siblings, or a folder) wait; then all go in.

    `inputs` are what the verb reads: each is checked against its record, and none is ever replaced but those
    that the verb changes `in_place`, which get a backup. `replace` lets go of files that we did not write;
    they get a backup, too. When the block raises, nothing is changed.

    Raises UsageError: an output is an input, or a file that we did not write, and `replace` does not allow
    it. ChecksumError: an input is not as it was written, or was changed meanwhile. SourceError: it cannot be
    written; or another process is writing for too long.
    """
    wanted = tuple(Path(os.path.realpath(out)) for out in outs if out is not None)
    read = tuple(Path(os.path.realpath(path)) for path in inputs)
    new = [out for out in wanted if not os.path.lexists(out)]
    for path in (*read, *wanted):
        settle(path)
    own = tuple(Path(os.path.realpath(path)) for path in in_place)
    # No output file may be an input, by whatever name.
    taken = [path for path in read if path not in own and os.path.isfile(path)]
    for out in wanted:
        if any(os.path.isfile(out) and os.path.samefile(out, path) for path in taken):
            may_replace(out, ours=False, is_input=True, in_place=False, replace=True)
    seen = {path: _seen(path) for path in read if os.path.isdir(path) or path in own}
    for path in read:
        check(path)
    now = Outputs(wanted, read, replace, own, above=_NOW.get())
    tokens = _NOW.set(now), files.WAITING.set(now.waiting)
    try:
        yield now
        now.commit(seen)
        if not now.places:
            _require_unchanged(seen)
    except OSError as error:
        if error.errno not in files.NO_SPACE or not wanted:
            raise
        raise files.cannot_finish(wanted[0], error) from error
    finally:
        _NOW.reset(tokens[0])
        files.WAITING.reset(tokens[1])
        now.close()
        for out in new:
            with contextlib.suppress(OSError):
                out.rmdir()  # only if it is empty: the verb failed


@contextlib.contextmanager
def whole(out: Path, kind: str = _SHARED, rule: Callable[[], object] | None = None) -> Iterator[Outputs]:
    """All that is written below `out` is one thing of this `kind`; part of the outputs of the verb that runs.

    A file of the kind that was there before and is not written now is removed. `rule` is asked at the end,
    under the lock, and raises where something would be lost that another process has written meanwhile.
    """
    now = _NOW.get()
    with contextlib.ExitStack() as opened:
        if now is None or not now.covers(out):
            now = opened.enter_context(outputs(out))
        place = Path(os.path.realpath(out))
        now.kinds[place] = kind
        if rule is not None:
            now.rules[place] = rule
        yield now


def refuse_data_set(out: Path) -> None:
    """Raises UsageError: a folder for loose files is a data set, which with them would fail `verify`."""
    if os.path.isfile(out / "build.json"):
        what = f"{out} is a data set folder, which with other files in it would fail `verify`"
        raise UsageError(what, hint="choose another one with --out; nothing was written")


def place_of(path: Path) -> Path:
    """Where an output is to be written by who cannot know of `outputs`: another process, a library."""
    now = _NOW.get()
    place = now.waiting(path) if now is not None else None
    if place is not None:
        place.parent.mkdir(parents=True, exist_ok=True)
    return place or path


def files_of(
    *writes: str, reads: Sequence[str] = (), in_place: Sequence[str] = (), page: bool = False
) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """`outputs` for a function: the names of its parameters that are written, and of those that are read.

    A parameter called `replace` says what may be replaced. Values that are no paths are passed over. A `page`
    has the name of one: a browser shows no other as a page, and "cast.txt" is where people expect a cast.
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def run(*args: P.args, **kwargs: P.kwargs) -> T:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            given = bound.arguments
            named = ([given[name] for name in names] for names in (writes, reads, in_place))
            outs, read, own = map(_paths, named)
            if page and (other := [out for out in outs if out.suffix.lower() not in (".html", ".htm")]):
                raise UsageError(f"what is written is a page: {other[0]}", expected="a name in .html")
            with outputs(*outs, inputs=read, replace=bool(given.get("replace")), in_place=own):
                return function(*args, **kwargs)

        return run

    return decorate


def _paths(value: object) -> list[Path]:
    """The paths among the values of a parameter; other texts ("auto", names, addresses) make odd ones."""
    if isinstance(value, str | os.PathLike):
        text = os.fspath(value)
        return [] if text in ("", "-") or "\0" in text or "\n" in text else [files.path_of(text)]
    return [path for item in value for path in _paths(item)] if isinstance(value, list | tuple) else []


# -- what may be moved in ----------------------------------------------------------------------------


class _Plan:
    """What is to be moved of one place; made under its lock."""

    def __init__(self, now: Outputs, place: _Place) -> None:
        self.now, self.place, self.base = now, place, place.base
        self.new = place.scratch / "new"

    def moves(self) -> tuple[list[str], list[str]]:
        """Names of what goes in, and of what goes away. Raises UsageError: a file would be lost."""
        ready: list[str] = []
        gone: list[str] = []
        for name, plan in self.place.folders.items():
            old = plan()
            if not old.kept:
                ready.append(name)
                continue
            new = _files_below(self.new / name)
            # The record of a folder comes last: until then the old one says what is ours.
            ready += [f"{name}/{file}" for file in new]
            gone += [f"{name}/{file}" for file in old.files if file not in new]
        loose = [n for n in _files_below(self.new) if not any(_is_below(n, f) for f in self.place.folders)]
        kind, groups = self.now.kinds.get(self.base, _SHARED), _read_groups(self.base)
        own = groups.get(kind, {})
        inputs = functools.cache(lambda: _identities(self.now.inputs))
        for name in loose:
            if backup := self._backup(name, own, inputs):
                shutil.copy2(self.base / name, self.new / backup)
                ready.append(backup)
            ready.append(name)
        if self.base in self.now.outs and (loose or self.place.folders):
            if kind != _SHARED:
                gone += [n for n in own if n not in loose and _unchanged(self.base / n, own[n], alone=True)]
            self._write_record(kind, groups, loose)
            ready.append(RECORD)
        return [n for n in ready if not self._same(n)], [n for n in gone if n not in ready]

    def _same(self, name: str) -> bool:
        old, new = self.base / name, self.new / name
        return old.is_file() and new.is_file() and filecmp.cmp(old, new, shallow=False)

    def _backup(self, name: str, own: Mapping[str, WrittenFile], inputs: Callable[[], Identities]) -> str:
        """The name of the backup of the old file `name`, "" for none. Raises UsageError: it must stay."""
        old = self.base / name
        try:
            facts = old.stat()
        except OSError:
            return ""
        if not facts.st_size or self._same(name):
            return ""
        identity = (facts.st_dev, facts.st_ino)
        is_input = identity in inputs()
        ours = name in own and _unchanged(old, own[name])
        in_place = is_input and identity in _identities(self.now.in_place)
        kept = may_replace(old, ours=ours, is_input=is_input, in_place=in_place, replace=self.now.replace)
        return name.removesuffix(old.name) + backup_name(old) if kept else ""

    def _write_record(self, kind: str, groups: Groups, loose: Iterable[str]) -> None:
        found = {name: self.new / name for name in loose}
        inner = [(name, path) for name in self.place.folders for path in (self.new / name).glob("*.json")]
        entries: dict[str, WrittenFile] = {name: _facts(path) for name, path in found.items()}
        entries |= {f"{name}/{path.name}": _facts(path) | {"of": name} for name, path in inner}
        kept = {k: {n: e for n, e in listed.items() if n not in entries} for k, listed in groups.items()}
        kept[kind] = entries if kind != _SHARED else kept.get(kind, {}) | entries
        listed = {k: dict(sorted(v.items())) for k, v in sorted(kept.items()) if v}
        value = {"format": FORMAT, "made_with": f"bookcoref-data {__version__}", "files": listed}
        (self.new / RECORD).write_bytes(files.sealed(value).encode())


def _identities(inputs: Iterable[Path]) -> Identities:
    """Device and inode of every input file; of a folder those that its record lists as one, else all."""
    found = set()
    for path in inputs:
        names = [n for k, listed in _read_groups(path).items() if k != _SHARED for n in listed]
        files = [path / n for n in names] or (path.rglob("*") if path.is_dir() else [path])
        for file in files:
            with contextlib.suppress(OSError):
                facts = file.stat()
                if stat.S_ISREG(facts.st_mode):
                    found.add((facts.st_dev, facts.st_ino))
    return found


# -- the record --------------------------------------------------------------------------------------


def _facts(path: Path) -> dict[str, Any]:
    return {"bytes": path.stat().st_size, "sha256": files.sha256_file(path)}


def _unchanged(path: Path, entry: WrittenFile, *, alone: bool = False) -> bool:
    """Whether a file is as it was written; with `alone` one of a data set never is, which goes as a whole."""
    try:
        same = path.stat().st_size == entry["bytes"] and not (alone and "of" in entry)
        return same and files.sha256_file(path) == entry["sha256"]
    except OSError:
        return False


def _read_groups(folder: Path) -> Groups:
    """{kind: {name: size and sha256}} of the record of a folder; {} when it has none. Raises FormatError: the
    record is damaged, or of another version."""
    path = folder / RECORD
    if not os.path.isfile(path):
        return {}
    try:
        value = json.loads(files.read_regular(path, _MOST_RECORD))
        stated = value.pop("sha256")
        if value["format"] != FORMAT or stated != files.seal_of(value):
            raise ValueError("it was changed, or another version wrote it")
        return dict(value["files"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FormatError(
            f"{path} cannot be read", expected="a record of the files that bookcoref-data wrote here",
            found=str(error)[:200], hint=_NEXT,
        ) from error  # fmt: skip


_NEXT = f"run the command that wrote the folder again, or remove {RECORD} to use the folder as it is"


def problems(folder: Path) -> list[str]:
    """What differs between a folder and the record of what was written there as one; [] when nothing does.

    A file in a folder below may be missing: texts and the data set can be taken away.
    """
    found = []
    for kind, listed in _read_groups(folder).items():
        for name, entry in listed.items() if kind != _SHARED else ():
            path = folder / name
            if not os.path.lexists(path):
                found += [] if "/" in name else [f"{name} is missing"]
            elif not _unchanged(path, entry):
                found.append(f"{name} is not the file that was written with the others")
    return found


def check(path: Path) -> None:
    """Refuse an input whose folder, or a folder just above it, is not as its record says.

    An annotation without a record is let through with a warning.

    Raises ChecksumError: names the files. FormatError: the record is damaged.
    """
    home = path.parent if path.name == ANNOTATION else path
    if os.path.isfile(home / ANNOTATION) and not os.path.isfile(home / RECORD):
        told = "written by an older version or by hand, so nobody can tell whether its files belong together"
        warnings.warn(f"{home} has no {RECORD}: {told}", Unproved, stacklevel=2)
    for folder in (path, path.parent, path.parent.parent):
        inside = path.relative_to(folder).as_posix()
        listed = [n for k, names in _read_groups(folder).items() if k != _SHARED for n in names]
        if folder != path and not any(_is_below(name, inside) for name in listed):
            continue
        if wrong := problems(folder):
            raise ChecksumError(
                f"{folder} is not as it was written", expected=f"the files that {RECORD} lists",
                found="; ".join(wrong[:5]), hint=_NEXT,
            )  # fmt: skip


def _seen(path: Path) -> object:
    """What tells the present state of an input from a later one."""
    found: list[object] = []
    for file in (path, path / RECORD, path / "build.json"):
        with contextlib.suppress(OSError):
            facts = file.stat()
            found.append((file.name, facts.st_ino, facts.st_mtime_ns if stat.S_ISREG(facts.st_mode) else 0))
    return found


def _require_unchanged(seen: Mapping[Path, object], *, alone: bool = False) -> None:
    """With `alone` we hold the lock, and nobody is moving files in. Raises as `outputs`."""
    for path, before in seen.items():
        # The journal first: a writer who ends between the two has changed what is seen.
        moving = not alone and os.path.isfile(path / WORK / _JOURNAL)
        if moving or _seen(path) != before:
            what = f"{path} was changed by another process while this command worked"
            raise ChecksumError(what, hint="nothing was written; run the command again")


# -- moving, and taking back -------------------------------------------------------------------------


def settle(path: Path) -> None:
    """Put the old state back where a process was killed while it moved files to `path`, or near it.

    Raises SourceError: another process is moving files in for too long, or the old state cannot be put back.
    """
    for folder in (path, path.parent, path.parent.parent):
        if os.path.isfile(folder / WORK / _JOURNAL):
            with locked(folder):
                _recover(folder)
        elif os.path.isdir(folder / WORK):  # what a killed process left there is only in the way
            with contextlib.suppress(SourceError), locked(folder, wait=0):
                _sweep(folder)


@contextlib.contextmanager
def locked(folder: Path, wait: float = _WAIT) -> Iterator[None]:
    """Hold a folder against all other processes (and threads) that write into it.

    Raises SourceError: another process held it for too long, or it cannot be written.
    """
    path, end = folder / WORK / _LOCK, time.monotonic() + wait
    try:
        while (held := _try_lock(path)) is None:
            if time.monotonic() > end:
                raise SourceError(
                    f"another process is writing to {folder}", found=f"no end after {wait:g} s",
                    hint="wait for it to finish and run the same command again",
                )  # fmt: skip
            time.sleep(_POLL)
    except OSError as error:
        raise files.cannot_write(folder, error) from error
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            path.unlink()  # before it is let go: who waits for it sees that it is gone, and takes a new one
        held()
        _remove_empty(path.parent)


def _try_lock(path: Path) -> Callable[[], object] | None:
    """Take the lock file; returns what frees it, or None when it is held. A process that dies frees it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        if path.parent.is_file():
            raise
        return None  # another process removed the empty folder at this moment
    try:
        import fcntl
    except ImportError:
        from filelock import FileLock, Timeout

        lock = FileLock(path)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return None
        return lock.release
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except FileNotFoundError:  # another process has just removed the empty folder
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(handle), os.stat(path)):
            return functools.partial(os.close, handle)
    except (BlockingIOError, FileNotFoundError):
        pass
    except OSError:
        os.close(handle)
        raise
    os.close(handle)
    return None


def _host() -> str:
    return re.sub(r"[^A-Za-z0-9]", "-", platform.node())[:40]


def _scratch(base: Path) -> Path:
    """A new waiting folder in `base`; its name says which process of which machine works in it."""
    scratch = base / WORK / f"{_host()}-{os.getpid()}-{secrets.token_hex(4)}"
    for left in (3, 2, 1, 0):
        try:
            (scratch / "new").mkdir(parents=True)
            break
        except OSError as error:
            # Another process may have removed the empty folder at this moment.
            if not left or not isinstance(error, FileNotFoundError | FileExistsError):
                raise files.cannot_write(base, error) from error
    return scratch


def _sweep(base: Path) -> None:
    """Remove the waiting folders whose process was killed on this machine. The lock is held."""
    for path in (base / WORK).glob(f"{_host()}-*-*"):
        if files.is_dead(path.name.removeprefix(f"{_host()}-").partition("-")[0]):
            shutil.rmtree(path, ignore_errors=True)
    for path in (base / WORK).glob("*.part"):
        path.unlink(missing_ok=True)


def _move_in(base: Path, scratch: Path, new: list[str], gone: list[str]) -> None:
    """Move waiting files in, under the lock: all, or none."""
    if not new and not gone:
        return
    journal = base / WORK / _JOURNAL
    old = [name for name in (*new, *gone) if os.path.lexists(base / name)]
    parents = {parent for name in new for parent in (base / name).parents if not parent.exists()}
    made = sorted((p.relative_to(base).as_posix() for p in parents if p.is_relative_to(base)), reverse=True)
    told = {"scratch": scratch.name, "old": old, "new": new, "made": made}
    try:
        part = journal.with_suffix(".part")
        part.write_text(json.dumps(told), encoding="utf-8")
        os.replace(part, journal)
        for name in (*gone, *new):
            if name in old:
                # A file that is replaced keeps the rights that its owner gave it.
                was, now = base / name, scratch / "new" / name
                if now.is_file() and was.is_file():
                    os.chmod(now, stat.S_IMODE(was.stat().st_mode))
                _move(base / name, scratch / "old" / name)
            if name in new:
                _move(scratch / "new" / name, base / name)
        journal.unlink()
    except BaseException as error:
        _recover(base)
        if isinstance(error, OSError):
            raise files.cannot_finish(base, error) from error
        raise


def _move(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    os.replace(source, target)


def _recover(base: Path) -> None:
    """Put the old state back if a journal says that somebody did not finish. The lock is held."""
    journal = base / WORK / _JOURNAL
    try:
        told = json.loads(journal.read_text(encoding="utf-8"))
    except FileNotFoundError:
        _sweep(base)
        return
    scratch = base / WORK / told["scratch"]
    try:
        for name in {*told["old"], *told["new"]}:
            old, new = scratch / "old" / name, scratch / "new" / name
            moved = name in told["new"] and not os.path.lexists(new) and os.path.lexists(base / name)
            if moved and (name not in told["old"] or os.path.lexists(old)):
                _move(base / name, new)
            if os.path.lexists(old):
                _move(old, base / name)
        for name in told["made"]:
            with contextlib.suppress(OSError):
                (base / name).rmdir()
        journal.unlink()
    except OSError as error:
        raise SourceError(
            f"a command was killed while it wrote to {base}, and the old state cannot be put back",
            found=str(error), hint=f"its files are in {scratch}; mend the disk and run the command again",
        ) from error  # fmt: skip
    shutil.rmtree(scratch, ignore_errors=True)
    _sweep(base)


def _remove_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()


def _files_below(folder: Path) -> list[str]:
    """Relative paths of the files below a folder, records and cards of a data set last."""
    names = [p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()]
    return sorted(names, key=lambda name: (name.endswith(".json"), name))


def _is_below(name: str, folder: str) -> bool:
    return name == folder or name.startswith(f"{folder}/")
