"""Every error a user can meet, in one tree; each class carries the exit code of the command line.

BookcorefError                 1  something differs or could not be done
├── UsageError                 2  a setting, argument or recipe that cannot be right
│   ├── MissingExtraError      2  an optional package is needed; the message has the install line
│   └── WrongFileError         2  a file or folder of a kind that is not read here (also a FormatError)
├── SourceError                3  a text, release or service cannot be had
│   ├── MissingFileError       3  a named file is not there (also a FileNotFoundError)
│   ├── OfflineError           3  it could be fetched, but the network is switched off
│   └── CacheError             3  the cache cannot be written (in `sources.store`)
├── ChecksumError              4  content is not what its checksum says
└── DataError                  1  a file or record is not what it claims to be
    ├── FormatError            1  a file cannot be parsed (carries file and line)
    ├── BookError              1  a book breaks a rule: offsets out of range, empty cluster, ...
    └── EditionError           1  annotations belong to another edition of the text

A message says what happened, what was expected, what was found, and what to do next.
"""

import difflib
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any


class BookcorefError(Exception):
    """Base of all errors raised on purpose by this package.

    `what` names the thing concerned (book, file, mention); `expected` and `found` stand side by side;
    `hint` is the next step for the person who reads it.
    """

    exit_code = 1

    def __init__(
        self, what: str, *, expected: object = None, found: object = None, hint: str | None = None
    ) -> None:
        self.what, self.expected, self.found, self.hint = what, expected, found, hint
        super().__init__(what, expected, found, hint)

    def __reduce__(self) -> tuple[Any, ...]:
        # Errors cross process borders in parallel builds; keyword-only fields must survive pickling.
        return partial(type(self), expected=self.expected, found=self.found, hint=self.hint), (self.what,)

    def __str__(self) -> str:
        lines = [self.what]
        if self.expected is not None:
            lines.append(f"  expected: {self.expected}")
        if self.found is not None:
            lines.append(f"  found:    {self.found}")
        if self.hint:
            lines.append(f"  next:     {self.hint}")
        return "\n".join(lines)


class UsageError(BookcorefError):
    """A setting, argument or recipe that cannot be right."""

    exit_code = 2


def require_choice(what: str, value: str, choices: Iterable[str]) -> None:
    """Raises UsageError where `value` is none of the choices; the nearest of them is suggested."""
    there = list(choices)
    if value not in there:
        near = difflib.get_close_matches(str(value), there, n=1)
        hint = f"did you mean {near[0]}?" if near else None
        raise UsageError(f"no {what} {value!r}", expected=f"one of {', '.join(there)}", hint=hint)


class MissingExtraError(UsageError):
    """An optional package is needed for what was asked."""

    @classmethod
    def of(cls, extra: str, package: str, purpose: str) -> "MissingExtraError":
        return cls(
            f"{purpose} needs the package {package}, which is not installed",
            hint=f"pip install 'bookcoref-data[{extra}]'",
        )


@contextmanager
def needing(extra: str, package: str, purpose: str) -> Iterator[None]:
    """Around imports of a package of an extra. Raises MissingExtraError with the line that installs it."""
    try:
        yield
    except ImportError as error:
        raise MissingExtraError.of(extra, package, purpose) from error


class SourceError(BookcorefError):
    """A text, a release or a service cannot be had."""

    exit_code = 3


class MissingFileError(SourceError, FileNotFoundError):
    """A file or folder that was named is not there."""


class OfflineError(SourceError):
    """It could be fetched, but the network is switched off."""


class ChecksumError(BookcorefError):
    """Content is not what its checksum says."""

    exit_code = 4


class Unproved(UserWarning):
    """What is read may be as it was written or not: nothing tells."""


class DataError(BookcorefError):
    """A file or record is not what it claims to be."""


class FormatError(DataError):
    """A file cannot be parsed; the message begins with `file:line`."""


class WrongFileError(UsageError, FormatError):
    """A file or folder of a kind that is not read here: a picture, a text where a data set is meant."""


class BookError(DataError):
    """A book breaks a rule (offsets out of range, empty cluster, duplicate mention)."""


class EditionError(DataError):
    """Annotations belong to another edition of the text than the one at hand."""


def listed(names: Iterable[str], most: int = 20) -> str:
    """Names for a message: the first `most`, and how many more."""
    found = list(names)
    return ", ".join(found[:most]) + (f" and {len(found) - most} more" if len(found) > most else "")


def plural(count: int, word: str) -> str:
    """A count with its noun: "1 book", "2 books"."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def counted(count: int, things: str) -> str:
    """A count with a phrase in the plural: "2 Gutenberg keys", "1 mention that crosses another"."""
    third = {"are": "is", "do": "does", "reach": "reaches", "cross": "crosses"}
    if count == 1:
        things = re.sub(r"(ie)?s\b", lambda end: "y" if end[1] else "", things, count=1)
        verbs = r"(?<=that )(?:are|do|reach|cross|lie|mean|begin)\b"
        things = re.sub(verbs, lambda verb: third.get(verb[0], f"{verb[0]}s"), things)
    return f"{count:,} {things}"
