"""Formats with several files a document (brat, BookNLP): names, siblings, and where to write.

Document keys come from data, so they never name a file as they are: every character but letters, digits,
`.`, `_`, `-` is percent-encoded, a leading `.` too.
"""

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote, unquote

from ..books import Record
from ..errors import DataError, SourceError, UsageError
from .base import sentences_of
from .compressed import SUFFIXES, bare_stem, bare_suffix

_LONGEST = 200


def file_name(doc_key: str) -> str:
    """The document key as one component of a path; `doc_key_of` gives it back."""
    name = quote(doc_key, safe="", errors="surrogatepass")
    if name.startswith("."):
        name = f"%2E{name[1:]}"
    name = name or "%"
    if len(name) > _LONGEST:
        raise DataError(
            f"the document key {doc_key[:40]!r}... is too long for a file name",
            expected=f"at most {_LONGEST} characters when percent-encoded",
            found=f"{len(name)}",
            hint="choose a format with all documents in one file (jsonl, conll, corefud)",
        )
    return name


def doc_key_of(path: Path) -> str:
    """The document key that a file's name stands for; names not made by `file_name` are taken as they are."""
    stem = bare_stem(path)
    try:
        key = "" if stem == "%" else unquote(stem, errors="surrogatepass")
        return key if file_name(key) == stem else stem
    except (DataError, UnicodeError):
        return stem


def sibling(path: Path, suffix: str) -> Path | None:
    """The file beside `path` with the same name and another suffix, plain or packed, if there is one."""
    base = bare_stem(path)
    for ending in ("", *SUFFIXES):
        candidate = path.with_name(f"{base}{suffix}{ending}")
        if candidate.is_file():
            return candidate
    return None


def needed_sibling(path: Path, suffix: str, what: str) -> Path:
    """Like `sibling`; raises SourceError when the file is not there."""
    found = sibling(path, suffix)
    if found is None:
        raise SourceError(
            f"cannot read {path}: {what} is missing",
            expected=str(path.with_name(f"{bare_stem(path)}{suffix}")),
            hint="both files of a document must lie side by side",
        )
    return found


def targets(records: Iterable[Record], path: Path, suffix: str) -> list[tuple[Record, Path]]:
    """Each record with the path of its main file: `path` itself if it ends in `suffix`, else inside it.

    Raises UsageError: several documents for one file. DataError: a key too long for a file name, no tokens.
    """
    listed = list(records)
    for record in listed:  # before the first file is written
        sentences_of(record)
    if bare_suffix(path) != suffix:
        return [(record, path / f"{file_name(record.doc_key)}{suffix}") for record in listed]
    if len(listed) > 1:
        raise UsageError(
            f"cannot write several documents to {path.name}",
            expected="the name of a folder: this format has its own files for each document",
        )
    return [(record, path) for record in listed]


def beside(path: Path, suffix: str) -> Path:
    """The name of the file beside `path` with another suffix, packed the same way."""
    packed = path.suffix if path.suffix.lower() in SUFFIXES else ""
    return path.with_name(f"{bare_stem(path)}{suffix}{packed}")
