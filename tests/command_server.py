"""Commands in processes of their own that start fast: forked from a process that has imported the packages.

A new Python needs one to six seconds to import numpy, pyarrow and spaCy before a command does anything. Here
one process for each worker of pytest imports them once, loads the model where a command parses, and forks for
every command. A fork has its own
folder, environment, session, streams and exit code, and runs `main()` as the installed command does. Where a
process cannot fork, and where a test needs more than that (another locale, limits of the system, signals),
commands are started anew.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

SERVER = """
import atexit, gc, importlib, json, os, signal, sys, threading, time, traceback
from contextlib import suppress

# Not huggingface_hub and what imports it: it reads its environment when it is imported.
ALWAYS = ("numpy", "scipy.optimize", "pyarrow.parquet", "requests", "yaml", "zstandard", "filelock", "html",
          "rich.table", "rich.progress", "concurrent.futures.process", "multiprocessing.synchronize",
          "bookcoref_data.cli.app", "bookcoref_data.workflows.annotate", "bookcoref_data.workflows.verify",
          "bookcoref_data.annotation.embedded.backend", "bookcoref_data.annotation.propose",
          "tomllib")
PARSES = {"annotate", "cast", "review", "audit", "regenerate", "create"}
TOKENISES = {"rebuild", "clean"} | PARSES

os.fsync = lambda descriptor: None  # as in conftest.py


def load(names):
    for name in names:
        with suppress(ImportError):
            importlib.import_module(name)

load(ALWAYS)
importlib.import_module("bookcoref_data.cli.app").make_app()
for line in iter(sys.stdin.readline, ""):
    asked = json.loads(line)
    if TOKENISES & set(asked["words"]):
        importlib.import_module("bookcoref_data.text.tokens").tokenize_body("It is.")
    if PARSES & set(asked["words"]):
        importlib.import_module("bookcoref_data.annotation.embedded.parsing").load_model()
    gc.collect()
    gc.freeze()
    child = os.fork()
    if child == 0:
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number, name in enumerate([os.devnull, *asked["streams"]]):
            opened = os.open(name, os.O_WRONLY if number else os.O_RDONLY)
            os.dup2(opened, number)
            os.close(opened)
        os.environ.clear()
        os.environ.update(asked["environment"])
        os.chdir(asked["folder"])
        sys.argv[1:] = asked["words"]
        sleep, most = time.sleep, asked["longest_sleep"]
        if most is not None:
            time.sleep = lambda seconds: sleep(min(seconds, most))
        from bookcoref_data.cli import main
        code = 0
        try:
            main()
        except SystemExit as ended:
            code = ended.code or 0
        except BaseException:
            traceback.print_exc()
            code = 1
        # As Python ends, but what the fork shares is not taken apart: that would copy all of it.
        threading._shutdown()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class CommandServer:
    """Runs commands one at a time."""

    def __init__(self) -> None:
        # Without a buffer: what `select` asks about is then all that has not been read.
        self._process = subprocess.Popen(
            [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )

    def run(
        self, words: list[str], folder: Path, environment: dict[str, str], seconds: float,
        longest_sleep: float | None,
    ) -> tuple[int, bytes, bytes]:  # fmt: skip
        """Exit code, stdout and stderr of a command; one that hangs is ended and raises TimeoutExpired."""
        with tempfile.TemporaryDirectory() as place:
            streams = [Path(place, "out"), Path(place, "err")]
            for stream in streams:
                stream.touch()
            asked = {
                "words": words, "folder": str(folder), "environment": environment,
                "streams": [str(stream) for stream in streams], "longest_sleep": longest_sleep,
            }  # fmt: skip
            self._process.stdin.write(json.dumps(asked).encode() + b"\n")
            self._process.stdin.flush()
            child = int(self._process.stdout.readline())
            hangs = not select.select([self._process.stdout], [], [], seconds)[0]
            if hangs:
                os.killpg(child, signal.SIGKILL)
            code = int(self._process.stdout.readline())
            if hangs:
                raise subprocess.TimeoutExpired(words, seconds)
            return code, *(stream.read_bytes() for stream in streams)

    def close(self) -> None:
        """End the process that forks."""
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


_servers: dict[int, CommandServer] = {}


def run_command(
    words: list[str], folder: Path, environment: dict[str, str], seconds: float = 240,
    longest_sleep: float | None = None,
) -> tuple[int, bytes, bytes]:  # fmt: skip
    """Exit code, stdout and stderr of `bookcoref-data` with these words, in a folder and an environment.

    `longest_sleep` shortens waits, such as those before a request is tried again.

    Raises:
        subprocess.TimeoutExpired: the command did not end in `seconds`.
    """
    if not hasattr(os, "fork"):
        code = "from bookcoref_data.cli import main; main()"
        done = subprocess.run(
            [sys.executable, "-c", code, *words], cwd=folder, env=environment, timeout=seconds,
            stdin=subprocess.DEVNULL, capture_output=True, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr
    if os.getpid() not in _servers:
        _servers[os.getpid()] = CommandServer()
        atexit.register(_servers[os.getpid()].close)
    return _servers[os.getpid()].run(words, folder, environment, seconds, longest_sleep)
