"""The examples at the end of each verb's --help work as they stand."""

from __future__ import annotations

import shlex
import shutil

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from bookcoref_data.cli.app import VERBS, declared_verb, make_app

EXAMPLES = [line for words in VERBS if (made := declared_verb(words)) for line in made.examples]
# These need a network, a model or much time: their words are read as the command reads them, no more.
NEEDS = (
    "--from-gutenberg",
    "hf:",
    "--contact",
    "--epochs",
    "http://",
    "--archive",
    "--recipe open-silver",
    "--release release",
)
TAKES_LONG = (
    "--like release",
    "annotate lamp.txt",
    "audit gold.jsonl",
    "cast lamp.txt",
    "regenerate bookcoref",
    "review lamp.txt",
)
"""Run with the long tests; in the run by default their words are read. Other tests run these verbs."""
DIFFERS = ("regenerate",)
"""Exit code 1, because an annotation of the sample is not its gold."""


def test_every_verb_has_two_or_three_examples():
    for words in VERBS:
        if made := declared_verb(words):
            assert 2 <= len(made.examples) <= 3, words
            assert all(line.startswith(f"bookcoref-data {words} ") or line == f"bookcoref-data {words}"
                       for line in made.examples), words  # fmt: skip


@pytest.mark.parametrize("line", [
    pytest.param(line, marks=[pytest.mark.long] if any(long in line for long in TAKES_LONG) else [])
    for line in EXAMPLES if not any(n in line for n in NEEDS)
])  # fmt: skip
def test_an_example_runs(place, request, monkeypatch, tmp_path, line):
    here = shutil.copytree(place, tmp_path / "here", symlinks=True)
    if "bookworm" in line:
        shutil.copytree(request.getfixturevalue("reference") / "bookworm", here / "bookworm")
    monkeypatch.chdir(here)
    monkeypatch.setenv("BOOKCOREF_DATA_HOME", str(here / "cache"))
    done = CliRunner().invoke(make_app(), shlex.split(line)[1:])
    wanted = 1 if line.split()[1] in DIFFERS and "--check" not in line else 0
    assert done.exit_code == wanted, f"{done.output} {done.exception!r}"


@pytest.mark.parametrize("line", [line for line in EXAMPLES if any(n in line for n in NEEDS + TAKES_LONG)])
def test_an_example_that_needs_more_is_understood(place, monkeypatch, line):
    monkeypatch.chdir(place)
    command, words = get_command(make_app()), shlex.split(line)[1:]
    while words and words[0] in getattr(command, "commands", {}):
        command = command.commands[words.pop(0)]
    command.make_context(line, words)
