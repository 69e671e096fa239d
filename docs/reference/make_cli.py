"""Write docs/reference/cli.md: every verb with its options, from the declarations that also make --help.

    python docs/reference/make_cli.py

A test fails where the page is not what this writes.
"""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

from typer.main import get_command

from bookcoref_data.cli.app import GROUPS, PANELS, declared_verb, make_app

PAGE = Path(__file__).with_name("cli.md")
SCHEMAS = PAGE.parent.parent / "schemas"
INTRODUCTION = """# Command line

Every verb with its arguments and options, in the words of `--help`. This page is made by
`docs/reference/make_cli.py`. Options with `[…]` may be repeated. Every verb has `-h` and `--help`, too.
"""


def page() -> str:
    """The whole page."""
    commands = get_command(make_app()).commands
    inside = {name: [f"{name} {inner}" for inner in GROUPS[name][1].split()] for name in GROUPS}
    verbs = [*commands, *(words for group in inside.values() for words in group)]
    parts = [INTRODUCTION]
    for title, (_, names) in PANELS.items():
        parts.append(f"## {title}\n")
        for name in names.split():
            parts += _verb(name, commands[name], verbs)
            for words in inside.get(name, ()):
                parts += _verb(words, commands[name].commands[words.split()[-1]], verbs)
    return "\n".join(parts)


def _schemas(words: str, verbs: list[str]) -> str:
    """Links to the schemas of a verb's JSON; a schema is of the longest verb that begins its name."""
    keys = sorted((name.replace(" ", "-") for name in verbs), key=len)
    links = []
    for stem in sorted(path.stem for path in SCHEMAS.glob("*.json")):
        owners = [key for key in keys if stem == key or stem.startswith(f"{key}-")]
        if owners and owners[-1] == words.replace(" ", "-"):
            links.append(f"[{stem}](../schemas/{stem}.json)")
    said = f"What `--json` prints: {', '.join(links)}.\n"
    return textwrap.fill(said, 118, break_long_words=False, break_on_hyphens=False) + "\n" if links else ""


def _verb(words: str, command: Any, verbs: list[str]) -> list[str]:
    made = declared_verb(words)
    if made is None:
        return []
    rows = [
        f"| {_names(p)} | {_cell(p.help)}{_default(p)} |"
        for p in command.params
        if not p.hidden and "completion" not in p.name
    ]
    examples = "\n".join(made.examples)
    return [
        f"### {words}\n\n{made.help}\n",
        "| Option | Meaning |\n|---|---|\n" + "\n".join(rows) + "\n",
        f"```bash\n{examples}\n```\n",
        *filter(None, [_schemas(words, verbs)]),
    ]


def _names(parameter: Any) -> str:
    several = " […]" if parameter.nargs == -1 or getattr(parameter, "multiple", False) else ""
    if parameter.param_type_name == "argument":
        return f"`{parameter.name.upper()}`{several}"
    kind = "" if parameter.is_flag else f" {parameter.metavar or parameter.opts[-1].strip('-').upper()}"
    names = ", ".join([*parameter.opts, *parameter.secondary_opts])
    return f"`{names}{kind}`{several}".replace("|", ", ")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _default(parameter: Any) -> str:
    if parameter.required:
        return " Required." if parameter.param_type_name == "option" else ""
    if parameter.default in (None, False, "", ()):
        return ""
    return f" Default: {'yes' if parameter.default is True else parameter.default}."


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
