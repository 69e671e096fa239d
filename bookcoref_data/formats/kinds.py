"""What files state of mentions and sentences in fields of `Record.extra`."""

from __future__ import annotations

import re
from typing import Any

from ..books import Mention, Record


def stated(record: Record, name: str, *kinds: type) -> list[list[Any]]:
    """The items of a field. It comes from files: what is no list of values of these types is passed over."""
    listed = record.extra.get(name)
    items = listed if type(listed) is list else []
    return [item for item in items if type(item) is list and list(map(type, item)) == [*kinds]]


def mention_types(record: Record, pattern: re.Pattern[str]) -> dict[Mention, str]:
    """The type of each mention whose type matches `pattern` whole; the first where there are several."""
    types: dict[Mention, str] = {}
    for start, end, kind in stated(record, "mention_types", int, int, str):
        if pattern.fullmatch(kind):
            types.setdefault(Mention(start, end), kind)
    return types


def mention_attributes(record: Record) -> dict[Mention, list[dict[str, Any]]]:
    """The attributes of mentions by span; a span that several mentions share has several items."""
    found: dict[Mention, list[dict[str, Any]]] = {}
    for start, end, attributes in stated(record, "mention_attributes", int, int, dict):
        found.setdefault(Mention(start, end), []).append(attributes)
    return found
