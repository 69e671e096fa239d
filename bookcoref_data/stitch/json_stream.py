"""Walk through a JSON document of any size without ever holding more than one small value of it.

A pull parser: the caller says which objects and arrays to enter, and reads everything else as values
through the standard library's C scanner. Used for the official delta (208 MB of opcodes).
"""

import json
import re
from collections.abc import Iterable, Iterator
from json.scanner import c_make_scanner, py_make_scanner  # type: ignore[attr-defined]
from typing import Any

from ..errors import FormatError

_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"[-+.0-9eE]*")
_COMPACT_AT = 1 << 20


def _end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Where a match that begins at `at` ends; `at` itself where there is none."""
    found = pattern.match(text, at)
    return found.end() if found else at


class JsonStream:
    """Reads one JSON document from an iterable of text pieces.

    `largest` bounds the characters of a single value read with `value()`; a longer one is refused, so
    that hostile input cannot fill the memory.

    Raises (all methods):
        FormatError: broken JSON, with the file's name and the character position.
    """

    def __init__(self, pieces: Iterable[str], name: str, *, largest: int = 64 << 20) -> None:
        self._pieces = iter(pieces)
        self._name, self._largest = name, largest
        self._text, self._at, self._before = "", 0, 0
        self._ended = False
        self._single_until = 0
        self._scan = (c_make_scanner or py_make_scanner)(json.JSONDecoder())

    def peek(self) -> str:
        """The next character that is not white space; "" at the end of the document."""
        while True:
            self._at = _end_of(_SPACE, self._text, self._at)
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def members(self) -> Iterator[str]:
        """Enter an object; yields each key. The caller must consume the key's value before the next."""
        for _ in self._items("{", "}"):
            key = self.value()
            if not isinstance(key, str):
                raise self._broken("a key in double quotes", repr(key)[:60])
            self._expect(":")
            yield key

    def elements(self) -> Iterator[None]:
        """Enter an array; yields once per element. The caller must consume the element each time."""
        return self._items("[", "]")

    def values(self) -> Iterator[Any]:
        """Enter an array; yields its elements, each read whole."""
        for _ in self.elements():
            # Reading many at once, up to the last one that seems to be a whole object, takes a third of the
            # time. The mark that ends an object may stand inside of a text or of another object, or beyond
            # the end of the array: what comes before it is then no list of whole values, and no other attempt
            # is made before that place.
            end = self._text.rfind("},", self._at) + 1
            if end > max(self._at, self._single_until - self._before):
                try:
                    found = json.loads(f"[{self._text[self._at : end]}]")
                except (ValueError, RecursionError):
                    self._single_until = self._before + end
                else:
                    self._at = end
                    yield from found
                    continue
            yield self.value()

    def value(self) -> Any:
        """Read the next value whole."""
        self.peek()
        wanted = 4096
        while True:
            try:
                value, end = self._scan(self._text, self._at)
            except (StopIteration, ValueError, RecursionError) as error:
                if isinstance(error, RecursionError):
                    raise self._broken("a value", "brackets nested too deeply") from error
                size = len(self._text) - self._at
                if size > self._largest:
                    raise self._broken(f"a value of at most {self._largest:,} characters", "more") from None
                # Only a value cut off at the end of the buffer is worth reading on for.
                if not self._more(wanted):
                    raise self._broken("a JSON value", self._text[self._at : self._at + 60]) from None
                wanted *= 2
                continue
            # A number that reaches the end of the buffer may go on in the next piece ("0" of "0.5").
            if _end_of(_NUMBER, self._text, self._at) == len(self._text) and self._more():
                continue
            self._at = end
            return value

    def skip(self) -> None:
        """Pass over the next value, entering objects and arrays so that a large one costs no memory."""
        start = self.peek()
        if start == "{":
            for _ in self.members():
                self.value()
        elif start == "[":
            for _ in self.elements():
                self.value()
        else:
            self.value()

    def finish(self) -> None:
        """Check that nothing follows the document."""
        if rest := self.peek():
            raise self._broken("the end of the document", repr(rest))

    def _items(self, opening: str, closing: str) -> Iterator[None]:
        self._expect(opening)
        if self.peek() == closing:
            self._at += 1
            return
        while True:
            yield None
            mark = self.peek()
            self._at += 1
            if mark == closing:
                return
            if mark != ",":
                self._at -= 1
                raise self._broken(f"',' or '{closing}'", repr(mark) if mark else "the end of the file")

    def _expect(self, mark: str) -> None:
        found = self.peek()
        if found != mark:
            raise self._broken(repr(mark), repr(found) if found else "the end of the file")
        self._at += 1

    def _more(self, wanted: int = 1) -> bool:
        """Read at least `wanted` characters more, if there are any; False when nothing was added."""
        if self._ended:
            return False
        if self._at > _COMPACT_AT:
            self._before += self._at
            self._text, self._at = self._text[self._at :], 0
        added, parts = 0, [self._text]
        while added < wanted:
            piece = next(self._pieces, None)
            if piece is None:
                self._ended = True
                break
            parts.append(piece)
            added += len(piece)
        self._text = "".join(parts)
        return added > 0

    def _broken(self, expected: str, found: str) -> FormatError:
        return FormatError(
            f"{self._name}: broken JSON at character {self._before + self._at:,}", expected=expected,
            found=found, hint="the file is damaged or was cut off: fetch it again",
        )  # fmt: skip
