"""Other corpora in their public layouts: what is known of each, and its documents as records with a split.

`manifests/corpora.json` has licence, citation and layout of every corpus; a reader turns its files into
records. Nothing is fetched: the user brings the files.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ...errors import SourceError, UsageError, WrongFileError, listed
from ...resources import resource
from ..conversion_report import ConversionReport
from . import pdnc, reading
from .reading import Found, Tokenise

__all__ = ["Corpus", "Found", "Tokenise", "corpora", "read_corpus"]


@dataclass(frozen=True)
class Paper:
    """A paper to cite; `author` as BibTeX has it."""

    key: str
    author: str
    title: str
    venue: str
    year: int

    @property
    def bibtex(self) -> str:
        fields = {
            "author": self.author, "title": f"{{{self.title}}}", "booktitle": self.venue, "year": self.year,
        }  # fmt: skip
        lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items())
        return f"@inproceedings{{{self.key},\n{lines}}}"

    def __str__(self) -> str:
        names = ", ".join(name.split(",")[0] for name in self.author.split(" and "))
        return f"{names}. {self.title}. {self.venue} {self.year}."


@dataclass(frozen=True)
class Corpus:
    """What `manifests/corpora.json` says of one corpus.

    `text_rights` is public domain, restricted or unknown; `licence` the SPDX name of the annotation's
    licence, None where the corpus states none, or one for each part. `documents` are the first 16
    digits of the sha256 of each document's tokens, as far as they were measured.
    """

    kind: str
    name: str
    about: str
    layout: str
    texts: str
    annotation: str
    text_rights: str
    licence: str | None
    address: str
    tested_on: str
    papers: tuple[Paper, ...]
    documents: str = ""
    published: dict[str, int] = field(default_factory=dict)
    """Counts that the corpus or its paper states: documents by split, documents, tokens, mentions."""
    published_by: str = ""
    """Where these counts were read, if not in the corpus or its paper."""

    def differences(self, found: Mapping[str, int]) -> dict[str, tuple[int, int]]:
        """(published, found) of every published count that is another one here."""
        return {n: (c, found.get(n, 0)) for n, c in self.published.items() if found.get(n, 0) != c}

    @property
    def citation(self) -> str:
        """The papers to cite, as a sentence each."""
        return " ".join(map(str, self.papers))

    @property
    def bibtex(self) -> str:
        return "\n".join(paper.bibtex for paper in self.papers)

    def to_dict(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if name != "documents"}


CorpusReader = Callable[[Path, ConversionReport, Tokenise], Iterator[Found]]
_READERS: dict[str, CorpusReader] = {
    "litbank": reading.read_litbank, "fantasycoref": reading.read_fantasycoref,
    "ontonotes": reading.read_ontonotes, "preco": reading.read_preco, "gum": reading.read_conllu,
    "corefud": reading.read_conllu, "pdnc": pdnc.read, "booknlp": reading.read_booknlp,
}  # fmt: skip


def corpora() -> dict[str, Corpus]:
    """All corpora by kind, in the order of the manifest."""
    facts = json.loads(resource("manifests", "corpora.json").read_text(encoding="utf-8"))
    return {
        kind: Corpus(kind, **{**value, "papers": tuple(Paper(**paper) for paper in value["papers"])})
        for kind, value in facts.items()
    }


def read_corpus(kind: str, path: Path, report: ConversionReport, tokenise: Tokenise) -> Iterator[Found]:
    """The documents of a corpus with their splits ("train", "validation", "test").

    `tokenise` cuts a plain text into sentences of tokens with their places (needed by PDNC alone).

    Raises UsageError: an unknown kind. SourceError: nothing at `path`. WrongFileError: no file of the layout.
    FormatError: a file that is not what it should be (file and line).
    """
    if kind not in _READERS:
        raise UsageError(f"there is no corpus {kind!r}", expected=f"one of {', '.join(_READERS)}")
    if not path.exists():
        raise SourceError(f"cannot read {path}", found="no such file or folder", hint="check the path")
    empty = True
    for found in _READERS[kind](path, report, tokenise):
        empty = False
        yield found
    if empty and report.broken:
        raise report.broken[0]
    if empty:
        there = listed(sorted(p.name for p in path.iterdir()), 5) if path.is_dir() else "a file"
        raise WrongFileError(
            f"{path} has no documents of {corpora()[kind].name}", expected=corpora()[kind].layout,
            found=there or "nothing", hint="check the path, or the name of the corpus",
        )  # fmt: skip
