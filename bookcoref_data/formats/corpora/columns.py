"""Corpora in columns: OntoNotes, FantasyCoref (CoNLL-2012), GUM, CorefUD (CoNLL-U), BookNLP's output."""

from collections.abc import Callable, Iterator
from pathlib import Path

from ...books import Record
from ...errors import DataError
from .. import booknlp, conll, corefud
from ..compressed import PACKED
from ..conversion_report import ConversionReport
from .reading import DEFAULT_SPLIT, Found, Tokenise, files_below, going_on, split_of

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
