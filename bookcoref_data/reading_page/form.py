"""What all pages share; and those on which a person answers: `review`, a cast, `merge`, `match`."""

import base64
import hashlib
import html
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent


def form(name: str, title: str, data: dict[str, Any]) -> str:
    """The page `name` as one HTML document that needs no network.

    `data` is what its program reads; `server` in it is what it must know of a server that takes the result.
    """
    script = read_part("shared.js") + read_part("forms/common.js") + read_part(f"forms/{name}.js")
    serving = data.get("server") is not None
    return document(read_part("forms/form.html"), title, read_part("forms/form.css"), script, data, serving)


def match_page(works: Sequence[Mapping[str, Any]]) -> str:
    """A page on which a person decides about matches; what he decides leaves it as a file of overrides.

    Each work has source, work_id, title, author, link, characters (how many), names (the first of them),
    left_out (names that are nobody of the book), gutenberg_id (or None), review (why to look at it, or ""),
    reason, book (what became of the book), and records: id, title, author, downloads, refused (why it was not
    taken, "" for the one that was).
    """
    body, style, script = (read_part(f"matches/matches.{kind}") for kind in ("html", "css", "js"))
    return document(body, "Review of matches", style, script, {"works": list(works)}, serving=False)


def document(body: str, title: str, style: str, script: str, data: Any, serving: bool) -> str:
    """A document with its own style and program, which reads `data`; `serving`: by a server of ours."""
    # JSON that can stand inside a `<script>` element: no `</`, no comment, no line separator.
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for bad, good in (("<", "\\u003c"), ("\u2028", "\\u2028"), ("\u2029", "\\u2029")):
        text = text.replace(bad, good)

    def allowed(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}'"

    # A content security policy that allows this style, this script, and the page's own server
    rules = ["default-src 'none'", f"style-src {allowed(style)}", f"script-src {allowed(script)}"]
    rules += ["connect-src 'self'"] if serving else []
    values = {
        "CSP": "; ".join([*rules, "base-uri 'none'", "form-action 'none'"]),
        "TITLE": html.escape(title), "STYLE": style, "BODY": body,
        "DATA": text.encode("utf-8", "replace").decode("utf-8"), "SCRIPT": script,
    }  # fmt: skip
    # Names stand between two "@"; values are not searched again.
    first, *rest = read_part("document.html").split("@")
    return "".join([first, *(values[p] if k % 2 == 0 else p for k, p in enumerate(rest))])


@cache
def read_part(name: str) -> str:
    """A file of this folder."""
    return (FOLDER / name).read_text(encoding="utf-8")
