"""Bytes of a Gutenberg file to text: byte order mark, UTF-8 or latin-1, universal line ends."""

from __future__ import annotations

import codecs
from typing import NamedTuple

from ..errors import DataError


class Decoded(NamedTuple):
    """The text with "\\n" line ends and no byte order mark, and the encoding that was found."""

    text: str
    encoding: str


_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def decode(data: bytes, what: str = "text") -> Decoded:
    """Decode as Python's text mode would, without a guess where the bytes are plain.

    A byte order mark decides; else UTF-8 when the bytes are valid UTF-8; else Windows-1252 when its
    typographic quotes and dashes (0x80 to 0x9F) occur and all bytes are defined there; else latin-1,
    in which Gutenberg's `-8.txt` files are written.

    Raises:
        DataError: the bytes hold NUL characters (a binary file) or contradict their byte order mark.
    """
    text, encoding = _decode(data, what)
    if "\0" in text:
        raise DataError(
            f"{what} is not a text file",
            expected="text in UTF-8, latin-1 or Windows-1252",
            found=f"a NUL character at {text.index(chr(0))}",
            hint="fetch the plain text file of the book",
        )
    return Decoded(text.replace("\r\n", "\n").replace("\r", "\n"), encoding)


def _decode(data: bytes, what: str) -> tuple[str, str]:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                return data[len(mark) :].decode(encoding), encoding
            except UnicodeDecodeError as error:
                raise DataError(
                    f"{what} begins with the byte order mark of {encoding} but is not {encoding}",
                    found=f"byte {data[len(mark) + error.start]:#04x} at {len(mark) + error.start}",
                    hint="fetch the file again; it may be damaged or pasted together",
                ) from error
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        pass
    if any(0x80 <= byte <= 0x9F for byte in set(data)):
        try:
            return data.decode("cp1252"), "cp1252"
        except UnicodeDecodeError:
            pass
    return data.decode("latin-1"), "latin-1"
