"""Which format a path holds: by its name, and where the name does not say, by how its content begins."""

import itertools
from pathlib import Path

from ..errors import MissingFileError, UsageError, WrongFileError
from ..outputs import ANNOTATION
from ..resources import load_toml, resource
from .base import sibling
from .compressed import bare_suffix, is_pipe
from .lines import read_lines

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
    head = [] if found else list(itertools.islice(read_lines(path, again=True), _LINES_LOOKED_AT))
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
