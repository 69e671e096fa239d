"""The types of mentions that brat and BookNLP files state, kept in `Record.extra["mention_types"]`."""

from __future__ import annotations

import re

from ..books import Mention, Record


def mention_types(record: Record, pattern: re.Pattern) -> dict[Mention, str]:
    """The type of each mention whose type matches `pattern` whole; the first where there are several.

    The field comes from files, so whatever is not [start, end, type] in it is passed over.
    """
    listed = record.extra.get("mention_types")
    types: dict[Mention, str] = {}
    for item in listed if type(listed) is list else ():
        if type(item) is list and list(map(type, item)) == [int, int, str] and pattern.fullmatch(item[2]):
            types.setdefault(Mention(item[0], item[1]), item[2])
    return types
