"""Corpora in files of known formats (LitBank, OntoNotes, FantasyCoref, GUM, CorefUD, BookNLP) and PreCo.

And what the readers of all corpora share: splits derived from names, files at any depth.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from ...books import Mention, Record
from ...errors import DataError, FormatError, SourceError
from .. import booknlp, brat, conll, corefud
from ..compressed import PACKED, bare_stem
from ..conversion_report import ConversionReport
from ..layers import by_sentence
from ..lines import read_lines

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


# -- columns: CoNLL-2012, CoNLL-U, BookNLP ----------------------------------------------------------

IN_PARTS = "stories in parts of which the whole is there too (the whole is taken)"
REPEATED = "documents that are in another folder, too (the first is taken)"
_REPEATS = frozenset({"_build", "not-to-release", "coref"})


def read_ontonotes(path: Path, report: ConversionReport, tokenise: Tokenise) -> Iterator[Found]:
    """Each part as a document, as its chains count within a part; the key is `<document>_part<number>`."""
    for file in files_below(path, "gold_conll", ".conll"):
        for record in going_on(conll.read(file, report=report, parts="apart"), report):
            yield Found(split_of(file, path), record)


def read_fantasycoref(path: Path, report: ConversionReport, tokenise: Tokenise) -> Iterator[Found]:
    """Each story whole; one that comes in parts is joined, and equal ids in its parts are one cluster.

    A story is known by its words: "Aladdin" is called "ryu_Alladdin" where it comes in parts.
    """
    stories: dict[str, Found] = {}
    for file in files_below(path, ".conll", "gold_conll"):
        for record in going_on(conll.read(file, report=report, parts="merge"), report):
            words = " ".join(token for sentence in record.sentences or [] for token in sentence)
            words = words or record.doc_key
            before = stories.get(words)
            if before is not None:
                report.add(IN_PARTS, record.doc_key)
            if before is None or ("parts" in before.record.extra and "parts" not in record.extra):
                stories[words] = Found(split_of(file, path), record)
    yield from stories.values()


def read_conllu(path: Path, report: ConversionReport, tokenise: Tokenise) -> Iterator[Found]:
    """Each document of each `.conllu` file; where there is none, of GUM's `.conll` files of three columns.

    A clone repeats documents: `not-to-release/` those of the files beside it, `coref/` and `_build/` of GUM
    those of `dep/`. The first is taken; `path` may be one of these folders itself.
    """
    readers: dict[str, Callable[..., Iterator[Record]]] = {".conllu": corefud.read, ".conll": conll.read}
    ending = next((e for e in readers if next(files_below(path, e), None)), ".conllu")
    seen: dict[str, Path] = {}
    for file in sorted(files_below(path, ending), key=lambda f: (not _REPEATS.isdisjoint(f.parts[:-1]), f)):
        for record in going_on(readers[ending](file, report=report), report):
            if seen.setdefault(record.doc_key, file) == file or _REPEATS.isdisjoint(file.parts):
                yield Found(split_of(file, path), record)
            else:
                report.add(REPEATED, record.doc_key, file.parent.name)


def read_booknlp(path: Path, report: ConversionReport, tokenise: Tokenise) -> Iterator[Found]:
    """Each book of which there is a `.tokens` file; the others have no tokens and are left out."""
    for file in files_below(path, ".entities"):
        stem = file.name[: file.name.lower().rindex(".entities")]
        if not any((file.parent / f"{stem}.tokens{packed}").is_file() for packed in PACKED):
            report.broken.append(DataError(
                f"{file}: the book has no .tokens file beside it", expected=f"{stem}.tokens", found="no text",
                hint="run BookNLP on the text again: offsets alone name no words",
            ))  # fmt: skip
    for file in files_below(path, ".tokens"):
        for record in going_on(booknlp.read(file, report=report), report):
            yield Found(DEFAULT_SPLIT, record)


# -- LitBank -----------------------------------------------------------------------------------------

# `quotations/tsv/<document>.ann` has two kinds of rows: `QUOTE id sentence token sentence token words` (first
# and last token, both inclusive, counted in their sentences) and `ATTRIB id cluster`.
LACKING = "documents without a file of quotations beside their file in brat"
MISFITS = "quotations whose places are not in the text"


def read_litbank(path: Path, report: ConversionReport, tokenise: Tokenise) -> Iterator[Found]:
    """The documents of the brat files (which name the clusters and have types), else of the CoNLL files."""
    quotations = _folder(path, "quotations/tsv", "tsv")
    brat_folder = _folder(path, "coref/brat", "brat")
    if brat_folder is None and next(files_below(path, ".conll"), None) is None:
        brat_folder = path
    files = list(files_below(brat_folder, ".ann")) if brat_folder is not None else []
    if not files:
        folder = _folder(path, "coref/conll", "conll") or path
        for file in files_below(folder, ".conll"):
            for record in going_on(conll.read(file, report=report), report):
                report.add(LACKING, record.doc_key, count=int(quotations is not None))
                yield Found(DEFAULT_SPLIT, _with_gutenberg_key(record))
        return
    for file in files:
        for record in going_on(brat.read(file, report=report), report):
            quotes = None if quotations is None else quotations / file.name
            if quotes is not None and quotes.is_file():
                record = _with_quotations(record, quotes, report)
            report.add(LACKING, record.doc_key, count=int(quotes is not None and not quotes.is_file()))
            yield Found(DEFAULT_SPLIT, _with_gutenberg_key(record))


def _with_gutenberg_key(record: Record) -> Record:
    """The documents are named after the ids of their books: `1342_pride_and_prejudice_brat`."""
    number = record.doc_key.partition("_")[0]
    return replace(record, gutenberg_key=number) if number.isdigit() else record


def _folder(path: Path, *names: str) -> Path | None:
    return next((path / name for name in names if (path / name).is_dir()), None)


def _with_quotations(record: Record, path: Path, report: ConversionReport) -> Record:
    """The record with its quotations, and with the cluster of the speaker as speaker of each token."""
    sentences = record.sentences or []
    first = [0, *accumulate(map(len, sentences))]
    quotes: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(read_lines(path), 1):
        cells = line.split("\t")
        if cells[0] == "QUOTE" and len(cells) >= 6 and all(cell.isdigit() for cell in cells[2:6]):
            start_sentence, start, end_sentence, end = map(int, cells[2:6])
            inside = max(start_sentence, end_sentence) < len(sentences)
            span = (first[start_sentence] + start, first[end_sentence] + end) if inside else (1, 0)
            if not span[0] <= span[1] < first[-1]:
                report.add(MISFITS, record.doc_key, f"{path.name}:{number}")
                continue
            quotes[cells[1]] = {"start": span[0], "end": span[1], "mention": None, "cluster": None}
        elif cells[0] == "ATTRIB" and len(cells) >= 3:
            if cells[1] in quotes:
                quotes[cells[1]]["cluster"] = cells[2]
        elif line.strip():
            what = f"{path}:{number}: the row is no quotation of LitBank"
            expected = "QUOTE, id, sentence, token, sentence, token, words; or ATTRIB, id, cluster"
            raise FormatError(what, expected=expected, found=repr(line[:60]))
    if not quotes:
        return record
    speakers = [""] * first[-1]
    for quote in quotes.values():
        if quote["cluster"] is not None:
            span_size = quote["end"] + 1 - quote["start"]
            speakers[quote["start"] : quote["end"] + 1] = [quote["cluster"]] * span_size
    return replace(
        record,
        extra={**record.extra, "quotations": list(quotes.values())},
        speakers=by_sentence(speakers, sentences) if any(speakers) else None,
    )


# -- PreCo: a document a line, `mention_clusters` of [sentence, first token, end) --------------------


def read_preco(path: Path, report: ConversionReport, tokenise: Tokenise) -> Iterator[Found]:
    """The documents of train and dev. Ends are exclusive in the files, and count within the sentence.

    A broken line is left out; a file that begins with one is no file of PreCo and is left out whole.
    """
    for file in files_below(path, ".json", ".jsonl"):
        sound = False
        for number, line in going_on(enumerate(read_lines(file), 1), report):
            place = f"{file}:{number}"
            for record in going_on(_preco_records(line, place), report):
                sound = True
                yield Found(split_of(file, path), record)
            if not sound:
                break


def _preco_records(line: str, place: str) -> Iterator[Record]:
    """The document of a line; none of an empty one."""
    if line.strip():
        try:
            value = json.loads(line)
            sentences, clusters = value["sentences"], value["mention_clusters"]
            first = [0, *accumulate(map(len, sentences))]
            moved: list[list[Mention]] = []
            for cluster in clusters:
                moved.append([Mention(first[s] + start, first[s] + end - 1) for s, start, end in cluster])
                for s, start, end in cluster:
                    if not 0 <= start < end <= len(sentences[s]) or s < 0:
                        raise ValueError(f"the mention {[s, start, end]} is not in its sentence")
            right = all(type(token) is str for sentence in sentences for token in sentence)
        except (ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
            raise _no_preco(place, f"{type(error).__name__}: {error}") from error
        if not right:
            raise _no_preco(place, "a token that is no text")
        yield Record(str(value.get("id", place)), "", sentences, moved, source=place)


def _no_preco(place: str, found: str) -> FormatError:
    expected = '{"id", "sentences", "mention_clusters": [[[sentence, first token, end], ...], ...]}'
    return FormatError(f"{place}: the line is no document of PreCo", expected=expected, found=found[:120])
