"""What files state of single mentions: `Record.extra["mention_types"]` and `extra["mention_attributes"]`."""

from __future__ import annotations

import re
from typing import Any

from ..books import Mention, Record


def mention_types(record: Record, pattern: re.Pattern[str]) -> dict[Mention, str]:
    """The type of each mention whose type matches `pattern` whole; the first where there are several.

    The field comes from files, so whatever is not [start, end, type] in it is passed over.
    """
    listed = record.extra.get("mention_types")
    types: dict[Mention, str] = {}
    for item in listed if type(listed) is list else ():
        if type(item) is list and list(map(type, item)) == [int, int, str] and pattern.fullmatch(item[2]):
            types.setdefault(Mention(item[0], item[1]), item[2])
    return types


def mention_attributes(record: Record) -> dict[Mention, list[dict[str, Any]]]:
    """The attributes of mentions by span; a span that several mentions share has several items.

    The field comes from files, so whatever is not [start, end, {name: value}] in it is passed over.
    """
    listed = record.extra.get("mention_attributes")
    found: dict[Mention, list[dict[str, Any]]] = {}
    for item in listed if type(listed) is list else ():
        if type(item) is list and list(map(type, item)) == [int, int, dict]:
            found.setdefault(Mention(item[0], item[1]), []).append(item[2])
    return found
