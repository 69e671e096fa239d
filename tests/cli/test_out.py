"""What a verb writes with --out lies there and nowhere else, and the option is never ignored."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from bookcoref_data.cli.app import make_app
from bookcoref_data.sample_story.story import sample_path

MIRROR = sample_path("mirror")
MODEL = "--endpoint {url} --model m"
# Every verb with --out, and a command of it. TARGET stands for what --out names.
COMMANDS = {
    "align": "align bookcoref lamp.txt --out TARGET.jsonl",
    "audit": "audit bookcoref --no-read --out TARGET.html",
    "annotate": "annotate tiny.jsonl --cast names.txt --out TARGET",
    "cast": "cast lamp.txt --out TARGET.html",
    "clean": "clean lamp.txt --out TARGET.txt",
    "contexts ask": f"contexts ask contexts --most 1 {MODEL} --out TARGET.jsonl",
    "contexts build": "contexts build bookcoref --budget 100 -s lead --out TARGET",
    "contexts identify": f"contexts identify guides {MODEL} --out TARGET.jsonl",
    "contexts references": "contexts references guides bookcoref --out TARGET.jsonl",
    "contexts tables": "contexts tables {bookworm} --out TARGET.tsv",
    "create": "create --casts casts.jsonl --catalogue rdf.tar.bz2 --no-annotation --jobs 1 --out TARGET "
    f"--mirror {MIRROR}",
    "edits apply": "edits apply system.conll --edits edits.jsonl --out TARGET",
    "edits diff": "edits diff system.conll system.conll --out TARGET.jsonl",
    "edits merge": "edits merge edits.jsonl edits.jsonl --out TARGET.jsonl",
    "export": "export bookcoref --to csv --out TARGET",
    "harvest liscu": "harvest liscu --names names.tsv --out TARGET.jsonl",
    "import": "import fantasycoref corpus --out TARGET",
    "link-train": "link-train litbank --out TARGET --data-only",
    "manifest write": "manifest write bookcoref --out TARGET.json",
    "match": "match casts.jsonl --catalogue rdf.tar.bz2 --out TARGET",
    "merge": "merge parts.conll --by id --out TARGET.conll",
    "pack": f"pack --release bookcoref --mirror {MIRROR} --licence CC0-1.0 --jobs 1 --out TARGET",
    "publish": "publish bookcoref --repo me/lamp --dry-run --out TARGET",
    "questions build": "questions build system.conll --test 3 --dev 0 --draws 0 --out TARGET",
    "questions evaluate": "questions evaluate questions --annotation system.conll --books system.conll "
    "--out TARGET.jsonl",
    "rebuild": "rebuild --sample --jobs 1 --out TARGET",
    "regenerate": "regenerate named --jobs 1 --out TARGET",
    "report": "report bookcoref --no-plots --out TARGET.md",
    "review": "review tiny.jsonl --cast names.txt --out TARGET.html",
    "sample": "sample --out TARGET",
    "view": "view bookcoref --out TARGET.html",
}
# These need a service to ask; the tests named here read back what --out names.
ELSEWHERE = {
    "contexts collect": "tests/tasks/test_guides.py",
    "contexts score": "tests/tasks/test_facts.py",
    "harvest wikidata": "tests/workflows/test_harvest.py",
}
BESIDE = {
    "contexts ask": ("target.jsonl.replies.jsonl",),  # replies are kept, so that a run goes on
    "contexts identify": ("target.jsonl.replies.jsonl",),
    "create": ("target-matches",),  # the tables to review
}
"""What stands beside the target, as the docs say."""


def files_in(folder: Path) -> dict[str, tuple[int, int]]:
    """Every file but those of the cache, with size and time."""
    found = {}
    for path in folder.rglob("*"):
        name = str(path.relative_to(folder))
        if path.is_file() and not name.startswith("cache/"):
            found[name] = (path.stat().st_size, path.stat().st_mtime_ns)
    return found


def verbs_with_out() -> set[str]:
    found = set()

    def walk(command, name):
        if any("--out" in parameter.opts for parameter in command.params) and not command.hidden:
            found.add(name)
        for sub, child in getattr(command, "commands", {}).items():
            walk(child, f"{name} {sub}".strip())

    walk(get_command(make_app()), "")
    return found


def test_every_verb_with_out_is_tried():
    assert verbs_with_out() == COMMANDS.keys() | ELSEWHERE.keys()
    for verb, file in ELSEWHERE.items():
        text = (Path(__file__).parents[2] / file).read_text(encoding="utf-8")
        assert f'"{verb.split()[-1]}"' in text


SLOW = {"annotate", "create", "manifest write", "match", "pack", "publish", "regenerate"}
"""Tried with --json alone, where an early return could forget it; tests of their rooms try them without."""


@pytest.fixture(scope="module")
def cache(place, tmp_path_factory):
    """A cache to write to: that of `place` stays as it is."""
    return shutil.copytree(place / "cache", tmp_path_factory.mktemp("out") / "cache")


@pytest.mark.long
@pytest.mark.parametrize(
    ("verb", "printed"),
    [(verb, printed) for verb in COMMANDS for printed in ("", " --json") if printed or verb not in SLOW],
)
def test_it_is_written_there_and_nowhere_else(
    place, cache, chat, request, monkeypatch, tmp_path, verb, printed
):
    bookworm = request.getfixturevalue("reference") / "bookworm" if "{bookworm}" in COMMANDS[verb] else ""
    monkeypatch.chdir(place)
    monkeypatch.setenv("BOOKCOREF_DATA_HOME", str(cache))
    before = files_in(place)
    command = COMMANDS[verb].format(url=chat.url, bookworm=bookworm) + printed
    words = [word.replace("TARGET", str(tmp_path / "target")) for word in command.split()]
    done = CliRunner().invoke(make_app(), words)
    assert done.exit_code == 0, f"{done.output} {done.exception}"
    assert files_in(place) == before
    target = words[words.index("--out") + 1]
    assert Path(target).stat().st_size > 0 or verb in ("contexts references", "edits diff", "edits merge")
    if Path(target).is_dir():
        assert any(Path(target).iterdir())
    assert {path.name for path in tmp_path.iterdir()} == {Path(target).name, *BESIDE.get(verb, ())}


@pytest.mark.parametrize("verb", ["annotate", "clean", "export", "edits apply"])
def test_a_data_set_folder_takes_no_other_files(place, cache, monkeypatch, tmp_path, verb):
    """They would make it fail `verify` without a word."""
    monkeypatch.chdir(place)
    monkeypatch.setenv("BOOKCOREF_DATA_HOME", str(cache))
    target = shutil.copytree(place / "bookcoref", tmp_path / "target")
    before = files_in(target)
    words = COMMANDS[verb].replace("TARGET.txt", "TARGET").replace("TARGET", str(target)).split()
    done = CliRunner().invoke(make_app(), words)
    assert "is a data set folder" in f"{done.output} {done.exception}"
    assert files_in(target) == before
    assert not (target / "states").exists()
