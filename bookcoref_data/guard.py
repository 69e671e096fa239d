"""What may be replaced or removed: only what this package wrote, as far as the disk itself can show it.

Every verb that replaces files or clears folders asks here first. The rule is the same everywhere: a
thing is ours when it says so (a valid record that lists it, a mark that we set); everything else belongs to
the user and stays.
"""

import os
import stat
from collections.abc import Iterable
from itertools import count
from pathlib import Path

from .errors import SourceError, UsageError

# The common mark of cache folders (https://bford.info/cachedir/): backup programs leave such folders out.
CACHE_TAG = "CACHEDIR.TAG"
CACHE_MARK = "# This folder is a cache of bookcoref-data."
_SIGNATURE = "Signature: 8a477f597d28d172789f06886806bc55"
# A folder in which files wait while a command works; see `outputs`.
WORK = ".bookcoref-data"
# Files that desktops put into folders that they show: nobody wrote them, nobody misses them.
_DESKTOP_FILES = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})
_HEAD = 1 << 14
_KINDS = (
    (stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a named pipe"), (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"), (stat.S_ISSOCK, "a socket"),
)  # fmt: skip


def survey(folder: Path, ours: Iterable[str]) -> tuple[list[str], list[str]]:
    """What `folder` holds beside `ours`, the relative paths ("full/test.parquet") that we wrote: what is the
    user's, and folders with our cache mark, or in which files of another command wait: nobody may replace
    them either. Paths are relative to it, folders with a slash at the end.

    A folder that holds none of our files is one entry, whatever is in it. Links to folders are entries.

    Raises FileNotFoundError, NotADirectoryError, PermissionError: as `os.scandir`.
    """
    known = set(ours)
    above = {name[:i] for name in known for i, letter in enumerate(name) if letter == "/"}
    foreign: list[str] = []
    caches: list[str] = []

    def look(inside: str) -> None:
        with os.scandir(folder / inside) as found:
            entries = sorted(found, key=lambda entry: entry.name)
        for entry in entries:
            path = f"{inside}{entry.name}"
            if not entry.is_dir(follow_symlinks=False):
                if path not in known and entry.name not in _DESKTOP_FILES:
                    foreign.append(path)
            elif entry.name == WORK or is_marked_cache(Path(entry.path)):
                caches.append(f"{path}/")
            elif path in above:
                look(f"{path}/")
            else:
                foreign.append(f"{path}/")

    look("")
    return foreign, caches


def require_regular(path: Path) -> None:
    """Refuse to replace what is not a regular file: a folder, a named pipe, a device, a socket.

    A path that does not exist passes. Symbolic links are followed.

    Raises UsageError: says what `path` is. SourceError: the path itself cannot be used (too long, a loop of
    links, no right to look).
    """
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise SourceError(
            f"cannot use the path {_short(path)}", found=error.strerror, hint="choose another path"
        ) from error
    if not stat.S_ISREG(mode):
        kind = next((word for test, word in _KINDS if test(mode)), "no regular file")
        raise UsageError(
            f"will not replace {path}", expected="a new file, or a regular one", found=kind,
            hint="choose another path; nothing was written",
        )  # fmt: skip


def may_replace(path: Path, *, ours: bool, is_input: bool, in_place: bool, replace: bool) -> bool:
    """Whether a file with other content may be replaced: True with a backup, False without one.

    An input of the same command never is, unless the command works in place. A file that is `ours`, just as
    we wrote it, always is. Any other file is with `replace` alone; a page that says that we made it needs no
    backup.

    Raises UsageError: it must stay as it is.
    """
    if is_input and not in_place:
        raise UsageError(
            f"will not replace {path}: this command reads it", expected="another file",
            hint="choose another output; nothing was written",
        )  # fmt: skip
    if not is_input and not ours and not replace:
        raise UsageError(
            f"will not replace {path}: it may be the work of somebody else, or of another command",
            expected="a new file", hint="choose another output, or add --replace; nothing was written",
        )  # fmt: skip
    if is_input or ours or path.suffix != ".html":
        return is_input or not ours
    with open(path, "rb") as stream:
        return b"bookcoref-data" not in stream.read(_HEAD)  # people do not write such files


def backup_name(path: Path) -> str:
    """The name of the next backup of a file: `cast.txt.~1~`, `cast.txt.~2~`, as GNU programs number them."""
    return next(name for n in count(1) if not (path.with_name(name := f"{path.name}.~{n}~")).exists())


def is_marked_cache(folder: Path) -> bool:
    """Whether a folder carries the mark that `mark_cache` sets."""
    try:
        with open(folder / CACHE_TAG, "rb") as stream:
            return stream.read(500).decode("utf-8", "replace").splitlines()[:2] == [_SIGNATURE, CACHE_MARK]
    except OSError:
        return False


def mark_cache(folder: Path) -> None:
    """Make `folder` if it is not there, and mark it as a cache if it is empty.

    A folder that holds other things stays without a mark: it was somebody's before it was a cache, so
    nothing in it will ever be cleared.

    Raises OSError: the folder cannot be made or written.
    """
    if is_marked_cache(folder):
        return
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        return
    text = f"{_SIGNATURE}\n{CACHE_MARK}\n# Everything in it can be fetched or made again.\n"
    (folder / CACHE_TAG).write_text(text, encoding="utf-8")


def _short(path: Path) -> str:
    text = str(path)
    return text if len(text) <= 120 else f"{text[:100]}… ({len(text)} characters)"
