"""Write docs/reference/inputs.md: the shapes of what is handed in, from manifests/inputs.json.

    python docs/reference/make_inputs.py

A test fails where the page is not what this writes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bookcoref_data.resources import resource

PAGE = Path(__file__).with_name("inputs.md")
INTRODUCTION = """# What is handed in

The JSON that people and other programs hand in, as `manifests/inputs.json` declares it (JSON Schema, which
also has the bounds). It is checked before anything is written. This page is made by
`docs/reference/make_inputs.py`. A field with a star must be there; a dot leads into an object.
"""


def page() -> str:
    """The whole page."""
    declared = json.loads(resource("manifests", "inputs.json").read_text(encoding="utf-8"))
    shapes: dict[str, Any] = declared["$defs"]
    parts = [INTRODUCTION]
    for name, schema in shapes.items():
        rows = [f"| {field} | {kind} | {said} |" for field, kind, said in _fields(schema, shapes)]
        if rows:
            told = _cell(schema.get("description", ""))
            parts.append(f"## {name}\n")
            parts += [f"{told}\n"] if told else []
            parts.append("| field | type | meaning |\n|---|---|---|\n" + "\n".join(rows) + "\n")
    return "\n".join(parts)


def _fields(schema: Any, shapes: dict[str, Any], inside: str = "") -> Iterator[tuple[str, str, str]]:
    """(name, type, meaning) of each field of an object, those of objects in it behind it."""
    for key, value in schema.get("properties", {}).items():
        star = "*" if key in schema.get("required", ()) else ""
        yield f"`{inside}{key}`{star}", _cell(_kind(value)), _cell(_meaning(value, shapes))
        yield from _fields(value, shapes, f"{inside}{key}.")


def _meaning(schema: Any, shapes: dict[str, Any]) -> str:
    shared = shapes.get(schema.get("$ref", "").removeprefix("#/$defs/"), {})
    notes = (schema.get("$comment"), schema.get("description") or shared.get("description"))
    return "; ".join(note for note in notes if note)


def _kind(schema: Any) -> str:
    if "$ref" in schema:
        return str(schema["$ref"].removeprefix("#/$defs/"))
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    if "const" in schema:
        return json.dumps(schema["const"])
    kinds = schema.get("type", "")
    if kinds == "array" and "items" in schema:
        return f"array of {_kind(schema['items'])}".strip()
    return kinds if isinstance(kinds, str) else " or ".join(kinds)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
