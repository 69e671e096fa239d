"""Sentences and tokens: the official way, and our way for clean bodies."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookcoref_data.errors import UsageError
from bookcoref_data.text.decode import decode
from bookcoref_data.text.tokens import available_engines, paragraph_spans, tokenize_body, tokenize_official

BODY = """CHAPTER I.

"Come in," said Mr. Harlow; "it is
cold." He shut the door.

Mrs. Harlow did not answer.
"""


def test_body_joins_wraps_and_keeps_paragraphs_as_tokens():
    found = tokenize_body(BODY)
    assert found.sentences == [
        ["CHAPTER", "I.", "\n"],
        ['"', "Come", "in", ",", '"', "said", "Mr.", "Harlow", ";", '"', "it", "is", "cold", ".", '"'],
        ["He", "shut", "the", "door", ".", "\n"],
        ["Mrs.", "Harlow", "did", "not", "answer", "."],
    ]


def test_official_tokens_keep_white_space():
    tokens = [t for s in tokenize_official("One two\nthree.  Four\n\nfive.") for t in s]
    assert tokens == ["One", "two", "\n", "three", ".", "Four", "\n\n", "five", "."]


@given(st.text(alphabet="ab.'\" \n\t\u00a0\u200b—Mr", max_size=200))
def test_every_body_token_lies_where_it_says(text):
    found = tokenize_body(text)
    flat = [t for s in found.sentences for t in s]
    assert len(flat) == len(found.starts)
    assert all(t == "\n" or text.startswith(t, at) for t, at in zip(flat, found.starts, strict=True))
    assert "".join(t for t in flat if t != "\n") == "".join(text.split())
    assert all(found.sentences)
    assert found.starts == sorted(found.starts)


@given(st.text(alphabet="ab \n\t\r\u00a0", max_size=120))
def test_paragraphs_hold_all_words_and_no_blank_line(text):
    spans = list(paragraph_spans(text))
    assert " ".join(text[a:b] for a, b in spans).split() == text.split()
    assert all(text[a:b] == text[a:b].strip() and "\n\n" not in text[a:b] for a, b in spans)


def test_unknown_engine_is_refused():
    assert available_engines()[0] == "punkt"
    with pytest.raises(UsageError, match="unknown sentence engine"):
        tokenize_official("x", "guess")


def test_base_token_counts_of_the_real_books(shared_data):
    for book, count in (("1342", 157_100), ("2500", 54_197)):
        text = decode((shared_data / f"gutenberg/cache/epub/{book}/pg{book}.txt").read_bytes()).text
        assert sum(map(len, tokenize_official(text))) == count
