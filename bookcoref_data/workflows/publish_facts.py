"""What a data set folder is, where its texts and annotation are from, and what is known of their rights."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..books.facts import BookFacts, is_remapped, released_key
from ..edits.apply import STEP
from ..errors import BookcorefError, UsageError, plural
from ..formats.card import CITATION
from ..formats.corpora import Corpus, corpora
from ..formats.folder import BuildRecord, iter_folder
from ..formats.reasons import read_reasons
from ..progress import Progress
from ..publishing.citation import Citation, citation_of_bibtex, citation_of_dataset, read_citation
from ..publishing.leaks import MOST_WORDS
from ..publishing.publication import Publication
from ..publishing.rights import (
    OPEN,
    PUBLIC_DOMAIN,
    RESTRICTED,
    UNKNOWN,
    Licence,
    ReuseRights,
    TextRights,
    find_licence,
    header_says_free,
    line_of_texts,
)
from ..sample_story.story import sample_path
from ..sources.gutenberg import TextFile, Texts
from ..sources.store import Store
from ..stitch.pack import not_in_text
from .annotate import CORRECTIONS
from .pack import record_says
from .plausibility import plausibility
from .rebuild import TextCandidates
from .verify import known_facts, published_books

OPEN_CASTS = {"wikidata", "proposed", "own"}
"""Sources of casts that stand in nobody's way: CC0, made from the book, given by whoever publishes."""
_MOST_STRANGE, _LONGEST_STRANGE = 0.03, 100
"""The share of a book's characters, and the length of a piece, that may not be in the file it is from: people
correct words, they do not write pages."""


@dataclass(frozen=True, slots=True)
class PublishSettings:
    """What was asked for. `licence` is that of the annotation, `text_licence` that of texts which are not
    from Gutenberg; `most_words` bounds the runs of text in a standoff release. `books` is the data set that
    `folder`, a folder of questions, was made from."""

    folder: Path
    repository: str
    books: Path | None = None
    private: bool = False
    standoff: bool = False
    citation: Path | None = None
    licence: str | None = None
    text_licence: str | None = None
    title: str | None = None
    languages: tuple[str, ...] = ("en",)
    tag: str | None = None
    most_words: int = MOST_WORDS
    mirror: str | None = None
    cache_dir: Path | None = None
    offline: bool = False


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

    def text_rights(
        self, book: BookFacts, stated: str | None, sentences: Sequence[Sequence[str]] | None = None
    ) -> TextRights:
        """What is known of the rights in one text; `stated` is the licence that the user names for a text
        that is not from Gutenberg. `sentences`, where given, must be those of the file that is free."""
        found = self._known(book, sentences)
        if found.state != UNKNOWN or stated is None or book.gutenberg_key not in ("", "0"):
            return found
        licence = find_licence(stated)
        plain = " ".join(stated.lower().replace("-", " ").split())
        free = licence.open or plain == PUBLIC_DOMAIN
        name = licence.id if licence.url else stated
        return TextRights(OPEN if free else RESTRICTED, f"{name}, as stated by the publisher")

    def _known(self, book: BookFacts, sentences: Sequence[Sequence[str]] | None) -> TextRights:
        key = released_key(book.doc_key)
        if key in self.without_text:
            return TextRights(RESTRICTED, self.without_text[key])
        if self.kind == "sample":
            return TextRights(OPEN, "CC0-1.0, written for bookcoref-data")
        if self.corpus is not None:
            known = book.tokens_sha256[:16] in self.corpus.documents.split()
            # A record can say anything: a corpus that is free is known by its tokens.
            if self.corpus.text_rights == PUBLIC_DOMAIN and not known:
                return TextRights(UNKNOWN, f"these are not the tokens of {self.corpus.name} that we know")
            return TextRights(self.corpus.text_rights, f"{self.corpus.name}: {self.corpus.texts}")
        if book.gutenberg_key in ("", "0"):
            return TextRights(UNKNOWN, "not from Project Gutenberg")
        return gutenberg_rights(book, self.candidates, sentences)

    def annotation_rights(self, chosen: str | None) -> ReuseRights:
        """The licence of the annotation."""
        # Casts whose source has no open terms.
        known = [(book.get("cast") or {}).get("source") for book in self._facts().values()]
        closed = tuple(
            f"the casts of {plural(count, 'book')} come from {name}, whose terms are not open"
            for name, count in Counter(str(name or "an unknown source") for name in known).items()
            if name not in OPEN_CASTS
        )
        if self.declared is None:
            if chosen is None:
                return ReuseRights(None, "the folder states no licence", closed)
            return ReuseRights(find_licence(chosen), "chosen by the publisher", closed)
        name, evidence = self.declared
        licence = find_licence(name)
        if chosen is not None and find_licence(chosen) != licence:
            what = f"the annotation is under {licence.id} already, so its licence cannot be {chosen}"
            raise UsageError(what, found=evidence, hint="leave --licence out")
        return ReuseRights(licence, evidence, closed)

    def _facts(self) -> Mapping[str, Mapping[str, Any]]:
        """What the build record keeps of each book that `create` made."""
        books = self.record.source.get("books")
        return books if isinstance(books, dict) else {}

    # -- everything else that a card states -----------------------------------------------------

    def publication(
        self, folder: Path, asked: PublishSettings, page: str, texts: Mapping[str, TextRights],
        annotation: ReuseRights, date: str,
    ) -> Publication:  # fmt: skip
        """The facts of the publication. Raises FormatError, SourceError: the citation cannot be read."""
        title, repository = asked.title or self.record.title, asked.repository
        tokens = sum(book.tokens for book in self.record.books)
        people = sum(book.characters for book in self.record.books)
        what = f"{people:,} characters" if people else "all clusters"
        documents = f"{plural(len(self.record.books), 'document')}, {tokens:,} tokens"
        licence = annotation.licence or Licence("unknown")
        name = f"[{licence.id}]({licence.url})" if licence.url else licence.id
        said = self.corpus.texts if self.corpus else line_of_texts(texts.values())
        # The cast's source and the plausibility of every book that a pipeline has annotated.
        notes: dict[str, tuple[str, Sequence[str]]] = {}
        if self.kind == "own":
            facts = self._facts()
            for _, record in iter_folder(folder, "full"):
                book, known = record.to_book(), facts.get(record.doc_key, {})
                cast = [*(c.name for c in book.characters), *known.get("names_without_mention", ())]
                found = plausibility(book, cast) if cast else None
                origin = known.get("cast") or {}
                source = " ".join(str(origin.get(k, "")) for k in ("source", "work_id")).strip()
                notes[book.doc_key] = source, found.warnings if found else ()
        return Publication(
            repository=repository, page=page, tag=asked.tag or "", date=date, title=title,
            summary=f"Coreference over whole documents: the mentions of {what} in {documents}.",
            standoff=asked.standoff, digest=self.record.digest, made_with=self.record.made_with, texts=texts,
            annotation=annotation,
            citation=self._citation(asked.citation, title, repository, int(date[:4]), page),
            books=self.record.books,
            licences=(("Texts", said), ("Annotation", f"{name}: {annotation.evidence}")),
            recipe=tuple(self._recipe()), limits=tuple(self._limits(folder)), notes=notes,
            left_out=dict(self.record.missing), languages=asked.languages,
        )  # fmt: skip

    def _citation(self, own: Path | None, title: str, repository: str, year: int, page: str) -> Citation:
        mine = read_citation(own) if own else None
        source = CITATION if self.kind == "bookcoref" else self.corpus.bibtex if self.corpus else ""
        if source:
            theirs = citation_of_bibtex(source, "the citation of the source")
            if mine is None:
                return theirs
            return Citation((*mine.works, *theirs.works), f"{mine.bibtex}\n\n{theirs.bibtex}")
        return mine or citation_of_dataset(title, [repository.partition("/")[0]], year, page)

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

    def _limits(self, folder: Path) -> Iterable[str]:
        if self.kind == "own":
            lines = map(json.loads, read_reasons(folder).values())
            said = (reason for line in lines for reason in line["reasons"])
            by_hand = sum(len(scores) for _, step, _, scores in said if step == STEP)
            made = self.record.source.get(CORRECTIONS, 0)
            told = plural(made, "correction") if made else plural(by_hand, "mention")
            people = f"; {told} by people, the rest not checked" * bool(made or by_hand)
            yield f"Silver: made by a pipeline{people or ', not checked by people'}."
            yield "The annotator was made for English novels."
        if self.corpus is not None:
            yield "The windows of the configuration `split` are cut here; the corpus has none."
        for book in self.record.books:
            if is_remapped(book.doc_key) or book.check == "remapped":
                yield f"`{book.doc_key}` is another edition than the annotated one: {(*book.notes, '')[0]}"


def origin_of(record: BuildRecord, asked: PublishSettings, progress: Progress) -> Origin:
    """What a folder is, from its build record. Raises UsageError: the mirror cannot be used."""
    source = record.source
    corpus = corpora().get(str(source.get("corpus", "")))
    kind = "corpus" if corpus else kind_of(record)
    mirror = asked.mirror or (sample_path("mirror") if kind == "sample" else None)
    texts = Texts(Store.open(asked.cache_dir, progress), mirror, asked.offline)
    instructed = {b["doc_key"]: "not on Project Gutenberg" for b in published_books() if "instructions" in b}
    # The licence of the annotation that is known beforehand, with the evidence
    said = source.get("licence")
    declared = (str(said), "stated in the build record") if said else None
    if kind == "bookcoref":
        declared = "CC-BY-NC-SA-4.0", "BookCoref states three licences; the strictest counts"
    elif kind == "sample":
        declared = "CC0-1.0", "made by hand for bookcoref-data"
    elif corpus is not None:
        declared = (corpus.licence, f"{corpus.name}: {corpus.annotation}") if corpus.licence else None
    return Origin(kind, record, texts.candidates, declared, corpus, instructed)


def kind_of(record: BuildRecord) -> str:
    """Whether a folder that is no corpus is the "sample", "bookcoref", or somebody's "own"."""
    release = record.source.get("release")
    facts = known_facts()
    ours = (facts.get(book.doc_key, {}).get("tokens_sha256") == book.tokens_sha256 for book in record.books)
    if release == "sample" and all(ours):
        return "sample"
    released = {book["doc_key"] for book in published_books()}
    keys = {released_key(book.doc_key) for book in record.books}
    # A rebuild from somebody's published packs states its licence; one of BookCoref's own books does not.
    return "bookcoref" if release and "licence" not in record.source and keys <= released else "own"


def gutenberg_rights(
    book: BookFacts, candidates: TextCandidates, sentences: Sequence[Sequence[str]] | None = None
) -> TextRights:
    """What the header or the catalogue record of the file a book is from says of its rights, else those of
    another edition. `sentences`, where given, must be those of a file that is free."""
    try:
        found = []
        for text in candidates(book.gutenberg_key):
            if text.sha256 == book.text.get("sha256"):
                found = [text]
                break
            found.append(text)
    except BookcorefError as error:
        return TextRights(UNKNOWN, error.what)
    states = [(text, _says(text)) for text in found]
    if closed := [rights for _, rights in states if rights.state == RESTRICTED]:
        return closed[0]
    free = [(text, rights) for text, rights in states if rights.free]
    if sentences is None or not free:
        return (free or states)[0][1]
    strange = [(_strange(book.doc_key, text, sentences), rights) for text, rights in free]
    return next((r for why, r in strange if not why), TextRights(UNKNOWN, strange[0][0]))


def _says(text: TextFile) -> TextRights:
    """What the catalogue record beside a text, else its header, says of its rights."""
    recorded, header = record_says(text.path), header_says_free(text.read().text)
    if False in (recorded, header):
        said = "catalogue record" if recorded is False else "header"
        return TextRights(RESTRICTED, f"its {said} says that it is in copyright ({text.name})")
    if header:
        return TextRights(PUBLIC_DOMAIN, f"the Gutenberg header of {text.name} says that anyone may use it")
    if recorded:
        return TextRights(PUBLIC_DOMAIN, f"the catalogue record of {text.name} says public domain")
    return TextRights(UNKNOWN, f"the header of {text.name} says nothing that we understand")


def _strange(doc_key: str, text: TextFile, sentences: Sequence[Sequence[str]]) -> str:
    """Why the sentences are not those of a file; "" when they are, but for corrections."""
    share, longest = not_in_text(doc_key, text.read().text, sentences)
    if share <= _MOST_STRANGE and longest <= _LONGEST_STRANGE:
        return ""
    told = f"its words are not those of {text.name}: {share:.1%} of the characters are not in it"
    return f"{told}, the longest piece {longest:,}"
