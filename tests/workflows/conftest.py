"""A tiny mirror and release that tests may change at will."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from itertools import accumulate, groupby
from pathlib import Path

import pytest

from bookcoref_data.books import Book, split_book
from bookcoref_data.formats.schema import to_row
from bookcoref_data.sample_story.story import sample_path
from bookcoref_data.text.decode import decode
from bookcoref_data.text.tokens import tokenize_official


@dataclass
class World:
    """A mirror and a release of a few books made of the sample story's text, in folders of their own."""

    root: Path
    mirror: Path
    release: Path
    keys: tuple[str, ...] = ()

    def raw(self, gutenberg_id: str) -> Path:
        return self.mirror / "cache/epub" / gutenberg_id / f"pg{gutenberg_id}.txt"

    @property
    def full(self) -> Path:
        return self.release / "bookcoref_annotations/full/test.jsonl"

    def rewrite(self, change) -> None:
        """Change the records of the full annotations: `change(rows)` returns the new ones."""
        rows = [json.loads(line) for line in self.full.read_text(encoding="utf-8").splitlines()]
        self.full.write_text("".join(json.dumps(r) + "\n" for r in change(rows)), encoding="utf-8")


def _opcodes(kept):
    """The delta that leaves of some tokens those that are kept, as the release writes it."""
    made, a, c = [], 0, 0
    for keeps, run in groupby(kept):
        size = len([*run])
        d = c + size * keeps
        made.append({
            "tag": "equal" if keeps else "delete", "t1_from_index": a, "t1_to_index": a + size,
            "t2_from_index": c, "t2_to_index": d, "old_values": None, "new_values": None if keeps else [],
        })  # fmt: skip
        a, c = a + size, d
    return made


@pytest.fixture(scope="session")
def raw_story() -> bytes:
    (path,) = sample_path("mirror").rglob("*.txt")
    return path.read_bytes()


def _world_in(folder: Path) -> World:
    return World(folder, folder / "mirror", folder / "release", ("one_11", "two_12"))


@pytest.fixture
def world(tmp_path, world_template, cache_home) -> World:
    """Two books, 11 and 12: the sample text with another number in it, released without white space."""
    made = _world_in(tmp_path)
    shutil.copytree(world_template.mirror, made.mirror)
    shutil.copytree(world_template.release, made.release)
    return made


@pytest.fixture(scope="session")
def world_template(tmp_path_factory, raw_story) -> World:
    """What `world` copies: making it costs a second."""
    made = _world_in(tmp_path_factory.mktemp("world"))
    deltas, lengths, rows, windows = {}, {}, [], []
    for key in made.keys:
        gid = key.rpartition("_")[2]
        text = raw_story.decode().replace("99000001", gid) + f"\r\nPrinted as number {gid}.\r\n"
        made.raw(gid).parent.mkdir(parents=True)
        made.raw(gid).write_bytes(text.encode())
        sentences = tokenize_official(decode(text.encode()).text)
        base = [t for s in sentences for t in s]
        released = [[t for t in s if not t.isspace()] for s in sentences]
        released = [s for s in released if s]
        left_out = sum(map(len, released[:20]))
        released = released[20:]
        book = Book.make(key, released, gutenberg_key=gid, clusters=[[(3, 4), (9, 9), (2000, 2001)]],
                         characters=[("Ann", [(3, 4), (9, 9), (2000, 2001)])])  # fmt: skip
        words = accumulate(not t.isspace() for t in base)
        kept = [not t.isspace() and n > left_out for t, n in zip(base, words, strict=True)]
        deltas[f"root['{gid}']"] = _opcodes(kept)
        lengths[gid] = [len(s) for s in released]
        rows.append(book)
        windows += split_book(book).books
    _write_release(made.release, deltas, lengths, rows, windows)
    return made


def _write_release(folder: Path, deltas, lengths, rows, windows) -> None:
    for config, name, books in (("full", "test", rows), ("split", "test_split", windows)):
        path = folder / "bookcoref_annotations" / config / f"{name}.jsonl"
        path.parent.mkdir(parents=True)
        lines = ({k: v for k, v in to_row(b.to_record()).items() if k != "sentences"} for b in books)
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    (folder / "gutenberg_delta.json").write_text(json.dumps({"_iterable_opcodes": deltas}), encoding="utf-8")
    (folder / "sentence_lengths.json").write_text(json.dumps(lengths), encoding="utf-8")


@pytest.fixture
def unplugged(monkeypatch):
    """Any attempt to open a connection fails the test."""
    import socket

    def refuse(*args, **kwargs):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
