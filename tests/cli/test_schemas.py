"""What --json prints is what docs/schemas says."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from bookcoref_data.cli.app import make_app
from bookcoref_data.sample_story.story import sample_path

SCHEMAS = Path(__file__).parents[2] / "docs" / "schemas"
MIRROR = sample_path("mirror")
# A schema is named after its verb. Every command runs in a folder with the built sample and a text of it.
COMMANDS = {
    "align": "align bookcoref lamp.txt",
    "annotate": "annotate tiny.jsonl --report tiny.jsonl --out annotated",
    "annotate-many": "annotate two.jsonl --cast names.txt --out many --jobs 1",
    "annotate-propose-cast": "annotate gold.jsonl --propose-cast",
    "audit": "audit system.conll --no-read",
    "cache-clear": "cache clear --yes --cache-dir other-cache",
    "cache-path": "cache path",
    "cache-size": "cache size",
    "cast": "cast lamp.txt",
    "cite": "cite",
    "clean": "clean lamp.txt --show-cuts",
    "contexts-ask-dry-run": "contexts ask contexts --dry-run 2",
    "contexts-build": "contexts build bookcoref --out contexts --budget 300 -s coref -s chunks",
    "contexts-compare": "contexts compare bookcoref --budget 1500",
    "convert": "convert bookcoref converted.jsonl",
    "edits-apply": "edits apply system.conll --edits edits.jsonl --out applied.jsonl",
    "edits-diff": "edits diff system.conll system.conll",
    "edits-merge": "edits merge edits.jsonl edits.jsonl",
    "export": "export bookcoref --to csv --out tables",
    "import": "import fantasycoref corpus --out imported",
    "link-train": "link-train litbank --out reader --data-only",
    "list": "list",
    "manifest-show": "manifest show bookcoref",
    "manifest-write": "manifest write bookcoref --out manifest.json",
    "pack": f"pack --release bookcoref --mirror {MIRROR} --out packs --licence CC0-1.0 --jobs 1",
    "pack-inspect": "pack inspect made.pack",
    "publish": "publish bookcoref --repo me/lamp --dry-run",
    "questions-build": "questions build gold.jsonl --out questions --test 10 --dev 5 --draws 1",
    "rebuild": "rebuild --sample --out again --jobs 1",
    "rebuild-dry-run": "rebuild --sample --dry-run",
    "regenerate-check": "regenerate bookcoref --check",
    "report": "report bookcoref --out report.md --no-plots",
    "review": "review annotated --most 3",
    "sample": "sample --out story",
    "show": "show lamp",
    "show-at": "show lamp --at 410",
    "show-character": "show lamp --character Thorne",
    "verify": "verify bookcoref",
    "view": "view bookcoref --out page.html",
}


# Schemas that a test of the room holds, where a richer world is at hand. The file names the schema.
ELSEWHERE = {
    "contexts-ask": "tasks/test_contexts.py",
    "contexts-novelty": "tasks/test_contexts.py",
    "contexts-collect": "tasks/test_guides.py",
    "contexts-identify": "tasks/test_guides.py",
    "contexts-references": "tasks/test_guides.py",
    "contexts-score": "tasks/test_contexts.py",
    "create": "workflows/test_create.py",
    "evaluate": "cli/test_evaluate.py",
    "harvest-liscu": "workflows/test_harvest.py",
    "harvest-wikidata": "workflows/test_harvest.py",
    "match": "workflows/test_create.py",
    "merge": "tasks/test_merge_cli.py",
    "merge-agreement": "tasks/test_merge_cli.py",
    "questions-evaluate": "tasks/test_questions_cli.py",
    "regenerate": "workflows/test_regenerate.py",
    "stats": "cli/test_stats.py",
}


@pytest.fixture(scope="module")
def world(place, tmp_path_factory):
    """A place that commands may change."""
    return shutil.copytree(place, tmp_path_factory.mktemp("schemas") / "here")


def output_of(world, monkeypatch, command: str):
    monkeypatch.chdir(world)
    monkeypatch.setenv("BOOKCOREF_DATA_HOME", str(world / "cache"))
    done = CliRunner().invoke(make_app(), [*command.split(), "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.mark.long
@pytest.mark.parametrize("name", COMMANDS)
def test_the_output_fits_the_schema(world, monkeypatch, fits_schema, name):
    fits_schema(name, output_of(world, monkeypatch, COMMANDS[name]))


def test_tables_of_bookworm_fit_the_schema(reference, world, monkeypatch, fits_schema):
    command = f"contexts tables {reference / 'bookworm'} --out splits.tsv"
    fits_schema("contexts-tables", output_of(world, monkeypatch, command))


def test_every_schema_is_used():
    made = {path.stem for path in SCHEMAS.glob("*.json")}
    assert made == COMMANDS.keys() | ELSEWHERE.keys() | {"contexts-tables"}
    for name, file in ELSEWHERE.items():
        assert name in (SCHEMAS.parents[1] / "tests" / file).read_text(encoding="utf-8")


def verbs_with_json() -> set[str]:
    found = set()

    def walk(command, name):
        if any("--json" in parameter.opts for parameter in command.params) and not command.hidden:
            found.add(name)
        for sub, child in getattr(command, "commands", {}).items():
            walk(child, f"{name}-{sub}".strip("-"))

    walk(get_command(make_app()), "")
    return found


def test_every_verb_with_json_has_a_schema():
    verbs = verbs_with_json()
    assert {"annotate", "edits-apply", "cache-clear", "pack"} <= verbs
    assert verbs <= {path.stem for path in SCHEMAS.glob("*.json")}


def test_the_docs_link_every_schema():
    page = (SCHEMAS.parent / "reference" / "cli.md").read_text(encoding="utf-8")
    assert not [path.name for path in SCHEMAS.glob("*.json") if f"schemas/{path.name}" not in page]


def test_a_document_that_does_not_fit_is_refused(fits_schema):
    import jsonschema

    with pytest.raises(jsonschema.ValidationError):
        fits_schema("cite", {"bibtex": 1})
