"""The wording and the forms of apparatus: regular expressions of manifests/apparatus.toml, by module."""

from __future__ import annotations

import re

from ...resources import load_toml, resource

_TABLES = load_toml(resource("manifests", "apparatus.toml"))


class Patterns:
    """The regular expressions of one table, each an attribute; `{NAME}` stands for the fragment NAME."""

    def __init__(self, table: str) -> None:
        parts = {name: "".join(value) for name, value in _TABLES[table].items()}
        for name, text in parts.items():
            filled = re.sub(r"\{([A-Z]{2,}(?:_[A-Z]+)*)\}", lambda found: parts[found.group(1)], text)
            parts[name] = filled
            setattr(self, name, re.compile(filled))

    def __getattr__(self, name: str) -> re.Pattern[str]:
        raise AttributeError(f"manifests/apparatus.toml has no pattern {name}")
