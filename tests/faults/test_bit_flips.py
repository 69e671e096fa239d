"""One bit of a cached file turned round, at places drawn with a fixed seed: the rows stay the same.

BOOKCOREF_FAULTS=N multiplies the number of flips (default 1).
"""

from __future__ import annotations

import os
import random

import pytest

from bookcoref_data.errors import BookcorefError
from bookcoref_data.stitch.pack import read_pack
from bookcoref_data.workflows.engine import intact
from bookcoref_data.workflows.rebuild import RebuildSettings, prepare, rebuild

TIMES = int(os.environ.get("BOOKCOREF_FAULTS", "1"))
FLIPS = 12 * TIMES


def files(folder):
    return [p for p in sorted(folder.rglob("*")) if p.is_file()]


def flipped(path, picks: random.Random) -> bytes:
    """Turn a bit of the file round; returns what it held."""
    before = path.read_bytes()
    data = bytearray(before)
    data[picks.randrange(len(data))] ^= 1 << picks.randrange(8)
    path.write_bytes(bytes(data))
    return before


def test_no_flip_in_the_cache_goes_unnoticed(world, cache_home):
    asked = RebuildSettings(
        release=world.release, mirror=str(world.mirror), out=world.root / "out", offline=True
    )
    assert rebuild(prepare(asked), jobs=1).failed == {}
    picks = random.Random(11)
    checks = {"release": intact, "books": intact}
    for part, check in checks.items():
        paths = [p for p in files(cache_home / part) if not p.name.endswith(".exact.json")]
        for _ in range(FLIPS * 4):
            path = picks.choice(paths)
            assert check(path.parent)
            before = flipped(path, picks)
            assert not check(path.parent), path
            path.write_bytes(before)


def test_no_flip_in_a_pack_is_read(world):
    from bookcoref_data.workflows.pack import pack_plan

    asked = RebuildSettings(
        release=world.release, mirror=str(world.mirror), out=world.root / "p", offline=True
    )
    (entry, _) = pack_plan(prepare(asked), world.root / "packs", world.root / "work", jobs=1).packs
    data = (world.root / "packs" / entry.file).read_bytes()
    picks = random.Random(12)
    for _ in range(FLIPS * 10):
        damaged = bytearray(data)
        damaged[picks.randrange(len(data))] ^= 1 << picks.randrange(8)
        with pytest.raises(BookcorefError):
            read_pack(bytes(damaged))
