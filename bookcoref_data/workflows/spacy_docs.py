"""Between books and spaCy documents, token for token.

Clusters are span groups named `coref_clusters_1`, `coref_clusters_2`, ..., as spaCy's own coreference
components write them. The name of a character is the attribute `name` of its group. All mentions together are
the group `sc`, which `displacy.render(doc, style="span")` draws.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from ..books import Book, Mention, Record
from ..errors import DataError
from ..late import spacy
from ..spacy_model import words_for_spacy

if TYPE_CHECKING:
    from ..annotation.embedded.parsing import Parse

PREFIX = "coref_clusters"
LINE_END = "\n"


def to_doc(record: Record, vocab: spacy.vocab.Vocab) -> spacy.tokens.Doc:
    """The tokens, sentences and clusters of a book as a `Doc`.

    Tokens stay as they are, one space apart: a book that came as tokens does not know its white space.
    """
    made = record.to_book()
    starts = {0, *made.sentence_ends}
    begins = [i in starts for i in range(len(made.tokens))]
    doc = spacy.tokens.Doc(vocab, words=words_for_spacy(made.tokens, made.doc_key), sent_starts=begins)
    named = [(list(mentions), name) for name, mentions in record.characters]
    spans = {tuple(mentions) for mentions, _ in named}
    rest = [(list(cluster), "") for cluster in record.clusters if tuple(cluster) not in spans]
    write_clusters(doc, [*named, *rest])
    return doc


def from_doc(doc: spacy.tokens.Doc, doc_key: str = "doc") -> Record:
    """The tokens, sentences and clusters of a `Doc`; white space tokens become the token of a line end."""
    book = book_of_doc(doc, doc_key)
    groups = [doc.spans[key] for key in doc.spans if key.startswith(f"{PREFIX}_")]
    spans = [[Mention(span.start, span.end - 1) for span in group] for group in groups]
    names = [str(group.attrs.get("name", "")) for group in groups]
    return Record(
        doc_key, sentences=book.sentences, clusters=spans,
        characters=[(name, s) for name, s in zip(names, spans, strict=True) if name],
    )  # fmt: skip


def book_of_doc(doc: spacy.tokens.Doc, doc_key: str = "doc") -> Book:
    """The bare book of a `Doc`: its tokens and sentences."""
    if not doc.has_annotation("SENT_START"):
        what = "the document has no sentences"
        expected = "a pipeline with a parser or a sentencizer before bookcoref"
        raise DataError(what, expected=expected, hint="nlp.add_pipe('bookcoref', last=True)")
    tokens = tuple(LINE_END if token.is_space else token.text for token in doc)
    return Book(doc_key, "", tokens, tuple(accumulate(len(sentence) for sentence in doc.sents)))


def parse_of_doc(doc: spacy.tokens.Doc) -> Parse:
    """The tags and dependencies of a parsed `Doc`, as the embedded annotator reads them. Raises DataError:
    the document was not tagged and parsed."""
    from ..annotation.embedded.parsing import parse_of_arrays

    if not (doc.has_annotation("DEP") and doc.has_annotation("TAG")):
        what = "the document is not parsed"
        hint = "use an English pipeline with tagger and parser, for instance en_core_web_sm"
        raise DataError(what, expected="part-of-speech tags and dependencies", hint=hint)
    head = np.array([token.head.i for token in doc], dtype=np.int32)
    lengths = [len(sentence) for sentence in doc.sents]
    sentence = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    return parse_of_arrays(head, [t.tag_ for t in doc], [t.dep_ for t in doc], sentence, str(doc.vocab.lang))


def write_clusters(doc: spacy.tokens.Doc, clusters: list[tuple[list[Mention], str]]) -> None:
    """Store clusters and the names of their characters as span groups of a document."""
    span_of, group_of = spacy.tokens.Span, spacy.tokens.SpanGroup
    shown = []
    for number, (mentions, name) in enumerate(clusters, 1):
        key = f"{PREFIX}_{number}"
        spans = [span_of(doc, m.start, m.end + 1, label=name) for m in mentions]
        attributes: dict[str, Any] = {"name": name}
        doc.spans[key] = group_of(doc, name=key, spans=spans, attrs=attributes)
        shown += [span_of(doc, m.start, m.end + 1, label=name or key) for m in mentions]
    doc.spans["sc"] = group_of(doc, name="sc", spans=sorted(shown, key=lambda span: span.start))
