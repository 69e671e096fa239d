"""Tokens in formats whose fields end at white space: escaped without loss, and restored.

BookCoref has real tokens that are a line end ("\\n"). In CoNLL, CoNLL-U, brat and BookNLP files each
character that such files cannot hold inside a field is written as a decimal character reference:
"\\n" becomes `&#10;`. The references restored on reading are exactly those that are ever written
(white space, control characters, the byte-order mark, halves of surrogate pairs, `&#38;` and `&#35;`), so
`&#65;`, `&amp;` or a lone `&` in other people's files stay as they are. A literal `&#` is written
`&#38;#`, so a token that looks like an escape survives; the empty token is written `&#;`.
"""

import re
from functools import lru_cache

_UNSAFE = re.compile(r"[\s\x00-\x20\x7f-\x9f\ufeff\ud800-\udfff]|&(?=#)")
_REFERENCE = re.compile(r"&#(\d{1,6});")
_EMPTY = "&#;"


@lru_cache(maxsize=1 << 16)
def escape(token: str) -> str:
    """The token as one field without white space."""
    if not token:
        return _EMPTY
    return _UNSAFE.sub(lambda match: f"&#{ord(match.group())};", token) if _UNSAFE.search(token) else token


def escape_name(name: str) -> str:
    """A document name as one field that does not begin with `#`, which would make its rows comments."""
    field = escape(name)
    return f"&#35;{field[1:]}" if field.startswith("#") else field


@lru_cache(maxsize=1 << 16)
def unescape(field: str) -> str:
    """The token that `escape` was given; fields that it never writes come back unchanged."""
    if "&#" not in field:
        return field

    def character(match: re.Match[str]) -> str:
        number = int(match[1])
        found = chr(number) if number <= 0x10FFFF else ""
        written = found in ("&", "#") or (found and _UNSAFE.match(found))
        return found if written else match.group()

    return "" if field == _EMPTY else _REFERENCE.sub(character, field)
