"""What the readers of all corpora share: splits derived from names, files at any depth."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from ...books import Record
from ...errors import DataError, SourceError
from ..compressed import PACKED, bare_stem
from ..conversion_report import ConversionReport

Item = TypeVar("Item")
DEFAULT_SPLIT = "test"
_SPLITS = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("dev", "minidev", "development", "valid", "validation"), "validation"),
    **dict.fromkeys(("test", "minitest"), "test"),
}


class Found(NamedTuple):
    """A document of a corpus, and the split that its file stands for."""

    split: str
    record: Record


class Tokenised(Protocol):
    """A text in sentences of tokens; token i stands at [starts[i], ends[i]) in characters."""

    @property
    def sentences(self) -> list[list[str]]: ...
    @property
    def starts(self) -> Sequence[int]: ...
    @property
    def ends(self) -> Sequence[int]: ...


Tokenise = Callable[[bytes, str], Tokenised]
"""Content and name of a text file as tokens."""


def split_of(path: Path, root: Path) -> str:
    """The split that a file belongs to: the last word in its path below `root` that names one."""
    parts = [*path.parent.relative_to(root).parts, bare_stem(path)] if root.is_dir() else [bare_stem(path)]
    words = [word for part in parts for word in re.split(r"[^a-z]+", part.lower())]
    named = [_SPLITS[word] for word in words if word in _SPLITS]
    return named[-1] if named else DEFAULT_SPLIT


def going_on(items: Iterable[Item], report: ConversionReport) -> Iterator[Item]:
    """What is read of one file; what is wrong with it is noted, and ends this file alone."""
    try:
        yield from items
    except (DataError, SourceError) as error:
        report.broken.append(error)


def files_below(path: Path, *endings: str) -> Iterator[Path]:
    """The files at or below `path` whose names end so (plain or packed), by name."""
    wanted = tuple(f"{ending}{packed}" for ending in endings for packed in PACKED)
    files = [path] if path.is_file() else sorted(path.rglob("*"))
    for file in files:
        hidden = any(part.startswith(".") for part in file.relative_to(path).parts)
        if file.name.lower().endswith(wanted) and file.is_file() and not hidden:
            yield file


def beside(folder: Path, name: str) -> Path:
    """The file of a folder with this name, plain or packed. Raises SourceError when it is not there."""
    for packed in PACKED:
        if (folder / f"{name}{packed}").is_file():
            return folder / f"{name}{packed}"
    raise SourceError(f"cannot read {folder / name}", found="no such file", hint="is the corpus complete?")
