"""What a verb writes with --out lies there and nowhere else, and the option is never ignored."""

from __future__ import annotations

import io
import json
import shutil
import tarfile
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import bookcoref_data as bc
from bookcoref_data.characters.table import CastRow, write_table
from bookcoref_data.cli.app import make_app
from bookcoref_data.sample import gutenberg_text, sample_path

MIRROR = sample_path("mirror")
MODEL = "--endpoint {url} --model m"
# Every verb with --out, and a command of it. TARGET stands for what --out names.
COMMANDS = {
    "align": "align bookcoref lamp.txt --out TARGET.jsonl",
    "annotate": "annotate tiny.jsonl --cast names.txt --out TARGET",
    "clean": "clean lamp.txt --out TARGET.txt",
    "contexts ask": f"contexts ask contexts --limit 1 {MODEL} --out TARGET.jsonl",
    "contexts build": "contexts build bookcoref --budget 100 -s lead --out TARGET",
    "contexts identify": f"contexts identify guides {MODEL} --out TARGET.jsonl",
    "contexts references": "contexts references guides bookcoref --out TARGET.jsonl",
    "contexts tables": "contexts tables {bookworm} --out TARGET.tsv",
    "create": "create --casts casts.jsonl --catalogue rdf.tar.bz2 --no-annotation --jobs 1 --out TARGET "
    f"--mirror {MIRROR}",
    "edits apply": "edits apply system.conll --edits edits.jsonl --out TARGET",
    "edits diff": "edits diff system.conll system.conll --out TARGET.jsonl",
    "export": "export bookcoref --to csv --out TARGET",
    "harvest liscu": "harvest liscu --names names.tsv --out TARGET.jsonl",
    "import": "import fantasycoref corpus --out TARGET",
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
    "sample": "sample --out TARGET",
    "view": "view bookcoref --out TARGET.html",
}
# These need a service to ask; the tests named here read back what --out names.
ELSEWHERE = {
    "contexts collect": "tests/tasks/test_guides.py",
    "harvest wikidata": "tests/workflows/test_harvest.py",
}
BESIDE = {
    "contexts ask": ("target.jsonl.replies.jsonl",),  # replies are kept, so that a run goes on
    "contexts identify": ("target.jsonl.replies.jsonl",),
    "create": ("target-matches",),  # the tables to review
}
"""What stands beside the target, as the docs say."""
RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns:dcterms="http://purl.org/dc/terms/" xmlns:pgterms="http://www.gutenberg.org/2009/pgterms/">
<pgterms:ebook rdf:about="ebooks/99000001"><dcterms:title>The Lamp</dcterms:title>
<dcterms:creator><pgterms:agent><pgterms:name>Holt, Mira</pgterms:name></pgterms:agent></dcterms:creator>
<dcterms:type><rdf:Description><rdf:value>Text</rdf:value></rdf:Description></dcterms:type>
<dcterms:language><rdf:Description><rdf:value>en</rdf:value></rdf:Description></dcterms:language>
</pgterms:ebook></rdf:RDF>"""
PARTS = """#begin document (bc/demo/1); part 000
d\t0\t0\tJohn\tNNP\t*\t-\t-\t-\t-\t*\t(0)

#end document
#begin document (bc/demo/1); part 001
d\t1\t0\tHe\tPRP\t*\t-\t-\t-\t-\t*\t(0)

#end document
"""
TINY = {
    "doc_key": "tiny", "gutenberg_key": "0", "sentences": [["Anna", "saw", "Mr.", "Ford", "."]],
    "clusters": [[[0, 0]], [[2, 3]]],
    "characters": [{"name": "Anna", "mentions": [[0, 0]]}, {"name": "Mr. Ford", "mentions": [[2, 2]]}],
}  # fmt: skip
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
    for kind, row in (
        ("identification", MASKED),
        ("description", {"doc_key": "x", "gutenberg_key": "1", "character": "Ada", "text": "She bakes."}),
    ):
        (folder / "guides" / kind).mkdir(parents=True)
        (folder / "guides" / kind / "test.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    (folder / "parts.conll").write_text(PARTS, encoding="utf-8")
    (folder / "names.tsv").write_text("title\tsource\tcharacter\nFarm\tcliffnotes\tBen\n", encoding="utf-8")


@pytest.fixture(scope="module")
def place(tmp_path_factory, built):
    folder = tmp_path_factory.mktemp("out")
    shutil.copytree(built.cwd / "bookcoref", folder / "bookcoref")
    shutil.copytree(built.home, folder / "cache")
    books = bc.load(folder / "bookcoref")
    books.save(folder / "system.conll")
    (folder / "lamp.txt").write_text(gutenberg_text(), encoding="utf-8")
    (folder / "edits.jsonl").write_text("", encoding="utf-8")
    (folder / "names.txt").write_text("Anna\nMr. Ford\n", encoding="utf-8")
    (folder / "tiny.jsonl").write_text(json.dumps(TINY) + "\n", encoding="utf-8")
    (folder / "corpus").mkdir()
    books.save(folder / "corpus" / "lamp.conll")
    bc.contexts_build(books, folder / "contexts", budget=100, strategies=["lead"])
    bc.questions_build(folder / "system.conll", folder / "questions", test=3, dev=0, draws=0)
    bc.annotate(folder / "tiny.jsonl", ["Anna", "Mr. Ford"], out=folder / "annotated")
    (folder / "annotated" / "dataset").rename(folder / "named")
    fill_with_lists(folder)
    return folder


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


@pytest.mark.parametrize(
    ("verb", "printed"),
    [(verb, printed) for verb in COMMANDS for printed in ("", " --json") if printed or verb not in SLOW],
)
def test_it_is_written_there_and_nowhere_else(place, chat, request, monkeypatch, tmp_path, verb, printed):
    bookworm = request.getfixturevalue("reference") / "bookworm" if "{bookworm}" in COMMANDS[verb] else ""
    monkeypatch.chdir(place)
    monkeypatch.setenv("BOOKCOREF_DATA_HOME", str(place / "cache"))
    before = files_in(place)
    command = COMMANDS[verb].format(url=chat.url, bookworm=bookworm) + printed
    words = [word.replace("TARGET", str(tmp_path / "target")) for word in command.split()]
    done = CliRunner().invoke(make_app(), words)
    assert done.exit_code == 0, f"{done.output} {done.exception}"
    assert files_in(place) == before
    target = words[words.index("--out") + 1]
    assert Path(target).stat().st_size > 0 or verb in ("contexts references", "edits diff")
    if Path(target).is_dir():
        assert any(Path(target).iterdir())
    assert {path.name for path in tmp_path.iterdir()} == {Path(target).name, *BESIDE.get(verb, ())}
