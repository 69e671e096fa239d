"""Run the command line as a user does: in a process of its own, in a folder of its own."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).resolve().parent.parent))
from command_server import run_command

import bookcoref_data as bc
from bookcoref_data.characters.table import CastRow, write_table
from bookcoref_data.sample_story.story import sample_path
from tests.faults.workplace import PARTS, RDF, write_litbank

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


TINY = {"gutenberg_key": "0", "sentences": [["Anna", "saw", "Mr.", "Ford", "."], ["She", "smiled", "."]]}
KNOWN = {
    "doc_key": "tiny", **TINY, "clusters": [[[0, 0], [5, 5]], [[2, 3]]],
    "characters": [
        {"name": "Anna", "mentions": [[0, 0], [5, 5]]}, {"name": "Mr. Ford", "mentions": [[2, 3]]},
    ],
}  # fmt: skip
TEXTS = [{"doc_key": "lamp", "character": "Thorne", "text": "He keeps the lamp.", "strategy": "coref"}]
MASKED = {
    "id": "a", "source": "sparknotes", "summary": "Ada bakes.", "masked_description": "[MASK] bakes.",
    "masks": 1, "options": ["Ada", "Sam"], "answer": "Ada", "prompt": "Who?",
}  # fmt: skip


def fill_with_lists(folder: Path) -> None:
    """Casts, a catalogue, texts of guides, a corpus in parts: small inputs of the other verbs."""
    names = ("Ada Brook", "Tom Reed", "Old Tam", "Sam", "Bib")
    write_table(folder / "casts.jsonl", [
        CastRow("shmoop", "The Lamp", "The Lamp", name, order=i, author="Mira Holt", raw_character=name)
        for i, name in enumerate(names)
    ])  # fmt: skip
    with tarfile.open(folder / "rdf.tar.bz2", "w:bz2") as tar:
        member = tarfile.TarInfo("cache/epub/99000001/pg99000001.rdf")
        member.size = len(RDF)
        tar.addfile(member, io.BytesIO(RDF.encode()))
    told = {"doc_key": "x", "gutenberg_key": "1", "character": "Ada", "text": "She bakes."}
    for kind, row in (("identification", MASKED), ("description", told), ("analysis", told)):
        (folder / "guides" / kind).mkdir(parents=True)
        write_lines(folder / "guides" / kind / "test.jsonl", [row])
    write_lines(folder / "references.jsonl", TEXTS)
    write_lines(folder / "answers.jsonl", TEXTS)
    (folder / "parts.conll").write_text(PARTS, encoding="utf-8")
    (folder / "names.tsv").write_text("title\tsource\tcharacter\nFarm\tcliffnotes\tBen\n", encoding="utf-8")


def write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture(scope="session")
def place(tmp_path_factory, built):
    """A folder with small inputs of all verbs, and a cache; tests must not change what is in it."""
    folder = tmp_path_factory.mktemp("place")
    shutil.copytree(built.cwd / "bookcoref", folder / "bookcoref")
    shutil.copytree(built.home, folder / "cache")
    shutil.copytree(sample_path("mirror"), folder / "mirror")
    bc.sample(folder)
    books = bc.load(folder / "bookcoref")
    for name in ("system.conll", "gold.jsonl"):
        books.save(folder / name)
    for name in ("edits.jsonl", "more-edits.jsonl"):
        (folder / name).write_text("", encoding="utf-8")
    (folder / "names.txt").write_text("Anna\nMr. Ford\n", encoding="utf-8")
    write_lines(folder / "tiny.jsonl", [KNOWN])
    write_lines(folder / "two.jsonl", [{"doc_key": key, **TINY} for key in ("one", "two")])
    (folder / "corpus").mkdir()
    books.save(folder / "corpus" / "lamp.conll")
    write_litbank(folder / "litbank")
    bc.contexts_build(books, folder / "contexts", budget=100, strategies=["lead"])
    bc.questions_build(folder / "system.conll", folder / "questions", test=3, dev=0, draws=0)
    bc.annotate(folder / "tiny.jsonl", ["Anna", "Mr. Ford"], out=folder / "annotated")
    shutil.copytree(folder / "annotated" / "dataset", folder / "named")
    fill_with_lists(folder)
    bc.match(folder / "casts.jsonl", folder / "matches", catalogue=folder / "rdf.tar.bz2")
    packed = folder / "standoff"
    bc.publish(
        folder / "bookcoref", "me/lamp", standoff=True, dry_run=True, out=packed, cache_dir=folder / "cache"
    )
    next(packed.glob("*.pack")).rename(folder / "made.pack")
    shutil.rmtree(packed)
    shutil.copytree(folder / "cache", folder / "other-cache")
    return folder
