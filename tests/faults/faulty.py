"""Make the n-th step on the disk fail, or kill the process there; and look at what is left.

A step is whatever changes the disk: a file made, written, flushed, renamed or removed, a folder made or
removed, a connection opened. Commands run in forked children, so that a kill is a kill.
"""

from __future__ import annotations

import builtins
import errno
import hashlib
import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

FINE, REFUSED, TRACEBACK = 0, 3, 99
KILLED = -signal.SIGKILL
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_WHAT = ("replace", "rename", "unlink", "remove", "mkdir", "rmdir", "fsync", "chmod")


class Faults:
    """Counts the steps of this process; at step `at` the process dies (`kill`) or the step fails with `code`.

    Only what happens below the folder `root` counts. After the step that failed all others work.
    """

    def __init__(self, at: int, root: Path, *, kill: bool, code: int = errno.ENOSPC) -> None:
        self.at, self.root, self.kill, self.code, self.count = at, str(root), kill, code, 0

    def step(self) -> None:
        self.count += 1
        if self.count == self.at:
            if self.kill:
                os.kill(os.getpid(), signal.SIGKILL)
            raise OSError(self.code, os.strerror(self.code))

    def install(self) -> None:
        """Count the steps of this process from now on."""
        for name in _WHAT:
            setattr(os, name, self._counted(getattr(os, name)))
        os.open = self._counted(os.open, lambda _, flags, *more, **named: bool(flags & _WRITES))
        builtins.open = self._counted(
            builtins.open, lambda _, mode="r", *more, **named: isinstance(mode, str) and mode[0] in "wax"
        )
        socket.socket.connect = self._counted(socket.socket.connect)
        fdopen = os.fdopen
        os.fdopen = lambda *given, **named: _Stream(fdopen(*given, **named), self)

    def _counted(self, function: Callable, when: Callable[..., bool] = lambda *_, **__: True) -> Callable:
        def call(*given, **named):
            if self._concerns(given[0]) and when(*given, **named):
                self.step()
            return function(*given, **named)

        return call

    def _concerns(self, thing: object) -> bool:
        if isinstance(thing, str | os.PathLike):
            return os.path.abspath(thing).startswith(self.root)
        return True


class _Stream:
    """A stream whose writes are steps; half of what is written when one fails is there."""

    def __init__(self, stream, faults: Faults) -> None:
        self._stream, self._faults = stream, faults

    def write(self, data):
        half = len(data) // 2
        self._stream.write(data[:half])
        self._faults.step()
        self._stream.write(data[half:])
        return len(data)

    def __enter__(self):
        return self

    def __exit__(self, *given):
        self._stream.close()

    def __getattr__(self, name):
        return getattr(self._stream, name)


def in_child(work: Callable[[], object], faults: Faults | None = None) -> tuple[int, str]:
    """Run `work` in a forked process: (FINE, REFUSED, TRACEBACK or the signal, what it said)."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        code = _run(work, faults, write)
        os._exit(code)
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        said = stream.read().decode("utf-8", "replace")
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said


def _run(work: Callable[[], object], faults: Faults | None, write: int) -> int:
    from bookcoref_data.errors import BookcorefError

    say = os.write
    try:
        if faults is not None:
            faults.install()
        work()
    except BookcorefError as error:
        say(write, str(error).encode())
        return REFUSED
    except BaseException:
        say(write, "".join(traceback.format_exception(*sys.exc_info())).encode())
        return TRACEBACK
    return FINE


def digest(folder: Path) -> dict[str, str]:
    """Every file and empty folder below `folder`, with a checksum."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file():
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        elif not any(path.iterdir()):
            found[name + "/"] = "empty"
    return found
