"""The command line as a whole: help, exit codes, JSON; and the verbs that look at a built folder."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest
from typer.main import get_command

from bookcoref_data import __version__
from bookcoref_data.cli.app import make_app
from bookcoref_data.resources import resource

pytestmark = pytest.mark.slow

HEAVY = (
    "datasets", "spacy", "polars", "pyarrow", "torch", "scipy", "pandas", "transformers", "matplotlib",
    "SPARQLWrapper", "gutenbergpy", "huggingface_hub", "requests", "punkt",
)  # fmt: skip


def commands(command=None, name="") -> dict:
    """{words: click command} of everything that can be typed."""
    command = command or get_command(make_app())
    children = getattr(command, "commands", {})
    found = {} if children else {name: command}
    for sub, child in children.items():
        found |= commands(child, f"{name} {sub}".strip())
    return found


@pytest.fixture
def copy(built, tmp_path):
    """The built sample to be changed at will."""
    return shutil.copytree(built.cwd / "bookcoref", tmp_path / "bookcoref")


def test_help_lists_every_verb_and_loads_nothing_heavy(terminal):
    code = (
        "import sys; from bookcoref_data.cli import main\n"
        "try: main()\n"
        f"finally: print('LOADED', sorted(set(sys.modules) & set({HEAVY!r})), file=sys.stderr)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, "--help"], capture_output=True, text=True, env=terminal.env, timeout=60
    )
    assert ran.returncode == 0
    assert ran.stderr.strip() == "LOADED []"
    for verb, command in get_command(make_app()).commands.items():
        assert (f"  {verb} " in ran.stdout) != command.hidden, verb
    assert "130 interrupted" in ran.stdout


def test_ctrl_c_while_python_imports_is_said_as_later_on(tmp_path):
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt")
    ran = subprocess.run(
        [sys.executable, "-c", "from bookcoref_data.cli import main; main()", "list"],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(tmp_path)}, timeout=60,
    )  # fmt: skip
    assert (ran.returncode, ran.stdout) == (130, "")
    assert ran.stderr == "interrupted; finished work is kept, run the same command again to go on\n"


def test_importing_the_package_loads_nothing_heavy():
    code = f"import sys, bookcoref_data; assert not set(sys.modules) & set({HEAVY!r})"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_every_command_says_what_it_does_and_offers_json():
    for name, command in commands().items():
        assert (command.help or "").strip().split("\n")[0].endswith((".", ":")), name
        assert any("--json" in p.opts for p in command.params), name
        for parameter in command.params:
            assert getattr(parameter, "help", None), f"{name}: {parameter.name}"
        assert command.get_help(command.make_context(name, [], resilient_parsing=True))


def test_version(terminal):
    assert terminal.run("--version").out == f"bookcoref-data {__version__}\n"


def test_python_runs_the_package_as_the_command(tmp_path):
    """`python -m bookcoref_data`, where the command is not on the path; exit codes come through."""
    words = [sys.executable, "-m", "bookcoref_data"]
    ran = subprocess.run([*words, "--version"], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert ran.stdout == f"bookcoref-data {__version__}\n"
    assert (
        subprocess.run([*words, "frobnicate"], capture_output=True, check=False, cwd=tmp_path).returncode == 2
    )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["frobnicate"], "frobnicate"),
        (["rebuild", "--sample", "--jobs", "many"], "--jobs"),
        (["rebuild"], "--from-gutenberg or --sample"),
        (["show", "nothing"], None),
    ],
)
def test_wrong_usage_exits_with_2_on_stderr_alone(built, words, told):
    ran = built.run(*words)
    assert (ran.code, ran.out) == (2, "")
    assert "Traceback" not in ran.err
    assert told is None or told in ran.err


# -- looking at a built folder ---------------------------------------------------------------------------


def test_verify_proves_the_sample(built):
    ran = built.run("verify")
    assert (ran.code, ran.err) == (0, "")
    assert "published" in ran.out
    assert ran.out.splitlines()[-1].startswith("verified: 1 of 1 books")
    value = built.run("verify", "bookcoref", "--json").json
    assert (value["exit_code"], value["problems"]) == (0, [])
    (book,) = value["books"]
    assert (book["status"], book["problems"]) == ("ok", [])


def test_verify_exits_with_1_when_books_are_missing(built):
    ran = built.run("verify", "--complete", "--json")
    assert ran.code == 1
    states = [book["status"] for book in ran.json["books"]]
    assert (states.count("ok"), states.count("missing")) == (1, 53)


@pytest.mark.long
def test_verify_exits_with_4_when_content_was_changed(built, copy):
    import pyarrow.parquet as pq

    path = copy / "full/test.parquet"
    table = pq.read_table(path)
    rows = table.to_pylist()
    rows[0]["sentences"][3][0] += "x"
    pq.write_table(table.from_pylist(rows, schema=table.schema), path)
    ran = built.run("verify", copy)
    assert ran.code == 4
    assert "tokens_sha256" in ran.out
    assert "CHECKSUM MISMATCH" in ran.out
    assert built.run("verify", copy, "--json").json["exit_code"] == 4


def test_verify_of_what_is_no_folder_says_how_to_make_one(terminal):
    ran = terminal.run("verify", "--json")
    assert ran.code == 1
    assert ran.json["error"]["kind"] == "FormatError"
    assert "rebuild --sample" in ran.err


def test_two_people_compare_one_string(built, copy, tmp_path):
    file = tmp_path / "mine.json"
    wrote = built.run("manifest", "write", "bookcoref", "--out", file)
    assert wrote.code == 0
    assert wrote.out == built.run("manifest", "show").out
    assert wrote.out.startswith("sha256:")
    assert len(wrote.out.strip()) == len("sha256:") + 16
    digest = json.loads(file.read_text())["digest"]
    assert built.run("manifest", "show", "--json").json["digest"] == digest
    again = built.run("manifest", "write", "--out", tmp_path / "again.json", "--json")
    assert again.json == {"manifest": str(tmp_path / "again.json"), "digest": digest}
    assert built.run("verify", copy, "--manifest", file).code == 0
    recorded = json.loads(file.read_text())
    (facts,) = recorded["books"].values()
    facts["spans_sha256"] = "0" * 64
    file.write_text(json.dumps(recorded))
    other = built.run("verify", copy, "--manifest", file)
    assert other.code == 4
    assert "0000000000000000" in other.out


def test_list_shows_all_books_and_what_is_here(built):
    rows = built.run("list", "--json").json
    here = [row for row in rows if row["built"]]
    assert (len(rows), len(here)) == (54, 1)
    emma = next(row for row in rows if row["doc_key"] == "emma_158")
    assert emma["tokens"] > 100_000
    assert not emma["text_cached"]
    ran = built.run("list")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[-1] == "54 books, 0 texts in the cache, 1 built in bookcoref"


def test_show_describes_a_book_and_the_mentions_of_a_character(built):
    (row,) = [row for row in built.run("list", "--json").json if row["built"]]
    value = built.run("show", row["gutenberg_key"], "--json").json
    assert value["facts"]["doc_key"] == row["doc_key"]
    name, count, _ = value["characters"][0]
    mentions = built.run("show", row["doc_key"], "--character", name, "--json").json
    assert (mentions["character"], len(mentions["mentions"])) == (name, count)
    starts = [m["start"] for m in mentions["mentions"]]
    assert starts == sorted(starts)
    assert "[" in mentions["mentions"][0]["text"]
    table = built.run("show", row["doc_key"], "--most", "2").out
    assert name in table
    assert "more (--most" in table


def test_show_suggests_names(built):
    assert "lamp" in built.run("show", "lmap").err
    known = built.run("show", "lamp", "--character", "nobody at all")
    assert known.code == 2
    assert "no character like 'nobody at all'" in known.err


def test_cite_prints_the_entry(built):
    plain = built.run("cite").out
    assert plain.startswith("@inproceedings{martinelli-etal-2025-bookcoref")
    assert plain.rstrip().endswith("}")
    assert built.run("cite", "--json").json["bibtex"].strip() == plain.strip()


def test_the_cache_says_where_it_is(built):
    assert built.run("cache", "path").out.strip() == str(built.home)
    sizes = built.run("cache", "size", "--json").json
    assert {"books", "release"} <= {part["part"] for part in sizes["parts"]}


def test_the_published_facts_are_one_table():
    """`list` and `verify --complete` speak of the same 53 books as the manifest."""
    books = json.loads(resource("manifests", "bookcoref.json").read_text(encoding="utf-8"))["books"]
    assert len({b["doc_key"] for b in books}) == len(books) == 53


def test_sigterm_removes_temporary_files(tmp_path):
    """A service that is stopped while it writes leaves no part of a file."""
    if not hasattr(signal, "SIGKILL"):
        pytest.skip("no POSIX signals here")
    code = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from bookcoref_data.cli import app\n"
        "from bookcoref_data.files import writing\n"
        "def run(**options):\n"
        "    with writing(Path(sys.argv[1]) / 'out.txt', 'w') as stream:\n"
        "        stream.write('half'); stream.flush()\n"
        "        print('ready', flush=True)\n"
        "        time.sleep(60)\n"
        "app.program = lambda: run\n"
        "app.main()\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "ready\n"
    child.send_signal(signal.SIGTERM)
    _, message = child.communicate(timeout=60)
    assert child.returncode == 130
    assert "interrupted" in message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_a_second_ctrl_c_ends_what_waits_for_its_workers():
    """It hung for good: the worker waited for a word from a process that waited for its end."""
    code = (
        "import time\n"
        "from bookcoref_data.cli import app, main\n"
        "from bookcoref_data.workflows.engine import run_jobs\n"
        "def jobs():\n"
        "    yield 8.0\n"
        "    print('ready', flush=True)\n"
        "    yield 8.0\n"
        "app.program = lambda: lambda **options: list(run_jobs(time.sleep, jobs(), 2))\n"
        "main()\n"
    )
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    child = subprocess.Popen(
        [sys.executable, "-c", code], start_new_session=True, **streams,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    assert child.stdout.readline() == "ready\n"
    child.send_signal(signal.SIGINT)
    assert child.stderr.readline().startswith("interrupted; finished work is kept")
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    try:
        child.communicate(timeout=30)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
    assert child.returncode in (130, -signal.SIGINT)
