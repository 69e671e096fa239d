"""One page on which a person decides about matches: every work, its record, and the records not taken.

The page asks nobody for anything: its style and script stand in it, and a content security policy allows
these alone, by their hashes. What the reviewer decides leaves it as a file of overrides.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).resolve().parent


def render_review(works: Sequence[Mapping[str, Any]]) -> str:
    """The page as one HTML document.

    Each work has source, work_id, title, author, link, characters (how many), names (the first of them),
    left_out (names that are nobody of the book), gutenberg_id (or None), review (why to look at it, or ""),
    reason, book (what became of the book), and records: id, title, author, downloads, refused (why it was not
    taken, "" for the one that was).
    """
    style, script = _read("match_review.css"), _read("match_review.js")
    policy = f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}"
    # "<" cannot end the script element that the data stands in.
    data = json.dumps({"works": list(works)}, ensure_ascii=False).replace("<", "\\u003c")
    values = {"CSP": policy, "STYLE": style, "SCRIPT": script, "DATA": data}
    first, *rest = _read("match_review.html").split("@")
    return first + "".join(values.get(piece, piece) for piece in rest)


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")
