"""Pages on which a person answers: the questions of `review`, the workshop of a cast, a round of `merge`."""

from __future__ import annotations

import html
from functools import cache
from pathlib import Path
from typing import Any

from .page import embed, filled, policy, shared_script

_FOLDER = Path(__file__).resolve().parent / "forms"


def form(name: str, title: str, data: dict[str, Any]) -> str:
    """The page `name` as one HTML document that needs no network.

    `data` is what its program reads; `server` in it is what it must know of a server that takes the result.
    """
    style, script = _read("form.css"), shared_script() + _read("common.js") + _read(f"{name}.js")
    return filled(_read("form.html"), {
        "CSP": policy(style, script, serving=data.get("server") is not None), "TITLE": html.escape(title),
        "STYLE": style, "SCRIPT": script, "DATA": embed(data),
    })  # fmt: skip


@cache
def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")
