"""The README's commands: those marked `run` are run, those marked `parse` must be understood.

`run to exit code one` marks commands that end with 1, because something differs.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parent))
from command_server import run_command

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"<!-- ([a-z ]+) -->\n```bash\n(.*?)```", re.DOTALL)
BLOCKS = BLOCK.findall(README)


def commands(kind: str) -> list[str]:
    found = []
    for mark, block in BLOCKS:
        if mark == kind:
            joined = block.replace("\\\n", " ")
            found += [line for line in joined.splitlines() if line.strip() and not line.startswith("#")]
    return found


def words(command: str) -> list[str]:
    return shlex.split(command, comments=True)


@pytest.fixture(scope="module")
def options() -> dict[str, set[str]]:
    """{verb: its options}, for every verb and sub-verb of the command line."""
    from typer.main import get_command

    from bookcoref_data.cli.app import make_app

    found: dict[str, set[str]] = {}

    def walk(command, name):
        found[name] = {o for p in command.params for o in [*p.opts, *p.secondary_opts]} | {"--help"}
        for sub, child in getattr(command, "commands", {}).items():
            walk(child, f"{name} {sub}".strip())

    walk(get_command(make_app()), "")
    return found


def ours() -> list[str]:
    lines = commands("run") + commands("run to exit code one") + commands("parse") + commands("main command")
    parts = [part.strip() for line in lines for part in line.split("&&")]
    return [p for p in parts if p.startswith("bookcoref-data ")]


@pytest.mark.parametrize("command", ours())
def test_every_command_is_understood(command, options):
    given = words(command)[1:]
    two = " ".join(given[:2])
    verb = two if two in options else given[0]
    assert verb in options or given[0].startswith("--")
    known = options.get(verb, options[""]) | options.get(given[0], set())
    assert {w.split("=")[0] for w in given if w.startswith("-") and w != "-"} <= known


def test_every_block_of_commands_is_marked():
    assert README.count("```bash") == len(BLOCKS)
    kinds = {"main command", "test command", "run", "run to exit code one", "parse"}
    assert {kind for kind, _ in BLOCKS} == kinds


def test_links_lead_somewhere():
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert links
    assert [link for link in links if "://" not in link and not (ROOT / link).exists()] == []


def typed(command: str, folder: Path, environment: dict[str, str]) -> tuple[int, str]:
    """Exit code and output of a line of the README; our own commands need no shell."""
    if command.startswith("bookcoref-data "):
        code, out, err = run_command(words(command)[1:], folder, environment)
        return code, (out + err).decode("utf-8")
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.long
def test_the_commands_work_one_after_the_other(tmp_path):
    """In an empty folder, with the network refused by environment, as the README orders them."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "BOOKCOREF_DATA_HOME": str(tmp_path / "cache"),
        "HF_HOME": str(tmp_path / "hf"),
        "HF_HUB_OFFLINE": "1",
        "http_proxy": "http://127.0.0.1:9",
        "https_proxy": "http://127.0.0.1:9",
    }
    work = tmp_path / "work"
    work.mkdir()
    main = commands("main command")[0].split("&&")[1]
    differs = commands("run to exit code one")
    for command in [main, *commands("run"), *differs]:
        code, said = typed(command.strip(), work, environment)
        assert code == (command in differs), f"{command}\n{said}"
        assert said.strip(), f"{command} says nothing"
    for code in re.findall(r"```python\n(.*?)```", README, re.DOTALL):
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=work,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, f"{code}\n{done.stderr}"
