"""One front door to all formats: read a path, write a path.

Which format a path holds is told by its name, and where the name does not say, by how its content begins.
"""

import importlib
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

from ..books import Record
from ..errors import FormatError, MissingFileError, UsageError, WrongFileError
from ..outputs import ANNOTATION
from ..resources import load_toml, resource
from .base import sibling
from .compressed import bare_suffix, is_pipe
from .conversion_report import ConversionReport
from .lines import read_lines

FORMATS = ("jsonl", "conll", "corefud", "brat", "booknlp")
"""Formats that are read and written, and give back what they hold."""
TRAINERS = ("jsonlines", "wl-coref", "fastcoref", "fastcoref-text", "longdoc", "dual-cache")
"""Formats that are written for trainable systems. `jsonlines` is read, too, as any JSON lines."""
SYSTEMS = {
    "maverick": "jsonlines", "maverick-coref": "jsonlines", "s2e": "jsonlines", "lingmess": "jsonlines",
}  # fmt: skip
"""Systems by name whose format is called otherwise."""


def read_documents(
    path: Path | str, format: str | None = None, config: str | None = None, *,
    report: ConversionReport | None = None, **options: Any,
) -> list[Record]:  # fmt: skip
    """All documents of a file, a folder of files, or a built data set folder, in order.

    `format` is one of `FORMATS` or "folder" (a built data set folder, of which `config` is read: "full"
    or "split"); by default it is detected from name and content. gzip and zstd are unpacked on the way, pipes
    and "-" (standard input) are read, and of a folder that `annotate` wrote the annotation is meant.
    `report` hears what the records cannot hold. `options` go to the reader of the format, but for
    `windows=True`, which allows several records of one document key that state a `window` or `start`.

    Raises SourceError: nothing there. FormatError: not what it claims to be (file and line), or a document
    key given twice. UsageError: an unknown format.
    """
    path = Path(path)
    name, windows = format or detect(path), options.pop("windows", False)
    if name == "folder":
        from .folder import read_folder

        return read_folder(path, config or "full")
    if name in TRAINERS and name != "jsonlines":
        raise UsageError(f"the format {name!r} is written, not read", expected=f"one of {', '.join(FORMATS)}")
    module = _module("jsonl" if name == "jsonlines" else name)
    found, seen = list[Record](), dict[str, str]()
    for file in files_of(path, name):
        for record in module.read(file, report=report, **options):
            found.append(record)
            if windows and not {"window", "start"}.isdisjoint(record.extra):
                continue
            if record.doc_key in seen:
                what = f"{record.source}: the document key {record.doc_key!r} is given twice"
                expected = "each document once"
                hint = "remove one of the two, or rename it"
                raise FormatError(what, expected=expected, found=f"also at {seen[record.doc_key]}", hint=hint)
            seen[record.doc_key] = record.source
    return found


def write_documents(
    records: Iterable[Record], path: Path | str, format: str | None = None, *,
    report: ConversionReport | None = None, **options: Any,
) -> None:  # fmt: skip
    """Write documents whole or not at all, in the format named or told by the suffix.

    `report` hears what the format cannot hold. `options` go to the writer ("tokenizer" and "segment_length"
    for longdoc and dual-cache).
    """
    path = Path(path)
    named = SYSTEMS.get(format or "", format) or for_output(path)
    name = {"dual-cache": "longdoc"}.get(named, named).replace("-", "_")
    function = f"write_{name}" if named in TRAINERS else "write"
    getattr(_module(named), function)(records, path, report=report, **options)


def require_known(format: str) -> None:
    """Raises UsageError where there is no such format."""
    if format not in (*FORMATS, *TRAINERS):
        raise UsageError(
            f"there is no format {format!r}", expected=f"one of {', '.join((*FORMATS, *TRAINERS))}",
            found=format, hint=f"jsonlines is for {', '.join(SYSTEMS)}: these names are understood, too",
        )  # fmt: skip


def _module(format: str) -> ModuleType:
    require_known(format)
    return importlib.import_module(f"{__package__}.{'trainers' if format in TRAINERS else format}")


# -- which format a path holds ------------------------------------------------------------------------

BY_SUFFIX: dict[str, str] = {
    suffix: name
    for name, listed in load_toml(resource("manifests", "formats.toml"))["suffixes"].items()
    for suffix in listed.split()
}
_LINES_LOOKED_AT = 50
_BOOKS = {
    b"PK\x03\x04": "an archive, as EPUB, Word and OpenDocument files are",
    b"%PDF": "a PDF document",
    b"{\\rtf": "an RTF document",
}
_READ = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xff\xfe", b"\xfe\xff")
"""How compressed files and UTF-16 begin: NUL bytes may follow."""
PROVENANCE = "provenance.jsonl"
"""What `annotate` says of the mentions of its documents."""


def detect(path: Path) -> str:
    """The name of the format of a file or folder.

    A folder is a data set folder (README.md and parquet), one that `annotate` wrote (its annotation is
    meant), or holds files of one format. A pipe is told by its content, which stays there to be read.

    Raises SourceError: there is nothing at `path`. WrongFileError: nothing known is recognised, or a folder
    mixes formats.
    """
    if is_pipe(path):
        return _of_content(path)
    if not path.exists():
        hint = "check the path; relative paths start at the current folder"
        raise MissingFileError(f"cannot read {path}", found="no such file or folder", hint=hint)
    if path.is_dir():
        # Whether this is a folder as `rebuild` writes it: a dataset card and parquet files
        if (path / "README.md").is_file() and next(path.rglob("*.parquet"), None) is not None:
            return "folder"
        if is_annotated_folder(path):
            return "jsonl"
        names = {name for name in map(by_name, _files(path)) if name}
        if len(names) == 1:
            return names.pop()
        raise WrongFileError(
            f"{path}: cannot tell which format this folder holds",
            expected="a data set folder (README.md and parquet), or files of one format (.jsonl, .jsonlines, "
            ".conll, .conllu, .ann with .txt, .tokens with .entities)",
            found=", ".join(sorted(names)) or "none of these",
            hint="name one file, or say the format with --from (or format=...)",
        )
    if bare_suffix(path) == ".txt" and sibling(path, ".ann"):
        return "brat"
    return by_name(path) or _of_content(path)


def by_name(path: Path) -> str | None:
    """The format that the file name promises, None if it promises none of ours."""
    return BY_SUFFIX.get(bare_suffix(path))


def for_output(path: Path) -> str:
    """The format to write, from the name alone. Raises UsageError when the name does not say."""
    name = "jsonlines" if bare_suffix(path) == ".jsonlines" else by_name(path)
    if name is None:
        expected = "a name in .jsonl, .jsonlines, .conll, .conllu, .ann, .tokens (then .gz, .zst), or --to"
        raise UsageError(f"cannot tell from the name {path.name!r} which format to write", expected=expected)
    return name


def files_of(path: Path, format: str) -> list[Path]:
    """The files to read for `format`: `path` itself, or the folder's files of that format, sorted.

    Of formats with two files a document (brat, BookNLP) the one that names the document is listed.
    """
    if not path.is_dir():
        return [path]
    if is_annotated_folder(path) and format == "jsonl":
        return [path / ANNOTATION]
    suffix = {"booknlp": ".tokens", "brat": ".ann"}.get(format)
    return [p for p in _files(path) if by_name(p) == format and suffix in (None, bare_suffix(p))]


def is_annotated_folder(path: Path) -> bool:
    """Whether this is a folder as `annotate` writes it, with the annotation beside its provenance."""
    return (path / ANNOTATION).is_file() and (path / PROVENANCE).is_file()


def _files(folder: Path) -> list[Path]:
    return sorted(p for p in folder.iterdir() if p.is_file() and not p.name.startswith("."))


def _of_content(path: Path) -> str:
    # What a file is that holds a book in another form than plain text
    found = ""
    if not is_pipe(path):
        with path.open("rb") as stream:
            begins = stream.read(200)
        found = next((kind for sign, kind in _BOOKS.items() if begins.startswith(sign)), "")
        if not found and b"\0" in begins and not begins.startswith(_READ):
            found = "a file that is no text"
    head = [] if found else list(islice(read_lines(path, again=True), _LINES_LOOKED_AT))
    for line in head:
        if line.startswith("#begin document"):
            return "conll"
        if line.startswith(("# newdoc", "# global.Entity", "# sent_id")):
            return "corefud"
    first = next((line for line in head if line.strip()), "")
    if first.startswith(("{", "[")):
        return "jsonl"
    if first.startswith("paragraph_ID\t"):
        return "booknlp"
    raise WrongFileError(
        f"{path}:1: the format is not recognised by name or content",
        expected="JSONL, CoNLL-2012, CoNLL-U, brat or BookNLP",
        found=found or (repr(first[:60]) if first else "an empty file"),
        hint="a plain text is annotated first: bookcoref-data annotate FILE --cast auto --out FOLDER; say "
        "the format with --from (or format=...), if it is one of these",
    )
