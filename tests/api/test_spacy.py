"""The spaCy component, and books to documents and back."""

from __future__ import annotations

import pytest
import spacy

import bookcoref_data as bc
from bookcoref_data.annotation.embedded.parsing import load_model
from bookcoref_data.errors import BookcorefError
from tests.sample_story.making import sample_book

STORY = (
    "Anna Hill came home late. Her brother Martin was asleep, and she did not wake him. "
    "\u201cWho is there?\u201d asked Martin. \u201cIt is I,\u201d said Anna. She took off her coat.\n\n"
    "Martin laughed. He had waited for Anna Hill all day."
)


@pytest.fixture(scope="module")
def nlp():
    """The installed English pipeline with our component behind it."""
    made = load_model()[0]
    made.add_pipe("bookcoref", config={"cast": ["Anna Hill; Anna", "Martin"]}, last=True)
    yield made
    made.remove_pipe("bookcoref")


@pytest.fixture(scope="module")
def doc(nlp):
    return nlp(STORY)


def test_clusters_are_span_groups_with_the_characters_name(doc):
    assert set(doc._.characters) == {"Anna Hill", "Martin"}
    group = doc.spans[doc._.characters["Anna Hill"]]
    assert group.attrs["name"] == "Anna Hill"
    words = [span.text for span in group]
    assert "Anna Hill" in words
    assert "She" in words


def test_quotes_have_speakers(doc):
    assert next((q.span.text, q.speaker) for q in doc._.quotes) == ("\u201cWho is there?\u201d", "Martin")


def test_a_document_becomes_a_book_and_comes_back(doc):
    book = bc.AnnotatedBook.from_spacy(doc, "story")
    assert len(book.tokens) == len(doc)
    again = bc.AnnotatedBook.from_spacy(book.to_spacy(), "story")
    assert again.to_dict() == book.to_dict()


def test_the_sample_goes_to_spacy_token_for_token():
    book = bc.AnnotatedBook(sample_book().to_record())
    doc = book.to_spacy()
    assert [token.text for token in doc] == list(book.tokens)
    assert len(doc.spans["sc"]) == sum(len(doc.spans[key]) for key in doc.spans if key != "sc") == 795


def test_a_document_without_sentences_is_refused():
    with pytest.raises(BookcorefError, match="no sentences"):
        bc.AnnotatedBook.from_spacy(spacy.blank("en")("One. Two."))


def test_another_language_is_refused():
    with pytest.raises(BookcorefError, match="English only"):
        spacy.blank("de").add_pipe("bookcoref")


def test_a_document_without_a_parse_is_refused():
    blank = spacy.blank("en")
    blank.add_pipe("sentencizer")
    blank.add_pipe("bookcoref", config={"cast": ["Anna"]})
    with pytest.raises(BookcorefError, match="not parsed"):
        blank("Anna came. She sat down.")


def test_clusters_are_numbered_and_shown_by_name_or_number():
    from spacy.tokens import Doc
    from spacy.vocab import Vocab

    from bookcoref_data.books import Mention
    from bookcoref_data.workflows.spacy_docs import write_clusters

    doc = Doc(Vocab(), words=["a", "b", "c", "d"])
    write_clusters(doc, [([Mention(2, 3), Mention(0, 0)], "Anna"), ([Mention(1, 1)], "")])
    shown = [(span.start, span.end, span.label_) for span in doc.spans["sc"]]
    keys = sorted(key for key in doc.spans if key != "sc")
    assert shown == [(0, 1, "Anna"), (1, 2, keys[1]), (2, 4, "Anna")]
    assert [(span.start, span.end, span.label_) for span in doc.spans[keys[0]]] == [
        (2, 4, "Anna"),
        (0, 1, "Anna"),
    ]
    assert [key.rpartition("_")[2] for key in keys] == ["1", "2"]
    assert [doc.spans[key].attrs["name"] for key in keys] == ["Anna", ""]
