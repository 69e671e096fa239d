"""Run the command line as a user does: in a process of its own, in a folder of its own."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).resolve().parent.parent))
from command_server import run_command

CODE = "from bookcoref_data.cli import main; main()"


def _fixtures_of(room: str):
    """The conftest of another room: its fault server and its small world serve here, too."""
    path = Path(__file__).resolve().parent.parent / room / "conftest.py"
    spec = importlib.util.spec_from_file_location(f"_conftest_of_{room}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


_sources, _build, _tasks = map(_fixtures_of, ("sources", "workflows", "tasks"))
server, reply, chat = _sources.server, _sources.reply, _tasks.chat
world, world_template, raw_story = _build.world, _build.world_template, _build.raw_story


@dataclass(frozen=True)
class Ran:
    """What a command left: exit code, stdout, stderr."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON document on stdout; anything else there fails."""
        return json.loads(self.out)


class Terminal:
    """A working folder and a cache in which commands are typed."""

    def __init__(self, cwd: Path, home: Path, **variables: str) -> None:
        cwd.mkdir(parents=True, exist_ok=True)
        self.cwd, self.home = cwd, home
        # Exported anew, so that variables of the machine that runs the tests do not show through.
        self.env = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
        self.env |= {"BOOKCOREF_DATA_HOME": str(home), "HF_HUB_OFFLINE": "1", "COLUMNS": "200", **variables}

    def start(self, *words: object, **options: Any) -> subprocess.Popen:
        """Start a command as the leader of a process group, as an interactive shell does."""
        command = [sys.executable, "-c", CODE, *map(str, words)]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        return subprocess.Popen(
            command, cwd=self.cwd, env=self.env, start_new_session=True, text=True, encoding="utf-8",
            stdin=subprocess.DEVNULL, **streams,
        )  # fmt: skip

    def run(self, *words: object, longest_sleep: float | None = None, **options: Any) -> Ran:
        """Run a command to its end; with options of Popen in a process that is started anew.

        `longest_sleep` shortens the waits of a command that is not started anew.
        """
        if options:
            return self.finish(self.start(*words, **options))
        code, *streams = run_command(list(map(str, words)), self.cwd, self.env, longest_sleep=longest_sleep)
        # Line ends as Popen gives them for text.
        out, err = ("\n".join(s.decode("utf-8").replace("\r\n", "\n").split("\r")) for s in streams)
        return Ran(code, out, err)

    def finish(self, process: subprocess.Popen) -> Ran:
        """Wait for a started command; one that hangs fails the test and leaves nothing running."""
        try:
            out, err = process.communicate(timeout=240)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise
        return Ran(process.returncode, out, err)


@pytest.fixture
def terminal(tmp_path) -> Terminal:
    """A terminal with an empty cache in an empty folder."""
    return Terminal(tmp_path / "here", tmp_path / "cache")


@pytest.fixture(scope="session")
def built(tmp_path_factory) -> Terminal:
    """A terminal in whose folder the sample was rebuilt; tests must not change what is in it."""
    root = tmp_path_factory.mktemp("built")
    made = Terminal(root / "here", root / "cache")
    ran = made.run("rebuild", "--sample")
    assert ran.code == 0, ran.err
    return made
