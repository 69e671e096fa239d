"""Releases that are damaged or hostile: an error of ours each time, and no more memory than the input."""

from __future__ import annotations

import gzip
import json
import os
import random
import tracemalloc

import pytest

from benchmarks.check_inputs import mutated
from bookcoref_data.errors import BookcorefError, FormatError, SourceError
from bookcoref_data.formats import lines
from bookcoref_data.workflows.rebuild import RebuildSettings, prepare, rebuild
from bookcoref_data.workflows.verify import verify

DELTA, LENGTHS = "gutenberg_delta.json", "sentence_lengths.json"
FULL = "bookcoref_annotations/full/test.jsonl"
DEEP = "[" * 200_000


def opcode(**change):
    good = {"tag": "equal", "t1_from_index": 0, "t1_to_index": 5, "t2_from_index": 0, "t2_to_index": 5,
            "old_values": None, "new_values": None}  # fmt: skip
    return json.dumps({"_iterable_opcodes": {"root['11']": [good | change]}})


TEXTS = {
    "an offset beyond 2**31": (DELTA, opcode(t1_to_index=2**40, t2_to_index=2**40)),
    "an offset of 5,000 digits": (DELTA, opcode(t1_to_index=77).replace("77", "9" * 5000)),
    "a negative offset": (DELTA, opcode(t1_from_index=-1)),
    "a list as tag": (DELTA, opcode(tag=["equal"])),
    "a number for new tokens": (DELTA, opcode(tag="insert", new_values=7)),
    "an object for new tokens": (DELTA, opcode(tag="insert", new_values={"a": 1})),
    "half a surrogate in a token": (DELTA, opcode(tag="replace", t2_to_index=1, new_values=["\ud800"])),
    "deep nesting in an opcode": (DELTA, '{"_iterable_opcodes": {"root[\'11\']": [' + DEEP),
    "deep nesting beside the opcodes": (DELTA, '{"values_changed": {"x": ' + DEEP),
    "deep nesting alone": (DELTA, DEEP),
    "opcodes as a number": (DELTA, '{"_iterable_opcodes": {"root[\'11\']": 3}}'),
    "a list as lengths": (LENGTHS, "[1, 2]"),
    "a list in place of a length": (LENGTHS, '{"11": [[5]], "12": [5]}'),
    "a length beyond 2**31": (LENGTHS, json.dumps({"11": [2**40], "12": [5]})),
    "deep nesting in lengths": (LENGTHS, DEEP),
    "lengths that are no text": (LENGTHS, b"\xff\xfe\x00"),
    "deep nesting in a record": (FULL, '{"doc_key": "one_11", "clusters": ' + DEEP),
    "a span beyond 2**31": (FULL, '{"doc_key": "one_11", "clusters": [[[0, 4294967296]]]}'),
    "a span of 5,000 digits": (FULL, '{"doc_key": "one_11", "clusters": [[[0, ' + "9" * 5000 + "]]]}"),
    "a number in place of clusters": (FULL, '{"doc_key": "one_11", "clusters": 5}'),
    "half a surrogate in a name": (
        FULL, '{"doc_key": "one_11", "characters": [{"name": "\\ud83d", "mentions": [[1, 1]]}]}',
    ),
    "half a surrogate in a key": (FULL, '{"doc_key": "one_\\ud83d", "clusters": []}'),
    "a superscript as id": (FULL, '{"doc_key": "one_11", "gutenberg_key": "²", "clusters": []}'),
    "a path as key": (FULL, '{"doc_key": "../../one_11", "clusters": []}'),
    "a list as record": (FULL, "[1, 2]"),
    "no JSON": (FULL, "\x00\x01"),
}  # fmt: skip


def _rebuild(world) -> None:
    """Rebuild, and raise the error of the first book that failed."""
    asked = RebuildSettings(
        release=world.release, mirror=str(world.mirror), out=world.root / "out", offline=True
    )
    report = rebuild(prepare(asked), jobs=1)
    raise next(iter(report.failed.values()))


def refused(world, kind: type[BookcorefError] = BookcorefError) -> BookcorefError:
    """The error of a rebuild from the release, which must be one of ours."""
    with pytest.raises(kind) as caught:
        _rebuild(world)
    assert not (world.root / "out").exists() or kind is not FormatError
    str(caught.value).encode("utf-8", "backslashreplace")
    return caught.value


@pytest.mark.parametrize("name", TEXTS)
def test_a_hostile_file_is_refused_in_words(world, name):
    path, content = TEXTS[name]
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    (world.release / path).write_bytes(data)
    refused(world)
    left = list((world.root / "cache/release").glob("*")) if (world.root / "cache/release").is_dir() else []
    assert left == []


@pytest.mark.parametrize("number", range(40 * int(os.environ.get("BOOKCOREF_FAULTS", "1"))))
def test_a_release_with_a_value_of_another_kind_is_built_soundly_or_refused(world, number):
    draw = random.Random(number)
    place = world.release / draw.choice([DELTA, LENGTHS, FULL])
    rows = [json.loads(line) for line in place.read_text(encoding="utf-8").splitlines()]
    rows[0] = mutated(rows[0], draw)
    place.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    asked = RebuildSettings(
        release=world.release, mirror=str(world.mirror), out=world.root / "out", offline=True
    )
    try:
        report = rebuild(prepare(asked), jobs=1)
    except BookcorefError as error:
        str(error).encode("utf-8", "backslashreplace")
        return
    assert all(isinstance(error, BookcorefError) for error in report.failed.values())
    # A book that failed is missing in the folder, which `verify` says.
    assert not report.built or verify(world.root / "out").exit_code == (1 if report.failed else 0)


@pytest.mark.parametrize("path", [DELTA, LENGTHS, FULL])
@pytest.mark.parametrize("thing", ["folder", "loop", "pipe", "nothing", "device"])
def test_what_is_no_file_is_refused(world, path, thing):
    place = world.release / path
    place.unlink()
    if thing == "folder":
        place.mkdir()
    elif thing == "loop":
        place.symlink_to(place.name)
    elif thing == "pipe":
        os.mkfifo(place)
    elif thing == "device":
        place.symlink_to("/dev/zero")
    error = refused(world)
    if thing != "nothing":
        assert isinstance(error, SourceError)
        assert place.name in str(error)


@pytest.mark.parametrize("packed", [True, False])
def test_a_line_without_end_costs_no_more_than_its_bound(world, monkeypatch, packed):
    """A gzip file of 80 kB may unpack to 256 MB by its ratio, but not as one line."""
    monkeypatch.setattr(lines, "LONGEST_LINE", 1 << 20)
    content = b'{"doc_key": "' + b"x" * (80 << 20)
    world.full.unlink()
    path = world.full.with_suffix(".jsonl.gz") if packed else world.full
    path.write_bytes(gzip.compress(content, 1) if packed else content)
    tracemalloc.start()
    try:
        error = refused(world, FormatError)
        assert tracemalloc.get_traced_memory()[1] < 24 << 20
    finally:
        tracemalloc.stop()
    assert "too long" in str(error)
