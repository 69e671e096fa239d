"""What --json prints is what docs/schemas says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import bookcoref_data as bc
from bookcoref_data.cli.app import make_app
from bookcoref_data.sample import gutenberg_text, sample_path

SCHEMAS = Path(__file__).parents[2] / "docs" / "schemas"
MIRROR = sample_path("mirror")
# A schema is named after its verb. Every command runs in a folder with the built sample and a text of it.
COMMANDS = {
    "align": "align bookcoref lamp.txt",
    "cache-path": "cache path",
    "cache-size": "cache size",
    "cite": "cite",
    "clean": "clean lamp.txt --show-cuts",
    "convert": "convert bookcoref converted.jsonl",
    "edits-apply": "edits apply system.conll --edits edits.jsonl --out applied.jsonl",
    "edits-diff": "edits diff system.conll system.conll",
    "export": "export bookcoref --to csv --out tables",
    "import": "import fantasycoref corpus --out imported",
    "list": "list",
    "manifest-show": "manifest show bookcoref",
    "manifest-write": "manifest write bookcoref --out manifest.json",
    "pack": f"pack --release bookcoref --mirror {MIRROR} --out packs --licence CC0-1.0 --jobs 1",
    "pack-inspect": "pack inspect made.pack",
    "publish": "publish bookcoref --repo me/lamp --dry-run",
    "rebuild": "rebuild --sample --out again --jobs 1",
    "report": "report bookcoref --out report.md --no-plots",
    "sample": "sample --out story",
    "show": "show lamp",
    "show-at": "show lamp --at 410",
    "verify": "verify bookcoref",
    "view": "view bookcoref --out page.html",
}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("schemas")
    bc.rebuild(folder / "bookcoref", sample=True, cache_dir=folder / "cache", jobs=1)
    bc.load(folder / "bookcoref").save(folder / "system.conll")
    (folder / "lamp.txt").write_text(gutenberg_text(), encoding="utf-8")
    (folder / "edits.jsonl").write_text("", encoding="utf-8")
    (folder / "corpus").mkdir()
    bc.load(folder / "bookcoref").save(folder / "corpus" / "lamp.conll")
    bc.publish(
        folder / "bookcoref", "me/lamp", standoff=True, dry_run=True, out=folder / "standoff",
        cache_dir=folder / "cache",
    )  # fmt: skip
    next((folder / "standoff").glob("*.pack")).rename(folder / "made.pack")
    return folder


def output_of(world, monkeypatch, command: str):
    monkeypatch.chdir(world)
    monkeypatch.setenv("BOOKCOREF_DATA_HOME", str(world / "cache"))
    done = CliRunner().invoke(make_app(), [*command.split(), "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_output_fits_the_schema(world, monkeypatch, name):
    import jsonschema

    schema = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(output_of(world, monkeypatch, COMMANDS[name]))


def test_every_schema_is_used():
    tested_elsewhere = {"evaluate", "stats"}
    assert {path.stem for path in SCHEMAS.glob("*.json")} == COMMANDS.keys() | tested_elsewhere
