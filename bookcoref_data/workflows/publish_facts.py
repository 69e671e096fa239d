"""What a data set folder is, where its texts and annotation are from, and what is known of their rights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..books.facts import BookFacts, is_remapped, released_key
from ..errors import BookcorefError, UsageError
from ..formats.card import CITATION
from ..formats.corpora import Corpus, corpora
from ..formats.folder import BuildRecord, iter_folder
from ..progress import Progress
from ..publish.citation import Citation, citation_of_bibtex, citation_of_dataset, read_citation
from ..publish.publication import BookNotes, Publication
from ..publish.rights import (
    OPEN,
    PUBLIC_DOMAIN,
    RESTRICTED,
    UNKNOWN,
    AnnotationRights,
    Licence,
    TextRights,
    find_licence,
)
from ..sources.store import Store
from ..text.rights import header_says_free
from .pack import record_says
from .plausibility import plausibility
from .rebuild import TextCandidates
from .rebuild_book import SourceFile
from .setup import RebuildSettings, candidates_of, texts_of
from .verify import published_books

OPEN_CASTS = {"wikidata", "proposed", "own"}
"""Sources of casts that stand in nobody's way: CC0, made from the book, given by whoever publishes."""
_BOOKCOREF = "CC-BY-NC-SA-4.0"
_SILVER = (
    "Silver: made by a pipeline, not checked by people.",
    "The annotator was made for English novels.",
)


@dataclass(frozen=True)
class Origin:
    """Where a folder is from: `kind` is bookcoref, sample, corpus, or own.

    `declared` is the licence of the annotation that is known beforehand, with the evidence.
    """

    kind: str
    record: BuildRecord
    candidates: TextCandidates
    declared: tuple[str, str] | None = None
    corpus: Corpus | None = None
    without_text: Mapping[str, str] = field(default_factory=dict)

    # -- rights ----------------------------------------------------------------------------------

    def text_rights(self, book: BookFacts, stated: str | None) -> TextRights:
        """What is known of the rights in one text; `stated` is the licence that the user names for texts of
        which nothing is known."""
        found = self._known(book)
        if found.state != UNKNOWN or stated is None:
            return found
        licence = find_licence(stated)
        free = licence.open or _plain(stated) == PUBLIC_DOMAIN
        name = licence.id if licence.url else stated
        return TextRights(OPEN if free else RESTRICTED, f"{name}, as stated by the publisher")

    def _known(self, book: BookFacts) -> TextRights:
        key = released_key(book.doc_key)
        if key in self.without_text:
            return TextRights(RESTRICTED, self.without_text[key])
        if self.kind == "sample":
            return TextRights(OPEN, "CC0-1.0, written for bookcoref-data")
        if self.corpus is not None:
            return TextRights(self.corpus.text_rights, f"{self.corpus.name}: {self.corpus.texts}")
        if book.gutenberg_key in ("", "0"):
            return TextRights(UNKNOWN, "not from Project Gutenberg")
        return self._gutenberg(book)

    def _gutenberg(self, book: BookFacts) -> TextRights:
        """What the header of the very text, else of another edition, or the catalogue record says."""
        try:
            found = list(self.candidates(book.gutenberg_key))
        except BookcorefError as error:
            return TextRights(UNKNOWN, error.what)
        exact = [text for text in found if text.sha256 == book.text.get("sha256")]
        states = [_says(text) for text in exact or found]
        if any(state.state == RESTRICTED for state in states):
            return next(state for state in states if state.state == RESTRICTED)
        return next((state for state in states if state.free), states[0])

    def annotation_rights(self, chosen: str | None) -> AnnotationRights:
        """The licence of the annotation.

        Raises:
            UsageError: `chosen` is another licence than the annotation has already.
        """
        closed = self._closed()
        if self.declared is None:
            if chosen is None:
                return AnnotationRights(None, "the folder states no licence", closed)
            return AnnotationRights(find_licence(chosen), "chosen by the publisher", closed)
        name, evidence = self.declared
        known = find_licence(name)
        if chosen is not None and find_licence(chosen) != known:
            raise UsageError(
                f"the annotation is under {known.id} already, so its licence cannot be {chosen}",
                found=evidence, hint="leave --licence out",
            )  # fmt: skip
        return AnnotationRights(known, evidence, closed)

    def _closed(self) -> tuple[str, ...]:
        """Casts whose source has no open terms."""
        sources: dict[str, int] = {}
        for book in self._facts().values():
            name = str((book.get("cast") or {}).get("source") or "an unknown source")
            if name not in OPEN_CASTS:
                sources[name] = sources.get(name, 0) + 1
        return tuple(
            f"the casts of {count} books come from {name}, whose terms are not open"
            for name, count in sources.items()
        )

    def _facts(self) -> Mapping[str, Mapping[str, Any]]:
        """What the build record keeps of each book that `create` made."""
        books = self.record.source.get("books")
        return books if isinstance(books, dict) else {}

    # -- everything else that a card states -----------------------------------------------------

    def publication(
        self,
        folder: Path,
        repository: str,
        page: str,
        texts: Mapping[str, TextRights],
        annotation: AnnotationRights,
        *,
        standoff: bool,
        title: str | None,
        tag: str | None,
        languages: tuple[str, ...],
        citation: Path | None,
        date: str,
    ) -> Publication:
        """The facts of the publication. Raises FormatError, SourceError: the citation cannot be read."""
        title = title or self.record.title
        tokens = sum(book.tokens for book in self.record.books)
        people = sum(book.characters for book in self.record.books)
        what = f"{people:,} characters" if people else "all clusters"
        number = len(self.record.books)
        documents = "1 document" if number == 1 else f"{number:,} documents"
        return Publication(
            repository=repository,
            page=page,
            tag=tag or f"sha256-{self.record.digest[:12]}",
            date=date,
            title=title,
            summary=f"Coreference over whole documents: the mentions of {what} in {documents}, "
            f"{tokens:,} tokens.",
            standoff=standoff,
            digest=self.record.digest,
            made_with=self.record.made_with,
            texts=texts,
            annotation=annotation,
            citation=self._citation(citation, title, repository, int(date[:4]), page),
            books=self.record.books,
            licences=self._licences(texts, annotation),
            recipe=tuple(self._recipe()),
            limits=tuple(self._limits()),
            notes=self._notes(folder),
            left_out=dict(self.record.missing),
            languages=languages,
        )

    def _citation(self, own: Path | None, title: str, repository: str, year: int, page: str) -> Citation:
        mine = read_citation(own) if own else None
        source = CITATION if self.kind == "bookcoref" else self.corpus.bibtex if self.corpus else ""
        if source:
            theirs = citation_of_bibtex(source, "the citation of the source")
            if mine is None:
                return theirs
            return Citation((*mine.works, *theirs.works), f"{mine.bibtex}\n\n{theirs.bibtex}")
        return mine or citation_of_dataset(title, [repository.partition("/")[0]], year, page)

    def _licences(
        self, texts: Mapping[str, TextRights], annotation: AnnotationRights
    ) -> tuple[tuple[str, str], ...]:
        licence = annotation.licence or Licence("unknown")
        name = f"[{licence.id}]({licence.url})" if licence.url else licence.id
        states = {rights.state for rights in texts.values()}
        if self.corpus is not None:
            said = self.corpus.texts
        elif self.kind == "sample":
            said = "CC0-1.0, written for bookcoref-data"
        elif states == {PUBLIC_DOMAIN}:
            said = "public domain in the United States (Project Gutenberg); check the law where you are"
        else:
            said = "; ".join(sorted({rights.evidence for rights in texts.values()})[:5])
        return (("Texts", said), ("Annotation", f"{name}: {annotation.evidence}"))

    def _recipe(self) -> Iterable[str]:
        source = self.record.source
        if self.corpus is not None:
            yield f"imported from {self.corpus.name} ({self.corpus.address})"
        if self.kind == "bookcoref":
            yield "the annotation of BookCoref, attached to texts of Project Gutenberg"
        if recipe := source.get("recipe"):
            yield f"recipe of the annotation: {recipe}"
        versions = source.get("versions")
        if isinstance(versions, dict):
            yield "versions: " + ", ".join(f"{name} {version}" for name, version in versions.items())

    def _limits(self) -> Iterable[str]:
        if self.kind == "own":
            yield from _SILVER
        if self.corpus is not None:
            yield "The windows of the configuration `split` are cut here; the corpus has none."
        for book in self.record.books:
            if is_remapped(book.doc_key) or book.check == "remapped":
                yield f"`{book.doc_key}` is another edition than the annotated one: {(*book.notes, '')[0]}"

    def _notes(self, folder: Path) -> dict[str, BookNotes]:
        """The cast's source and the plausibility of every book that a pipeline has annotated."""
        if self.kind != "own":
            return {}
        facts, made = self._facts(), {}
        for _, record in iter_folder(folder, "full"):
            book, known = record.to_book(), facts.get(record.doc_key, {})
            absent = tuple(known.get("names_without_mention", ()))
            cast = [*(c.name for c in book.characters), *absent]
            found = plausibility(book, cast) if cast else None
            origin = known.get("cast") or {}
            made[book.doc_key] = BookNotes(
                " ".join(str(origin.get(k, "")) for k in ("source", "work_id")).strip(),
                found.warnings if found else (), absent,
            )  # fmt: skip
        return made


def origin_of(
    record: BuildRecord, mirror: str | None, cache_dir: Path | None, offline: bool, progress: Progress
) -> Origin:
    """What a folder is, from its build record.

    Raises:
        UsageError: the mirror cannot be used.
    """
    source = record.source
    corpus = corpora().get(str(source.get("corpus", "")))
    kind = "corpus" if corpus else _kind(record)
    settings = RebuildSettings(
        Path(),
        sample=kind == "sample" and mirror is None,
        mirror=mirror,
        cache_dir=cache_dir,
        offline=offline,
    )
    candidates = candidates_of(texts_of(settings, Store.open(cache_dir), progress))
    instructed = {b["doc_key"]: "not on Project Gutenberg" for b in published_books() if "instructions" in b}
    return Origin(kind, record, candidates, _declared(kind, record, corpus), corpus, instructed)


def _kind(record: BuildRecord) -> str:
    release = record.source.get("release")
    if release == "sample":
        return "sample"
    released = {book["doc_key"] for book in published_books()}
    keys = {released_key(book.doc_key) for book in record.books}
    # A rebuild from somebody's published packs states its licence; one of BookCoref's own books does not.
    if release and "licence" not in record.source and keys <= released:
        return "bookcoref"
    return "own"


def _declared(kind: str, record: BuildRecord, corpus: Corpus | None) -> tuple[str, str] | None:
    if kind == "bookcoref":
        return _BOOKCOREF, "BookCoref states three licences; the strictest counts"
    if kind == "sample":
        return "CC0-1.0", "made by hand for bookcoref-data"
    if corpus is not None:
        return (corpus.licence, f"{corpus.name}: {corpus.annotation}") if corpus.licence else None
    said = record.source.get("licence")
    return (str(said), "stated in the build record") if said else None


def _says(text: SourceFile) -> TextRights:
    """What the catalogue record beside a text, else its header, says of its rights."""
    recorded = record_says(text.path)
    if recorded is False:
        return TextRights(RESTRICTED, f"its catalogue record says that it is in copyright ({text.name})")
    if header_says_free(text.read()):
        return TextRights(PUBLIC_DOMAIN, f"the Gutenberg header of {text.name} says that anyone may use it")
    if recorded:
        return TextRights(PUBLIC_DOMAIN, f"the catalogue record of {text.name} says public domain")
    return TextRights(UNKNOWN, f"the header of {text.name} says nothing that we understand")


def _plain(text: str) -> str:
    return " ".join(text.lower().replace("-", " ").split())
