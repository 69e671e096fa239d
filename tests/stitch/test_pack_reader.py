"""Hostile packs: only errors of ours come out, and memory stays within bounds."""

from __future__ import annotations

import hashlib
import json
import random
import struct
import tracemalloc

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from bookcoref_data.books import Book
from bookcoref_data.errors import BookcorefError, FormatError
from bookcoref_data.stitch import container
from bookcoref_data.stitch.container import MAGIC, read_container, write_container
from bookcoref_data.stitch.pack import make_pack, read_pack
from bookcoref_data.stitch.spans import Standoff
from tests.drawing import drawn

SEAL = 32


def seal(content: bytes) -> bytes:
    """What a forger does: a checksum that fits whatever the content is."""
    return content + hashlib.sha256(content).digest()


@pytest.fixture(scope="module")
def good(story) -> bytes:
    own = {0: Standoff.make([[(0, 0)]], [("x", [(0, 0)])])}
    return make_pack(
        story.text, story.book.sentences, doc_key="d", annotation=Standoff.of(story.book),
        windows=[("d_split1500_S0", 0), ("d_split1500_S9", 9)], window_annotations=own,
        public_domain=True,
    )  # fmt: skip


def use(data: bytes, text: str) -> Book | None:
    """Read and apply; None where that is refused. Anything but an error of ours is a defect."""
    try:
        pack = read_pack(data)
        book = pack.book(text)
        pack.window_books(book)
    except BookcorefError:
        return None
    return book


def is_harmless(data: bytes, story) -> bool:
    """Whether a pack whose checksum of the tokens is right is refused, or gives the released tokens."""
    book = use(data, story.text)
    return book is None or book.tokens == story.book.tokens


def test_every_cut_is_noticed(good):
    for end in [*range(0, 400, 7), *range(400, len(good), 211)]:
        with pytest.raises(FormatError):
            read_pack(good[:end])


def test_every_flipped_bit_is_noticed(good):
    picks = random.Random(3)
    for _ in range(300):
        at = picks.randrange(len(good))
        with pytest.raises(FormatError):
            read_pack(good[:at] + bytes([good[at] ^ 1 << picks.randrange(8)]) + good[at + 1 :])


@drawn(200)
@given(st.binary(max_size=300))
def test_random_bytes_are_refused(data):
    with pytest.raises(FormatError):
        read_pack(data)
    with pytest.raises(FormatError):
        read_pack(seal(MAGIC + data))


@pytest.mark.parametrize("times", [80, pytest.param(400, marks=pytest.mark.long)])
def test_forged_sections_are_refused_or_harmless(good, story, times):
    """Bits flipped inside the unpacked sections, then packed and sealed as if they were right."""
    sections = read_container(good)
    picks = random.Random(5)
    for _ in range(times):
        name = picks.choice(list(sections))
        forged = bytearray(sections[name])
        for _ in range(picks.choice([1, 1, 3, 20])):
            forged[picks.randrange(len(forged))] = picks.randrange(256)
        made = write_container({**sections, name: bytes(forged)})
        # The forger of META may state another checksum.
        assert is_harmless(made, story) or name == "META"


def test_forged_sections_cut_or_missing_are_refused_or_harmless(good, story):
    sections = read_container(good)
    for name, body in sections.items():
        assert is_harmless(write_container({k: v for k, v in sections.items() if k != name}), story)
        for end in (1, len(body) // 2, len(body) - 1):
            assert is_harmless(write_container({**sections, name: body[:end]}), story)
        assert is_harmless(write_container({**sections, name: body * 2}), story)
        assert is_harmless(write_container({**sections, name: b"\xff" * 50}), story)


@pytest.mark.parametrize(
    "change",
    [
        {"tokens": 2**40}, {"tokens": -1}, {"tokens": True}, {"tokens": "7"}, {"visible": 2**31},
        {"sentences": None}, {"doc_key": 5}, {"doc_key": "x" * 2000}, {"source": []}, {"body": {}},
        {"body": {"start": 0, "length": 2**31, "first": "0", "last": "0"}},
        {"body": {"start": 2**31, "length": 100, "first": "0", "last": "0"}},
        {"body": {"start": 0, "length": 1, "first": "-1", "last": "zz"}},
        {"tokens_sha256": "0" * 64}, {"sentences_sha256": "0" * 64},
    ],
)  # fmt: skip
def test_lies_in_the_header_are_refused(good, story, change):
    sections = read_container(good)
    meta = json.loads(sections["META"]) | change
    forged = write_container({**sections, "META": json.dumps(meta).encode()})
    with pytest.raises(BookcorefError):
        read_pack(forged).apply(story.text)


def directory(name: bytes, method: int, raw: int, body: bytes) -> bytes:
    entry = struct.pack("<4sBII", name, method, raw, len(body))
    return seal(MAGIC + b"\x01" + entry + body)


def peak(function) -> int:
    tracemalloc.start()
    try:
        function()
    except BookcorefError:
        pass
    finally:
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return size


def test_a_bomb_is_refused_before_memory_is_taken():
    bomb = zstandard.ZstdCompressor().compress(b"\0" * (1 << 25))
    for claim in (len(bomb), 1 << 20, 1 << 25, (1 << 32) - 1):
        data = directory(b"EDIT", 1, claim, bomb)
        with pytest.raises(FormatError):
            read_pack(data)
        assert peak(lambda data=data: read_pack(data)) < 4 << 20


def test_a_frame_that_hides_its_size_is_refused():
    hidden = zstandard.ZstdCompressor(write_content_size=False).compress(b"\0" * (1 << 20))
    with pytest.raises(FormatError):
        read_pack(directory(b"EDIT", 1, 1 << 20, hidden))


@pytest.mark.long
@pytest.mark.parametrize("pattern", [b"\x00", b"\x7f", b"\xff\xff\xff\xff\x7f", b"\xff\x7f"])
def test_the_largest_sections_allowed_stay_within_bounds(good, story, pattern):
    """Eight million bytes of numbers in one section: refused or read, in a bounded amount of memory."""
    size = container.MOST_SECTION_BYTES // len(pattern) * len(pattern)
    for name in ("EDIT", "SPAN", "PVAL", "TFLP"):
        sections = read_container(good) | {name: pattern * (size // len(pattern))}
        data = write_container(sections)
        assert peak(lambda data=data: use(data, story.text)) < 600 << 20


def test_a_section_twice_is_refused(good):
    entry = struct.pack("<4sBII", b"META", 0, 1, 1)
    with pytest.raises(FormatError, match="once"):
        read_pack(seal(MAGIC + b"\x02" + entry * 2 + b"xy"))


def test_an_unknown_section_is_refused(good):
    with pytest.raises(FormatError, match="does not know"):
        read_pack(write_container(read_container(good) | {"EVIL": b"1"}))


def test_another_version_says_so(good):
    with pytest.raises(FormatError, match="version"):
        read_pack(seal(MAGIC[:-1] + b"\x02" + good[len(MAGIC) : -SEAL]))


@pytest.mark.parametrize(
    "layers",
    [
        [1], [[0]], [["0", [], []]], [[0, [["ab"]], []]], [[0, [[[0, 1, 2]]], []]], [[0, [[[0.5, 1]]], []]],
        [[0, [], [[5, [[0, 0]]]]]], [[0, [[[0, 10**9]]], []]], [[0, [[]], []]], [[0, [[[True, 1]]], []]],
    ],
)  # fmt: skip
def test_broken_annotations_of_windows_are_refused(good, story, layers):
    sections = read_container(good) | {"WSPN": json.dumps(layers).encode()}

    def read_and_use():
        pack = read_pack(write_container(sections))
        pack.window_books(pack.book(story.text))

    with pytest.raises(BookcorefError):
        read_and_use()


@pytest.mark.parametrize(
    "windows", [{}, [["a", 1]], [["a", 0], ["b", 0]], [["a", 0], ["b", 10**6]], [[0, 0]]]
)
def test_broken_windows_are_refused(good, windows):
    data = write_container(read_container(good) | {"WIND": json.dumps(windows).encode()})
    with pytest.raises(BookcorefError):
        read_pack(data)


def test_deep_json_is_refused(good):
    for name in ("META", "NAME", "WIND", "WSPN"):
        with pytest.raises(BookcorefError):
            assert read_pack(write_container(read_container(good) | {name: b"[" * 100_000})).annotation
