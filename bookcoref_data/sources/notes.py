"""Small JSON files that carry the digest of their own content: the notes beside cached files.

A note says what a cached file is and which sha256 it must have. A flipped bit in the note is as bad as one
in the file, so the note is checked too: one that is absent, unreadable or altered counts as not there, and
what it describes is fetched or made again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..files import sha256_bytes, sha256_file, write_text

_SEAL = "note_sha256"
_MOST_BYTES = 16 << 20


def write_note(path: Path, value: Mapping[str, Any]) -> None:
    """Write `value` (JSON-ready, string keys) with its digest, whole or not at all."""
    write_text(
        path, json.dumps({**value, _SEAL: _digest(value)}, ensure_ascii=False, indent=1) + "\n", at_once=True
    )


def read_note(path: Path) -> dict[str, Any] | None:
    """The content of a note; None when there is no such file or it is not what was written."""
    try:
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return None
        value = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(value, dict):
            return None
        stated = value.pop(_SEAL, None)
        return value if stated == _digest(value) else None
    except (OSError, ValueError, RecursionError):
        return None


def _digest(value: Mapping[str, Any]) -> str:
    return sha256_bytes(json.dumps(value, sort_keys=True, separators=(",", ":")).encode("utf-8"))


def sha256_once(path: Path) -> str:
    """Hex sha256 of a file, read once per process as long as its length, time and place on disk stay.

    A release is 240 MB, and both its check and its key need the digests of its files.
    """
    facts = path.stat()
    return _sha256_at(path, facts.st_size, facts.st_mtime_ns, facts.st_ino)


@lru_cache(maxsize=4096)
def _sha256_at(path: Path, size: int, changed: int, place: int) -> str:
    return sha256_file(path)
