"""The envelope of a pack: named sections, each compressed on its own, sealed by one checksum.

    8 bytes   magic, format version in the last
    1 byte    number of sections
    per section: 4 bytes name (ASCII), 1 byte method (0 stored, 1 zstd), 4 bytes raw length,
              4 bytes stored length (both little-endian)
    the stored bytes of all sections, in the same order
    32 bytes  sha256 of everything before

Nothing is allocated on the word of the file alone: lengths are checked against the file and against the
bounds below first, and a zstd frame must state the same content size as the directory.
"""

import hashlib
import struct
from collections.abc import Mapping

import zstandard

from ..errors import DataError, FormatError

MAGIC = b"BKCPACK\x01"
MOST_SECTIONS = 32
MOST_SECTION_BYTES = 8 << 20
MOST_TOTAL_BYTES = 24 << 20
STORED, ZSTD = 0, 1

_ENTRY = struct.Struct("<4sBII")
_SEAL = 32
_LEVEL = 19


def write_container(sections: Mapping[str, bytes]) -> bytes:
    """Seal sections (name of four ASCII letters -> bytes); empty ones are left out. Raises DataError: a
    section is larger than a reader would accept."""
    compressor = zstandard.ZstdCompressor(level=_LEVEL, write_content_size=True, write_checksum=False)
    entries, bodies = [], []
    for name, raw in sections.items():
        if not raw:
            continue
        if len(raw) > MOST_SECTION_BYTES:
            what = f"the book does not fit a pack: section {name} has {len(raw):,} bytes"
            raise DataError(what, expected=f"at most {MOST_SECTION_BYTES:,}")
        packed = compressor.compress(raw)
        method, body = (ZSTD, packed) if len(packed) < len(raw) else (STORED, raw)
        entries.append(_ENTRY.pack(name.encode("ascii"), method, len(raw), len(body)))
        bodies.append(body)
    content = b"".join([MAGIC, bytes([len(entries)]), *entries, *bodies])
    return content + hashlib.sha256(content).digest()


def is_container(data: bytes) -> bool:
    """Whether `data` begins like a pack of any version."""
    return data[: len(MAGIC) - 1] == MAGIC[:-1]


def read_container(data: bytes, what: str = "pack") -> dict[str, bytes]:
    """The sections of a pack, checked and unpacked. Raises FormatError: not a pack, a pack of another
    version, cut short, or altered."""
    directory, at = read_directory(data, what)
    seal = hashlib.sha256(data[:-_SEAL]).digest()
    if seal != data[-_SEAL:]:
        raise _broken(what, "the checksum at its end", seal.hex()[:16], data[-_SEAL:].hex()[:16])
    sections: dict[str, bytes] = {}
    for name, method, raw, stored in directory:
        body, section = data[at : at + stored], f"section {name} of {what}"
        at += stored
        if method == STORED and len(body) == raw:
            sections[name] = body
            continue
        if method != ZSTD:
            raise _broken(section, "how it is stored", "0 or 1 and fitting lengths", method)
        try:
            # The library allocates what the frame claims, so the claim is checked first.
            claimed = zstandard.frame_content_size(body)
            if claimed != raw:
                raise _broken(section, "its content size", raw, claimed)
            sections[name] = zstandard.ZstdDecompressor(max_window_size=16 << 20).decompress(
                body, max_output_size=raw, allow_extra_data=False
            )
        except zstandard.ZstdError as error:
            raise _broken(section, "a zstd frame", "readable", error) from error
    return sections


def read_directory(data: bytes, what: str = "pack") -> tuple[list[tuple[str, int, int, int]], int]:
    """([(name, method, raw length, stored length)], where the first section lies); see `read_container`."""
    if not is_container(data):
        raise _broken(what, "a pack of bookcoref-data", MAGIC[:-1], data[:8])
    if data[: len(MAGIC)] != MAGIC:
        what = f"{what} is a pack of another format version"
        found = data[len(MAGIC) - 1 : len(MAGIC)].hex() or "nothing"
        raise FormatError(what, expected=MAGIC[-1], found=found, hint="install the newest bookcoref-data")
    count = data[len(MAGIC)] if len(data) > len(MAGIC) else 0
    at = len(MAGIC) + 1
    if count > MOST_SECTIONS or len(data) < at + count * _ENTRY.size + _SEAL:
        raise _broken(what, "a whole directory of sections", f"{count} sections", f"{len(data)} bytes")
    directory = []
    for _ in range(count):
        name, method, raw, stored = _ENTRY.unpack_from(data, at)
        at += _ENTRY.size
        directory.append((name.decode("ascii", "replace"), method, raw, stored))
    room = len(data) - at - _SEAL
    names = [name for name, *_ in directory]
    if len(set(names)) < len(names):
        raise _broken(what, "every section once", "one of each", ", ".join(names))
    if sum(stored for *_, stored in directory) != room:
        raise _broken(what, "the length of its sections", sum(s for *_, s in directory), room)
    largest, total = max((d[2] for d in directory), default=0), sum(d[2] for d in directory)
    if largest > MOST_SECTION_BYTES or total > MOST_TOTAL_BYTES:
        raise _broken(what, "its unpacked size", f"at most {MOST_TOTAL_BYTES:,} bytes", f"{total:,} bytes")
    return directory, at


def _broken(what: str, part: str, expected: object, found: object) -> FormatError:
    return FormatError(
        f"{what} is damaged or not a pack: {part} is wrong", expected=expected, found=found,
        hint="fetch or make it again (bookcoref-data pack)",
    )  # fmt: skip
