"""29 mistakes of new users, and the hints of all messages.

A message says what happened, what was expected, what was found, and what to do next. It is worth two
points with at least three of these, among them what to do; one point with two of them.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import bookcoref_data
from bookcoref_data.cli import app
from bookcoref_data.cli.app import GROUPS, VERBS, hint_for
from bookcoref_data.errors import UsageError
from bookcoref_data.sample_story.story import gutenberg_text

GERMAN = "Es war einmal eine Frau, die hatte nicht einen Hund und sie ging mit dem Kind in den Wald. " * 20
MISTAKES = """
anotate lamp.txt --cast auto --out a
annotate
annotate nowhere.txt --cast auto --out a
annotate lamp.txt --out a
annotate lamp.txt --cast auto
annotate lamp.txt --cast nowhere.txt --out a
annotate lamp.txt --casts cast.txt --out a
annotate book.pdf --cast auto --out a
annotate photo.png --cast auto --out a
annotate archive.zip --cast auto --out a
annotate german.txt --cast auto --out a
annotate german.txt --propose-cast
annotate half.txt --cast auto --out a
annotate empty.txt --cast auto --out a
annotate lamp.txt --cast auto --out cast.txt
annotate lamp.txt --cast cast.txt --narrator Ishmael --out a
annotate lamp.txt --cast cast.txt --steps groups --out a
annotate lamp.txt --cast cast.txt --backend gpt --out a
view lamp.txt --out page.html
view system.conll
evaluate -k system.conll
evaluate -k system.conll -r lamp.txt
evaluate -k train -r system.conll
evaluate -k system.conll -r system.conll --mode whole
convert system.conll system.xyz
convert system.conll system.jsonl --to mavrick
convert system.conll system.conll
rebuild --from-gutenberg --release nowhere --offline
verify nowhere
""".strip().splitlines()


@pytest.fixture(scope="module")
def desk(built, tmp_path_factory):
    """A terminal whose folder holds what the mistakes are made with."""
    made = type(built)(tmp_path_factory.mktemp("mistakes"), built.home)
    put = made.cwd
    (put / "lamp.txt").write_text(gutenberg_text(), encoding="utf-8")
    (put / "cast.txt").write_text("Captain Thorne\nMartha Pell\n", encoding="utf-8")
    (put / "book.pdf").write_bytes(b"%PDF-1.4\nBT (Anna met Tom.) Tj ET\n")
    (put / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(50))
    (put / "archive.zip").write_bytes(b"PK\x05\x06" + bytes(18))
    (put / "german.txt").write_text(GERMAN, encoding="utf-8")
    (put / "half.txt").write_text(gutenberg_text()[:9000], encoding="utf-8")
    (put / "empty.txt").write_text("\n", encoding="utf-8")
    books = bookcoref_data.load(built.cwd / "bookcoref")
    books.save(put / "system.conll")
    made.run("import", "fantasycoref", put, "--out", "imported")
    folder = put / "train"
    import shutil

    shutil.copytree(built.cwd / "bookcoref", put / "bookcoref")
    shutil.copytree(built.cwd / "bookcoref", folder)
    for config in ("full", "split"):
        (folder / config / "test.parquet").rename(folder / config / "train.parquet")
    return made


def points(ran) -> int:
    """What a message is worth."""
    assert "Traceback" not in ran.err
    assert ran.code in (1, 2, 3, 4)
    message = ran.err[ran.err.index("error: ") :]
    parts = [f"\n  {name}:" in message for name in ("expected", "found", "next")]
    return 2 if parts[2] and sum(parts) >= 2 else int(any(parts))


def test_there_are_29():
    assert len(MISTAKES) == 29


@pytest.mark.long
def test_mistakes_are_answered(desk):
    found = {line: desk.run(*line.split()) for line in MISTAKES}
    worth = {line: points(ran) for line, ran in found.items()}
    poor = "\n".join(f"{line}\n{found[line].err}" for line, n in worth.items() if n < 2)
    assert sum(worth.values()) >= 56, poor


@pytest.mark.long
@pytest.mark.parametrize(
    "line",
    [
        "view bookcoref --out page.html",
        "report bookcoref --out r.md",
        "export bookcoref --to csv --out t",
        "audit bookcoref",
        "regenerate bookcoref",
        "regenerate bookcoref --check",
        "rebuild --sample --out new",
    ],
)
def test_a_book_that_is_not_there_is_refused_by_every_verb(desk, line):
    """Some took the only book there was, whatever the name; some knew no short names."""
    ran = desk.run(*line.split(), "--book", "nobody")
    assert ran.code == 2, ran
    assert "no book 'nobody'" in ran.err
    assert {"  expected", "  found", "  next"} <= {part.split(":")[0] for part in ran.err.splitlines()}


WRONG_INPUTS = {
    "review system.conll --until 97 --cast auto": "it must be less than or equal to 1",
    "review lamp.txt --cast cast.txt --edits broken.jsonl": "mend the file at this place",
    "annotate lamp.txt --cast cast.txt --edits unknown.jsonl --out a": "mend the file at this place",
    "annotate lamp.txt --cast nowhere.txt --out a": "--cast auto proposes a cast",
    "annotate head.txt --cast auto --out a": "give the whole file of the book",
    "evaluate -k system.conll -r system.conll --typed words": "spacy, four, nouns, or hub:MODEL",
}


@pytest.mark.parametrize("line", WRONG_INPUTS)
def test_a_wrong_input_is_answered_with_what_to_do_next(desk, line):
    (desk.cwd / "broken.jsonl").write_text("{broken\n", encoding="utf-8")
    (desk.cwd / "unknown.jsonl").write_text('{"op": "rnm", "character": "Bosun"}\n', encoding="utf-8")
    (desk.cwd / "head.txt").write_text(gutenberg_text()[:300], encoding="utf-8")
    there = sorted(desk.cwd.rglob("*"))
    ran = desk.run(*line.split())
    assert ran.code in (1, 2, 3)
    assert "\n  next: " in ran.err
    assert WRONG_INPUTS[line] in ran.err
    assert sorted(desk.cwd.rglob("*")) == there


@pytest.mark.long
def test_a_cast_that_is_not_there_is_said_to_be_proposed(desk):
    ran = desk.run("cast", "lamp.txt", "--cast", "cats.txt")
    assert "there is no cats.txt yet: this is the cast that the book proposes" in ran.err


@pytest.mark.parametrize(
    "line",
    [
        "evaluate -k system.conll -r system.conll --unit page",
        "evaluate -k system.conll -r system.conll --classes all",
        "evaluate -k system.conll -r system.conll --disagreeing drop",
        "evaluate -k system.conll -r system.conll --split dev",
        "stats system.conll --config whole",
        "convert system.conll new.jsonl --config whole",
        "convert system.conll new.jsonl --parts all",
        "regenerate bookcoref --check --split test --split dev",
        "questions evaluate nowhere --baselines --variant long",
        "questions evaluate nowhere --baselines --wording mine",
        "questions evaluate nowhere --baselines --constrain regexp",
        "contexts ask nowhere --kind summary --dry-run 1",
        "contexts build system.conll --out c --strategy lead --strategy best",
        "contexts references texts system.conll --out r.jsonl --split dev",
        "annotate lamp.txt --cast cast.txt --out a --engine spark",
        "merge system.conll --by id --out m.conll --split dev",
        "import litbank nowhere --out i --split dev",
    ],
)
def test_a_word_that_is_no_choice_is_refused_with_the_choices(desk, line):
    """Some were taken silently where nothing asked for their choice."""
    ran = desk.run(*line.split())
    assert ran.code == 2, ran
    assert re.match(r"error: no [\w ]+ '\w+'\n  expected: one of \w+, ", ran.err), ran.err


def test_python_refuses_a_wrong_word_too(desk):
    file = desk.cwd / "system.conll"
    with pytest.raises(UsageError, match="no unit 'page'") as error:
        bookcoref_data.evaluate(file, file, unit="page", bootstrap=10)
    assert error.value.expected == "one of auto, block, character, chapter, book"
    with pytest.raises(UsageError, match="no unit 'boks'") as error:
        bookcoref_data.evaluate(file, file, unit="boks", bootstrap=10)
    assert error.value.hint == "did you mean book?"


@pytest.mark.parametrize("name", ["lamp", "The lamp at the ferry house", "99000001"])
def test_a_short_name_of_a_book_is_taken(desk, name):
    assert desk.run("regenerate", "bookcoref", "--check", "--book", name).code == 0
    asked = ("report", "bookcoref", "--no-plots", "--replace", "--out", "r.md", "--book", name)
    assert desk.run(*asked).code == 0


@pytest.mark.parametrize(
    "line", [line for line in MISTAKES if "german" in line or "photo" in line or "pdf" in line]
)
def test_a_file_that_is_no_english_book_is_wrong_use(desk, line):
    ran = desk.run(*line.split())
    assert ran.code == 2
    assert re.search("German: .*%|a PNG picture|pdftotext", ran.err)


# -- dead hints --------------------------------------------------------------------------------------


RUNNABLE = [words for words in VERBS if words not in GROUPS]
COMMANDS = {words: app._command(words) for words in RUNNABLE}
KNOWN = {
    words: {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
    for words, command in COMMANDS.items()
}


@cache
def texts_of_messages() -> list[tuple[str, str]]:
    """Every text of the package that is an argument of an error, with its place."""
    found = []
    for path in sorted(Path(bookcoref_data.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg in ("hint", "expected"):
                parts = [
                    n.value
                    for n in ast.walk(node.value)
                    if isinstance(n, ast.Constant) and isinstance(n.value, str)
                ]
                found += [(f"{path.name}:{node.value.lineno}", " ".join(parts))]
    return found


@pytest.mark.long
def test_every_option_and_command_of_a_hint_is_there():
    every = set().union(*KNOWN.values())
    texts = texts_of_messages()
    assert len(texts) > 300
    for place, text in texts:
        for command in re.findall(r"bookcoref-data ((?:[a-z]+ ?){1,2})", text):
            words = command.split()
            if words[0] in ("wrote", "has"):  # prose
                continue
            assert any(" ".join(words[:n]) in VERBS for n in (1, 2)), (place, command)
        if "pip install" not in text:
            gone = set(re.findall(r"(?<![\w-])--[a-z][\w-]*", text)) - every
            assert not gone, (place, gone)


@pytest.mark.long
def test_no_hint_names_an_option_that_the_verb_lacks(monkeypatch):
    """What is printed by a verb, whatever the error was."""
    monkeypatch.setattr(app, "_command", COMMANDS.get)  # made once: each verb asks for every message
    wrong = [
        (words, place, told)
        for words in RUNNABLE
        for place, text in texts_of_messages()
        if not re.search("bookcoref-data|pip ", told := hint_for(text, words.split()))
        and not KNOWN[words].issuperset(re.findall(r"(?<!\S)--[a-z][\w-]*", told))
    ]
    assert wrong == []


def test_a_hint_keeps_what_can_be_done():
    hint = "fetch the file again; with --no-guard it is read as far as it goes"
    assert hint_for(hint, ["clean", "x"]) == hint
    assert hint_for(hint, ["annotate", "x"]) == "fetch the file again"
