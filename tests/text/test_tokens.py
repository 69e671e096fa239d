"""Sentences and tokens: the official way, and our way for clean bodies."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bookcoref_data.errors import UsageError
from bookcoref_data.text import tokens
from bookcoref_data.text.decode import decode
from bookcoref_data.text.tokens import (
    WordSplitter,
    _word_splitter,
    available_engines,
    paragraph_spans,
    sentence_spans,
    tokenize_body,
    tokenize_official,
)

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
    found = [t for s in tokenize_official("One two\nthree.  Four\n\nfive.") for t in s]
    assert found == ["One", "two", "\n", "three", ".", "Four", "\n\n", "five", "."]


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
    with pytest.raises(UsageError, match="no sentence engine"):
        tokenize_official("x", "guess")


def test_an_engine_is_loaded_when_it_is_its_turn(monkeypatch):
    """NLTK imports scipy.stats, which took half the time of a rebuild that needs Punkt alone."""
    asked = []
    monkeypatch.setattr(tokens, "_sentence_splitter", asked.append)
    engines = iter(available_engines())
    assert (next(engines), asked) == ("punkt", ["punkt"])
    assert (list(engines), asked) == (["nltk"], ["punkt", "nltk"])


def test_base_token_counts_of_the_real_books(shared_data):
    for book, count in (("1342", 157_100), ("2500", 54_197)):
        text = decode((shared_data / f"gutenberg/cache/epub/{book}/pg{book}.txt").read_bytes()).text
        assert sum(map(len, tokenize_official(text))) == count


@pytest.fixture(scope="module")
def spacy_tokens():
    """The tokens that spaCy itself gives."""
    import spacy

    tokenizer = spacy.blank("en").tokenizer
    return lambda text: [token.text for token in tokenizer(text)]


WORDS = ["Mr", "Mr.", "can't", "he’s", "a", ":", ")", ": )", "(", "-", "''", "'s", "\n", " ", "\t \n", "e.g.",
         "word", "well-known", "“Ann,”", "it;)", '"Oh!"', "U.S.", "I.", "10km", "o.O", "_so_", "http://x.org",
         "’", ".", "cannot.", "Id,", "(and)", "dont?", "\xa0", "—", "...", "fire-side", "so--well", "Ann’s",
         "_so_,", "‘ann’s.’", "A-B.", "cannot-so", "etc..", "etc.”."]  # fmt: skip


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join)
    | st.lists(st.sampled_from(WORDS)).map("".join)
)
def test_remembered_words_give_the_tokens_of_spacy(spacy_tokens, text):
    splitter = _word_splitter()
    assert splitter.split(text) == spacy_tokens(text)
    placed = splitter.split_with_offsets(text)
    assert [word for word, _ in placed] == [token for token in spacy_tokens(text) if not token.isspace()]
    assert all(text.startswith(word, at) for word, at in placed)


def test_a_special_case_across_a_gap_is_left_to_spacy(spacy_tokens):
    """`:` and `)` are parts of a smiley, so spaCy compares them over the gap: it splits the whole text."""
    splitter = WordSplitter(asked := _Asked())
    text = "a word : ) here"
    assert splitter.split(text) == spacy_tokens(text)
    assert asked.texts[-1] == text
    for inside in (": ):a", "(and): ))", ":: ):it;)"):  # a smiley beside the gap could hide the one across it
        assert splitter.split(inside) == spacy_tokens(inside)
    assert splitter.split("a word , here") == ["a", "word", ",", "here"]
    assert asked.texts[-1] != "a word , here"


class _Asked:
    """spaCy's tokenizer, with a record of what it was asked."""

    def __init__(self):
        import spacy

        self._tokenizer, self.texts = spacy.blank("en").tokenizer, []

    def __getattr__(self, name):
        return getattr(self._tokenizer, name)

    def __call__(self, text):
        self.texts.append(text)
        return self._tokenizer(text)


def test_a_hostile_text_does_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr(tokens, "MOST_KNOWN", 100)
    splitter = WordSplitter(_Asked())
    for start in range(0, 1000, 50):
        text = " ".join(f'"w{i}' for i in range(start, start + 50))
        assert splitter.split(text)[-1] == f"w{start + 49}"
    assert splitter._known.cache_info().currsize <= 150
    assert len(splitter._joining) <= 150


def test_the_tokens_of_a_real_book_are_those_of_spacy(shared_data, spacy_tokens):
    """All 52 books: benchmarks/bench_tokens.py."""
    text = decode((shared_data / "gutenberg/cache/epub/2500/pg2500.txt").read_bytes()).text
    splitter = _word_splitter()
    for a, b in sentence_spans(text):
        assert splitter.split(text[a:b]) == spacy_tokens(text[a:b])


@pytest.mark.parametrize("marks", ["“”", '""', "«»", "»«", "„“", "„”", "‚‘", "‘’"])
def test_a_sentence_ends_behind_its_closing_mark(marks):
    text = "<Is it late?> Mr. Ford said. <Go home.>\n\n<I like it here.> She sat down.\n"
    found = tokenize_body(text.replace("<", marks[0]).replace(">", marks[1]), split_dashes=True)
    begin = [sentence[1] if sentence[0] in marks else sentence[0] for sentence in found.sentences]
    assert begin == ["Is", "Mr.", "Go", "I", "She"]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ('He laughed.--"I see."', ["He", "laughed", ".", "--", '"', "I", "see", ".", '"']),
        ("Darcy!--There he is", ["Darcy", "!", "--", "There", "he", "is"]),
        ('"Margaret--" said he', ['"', "Margaret", "--", '"', "said", "he"]),
        ("Mr. D-- came", ["Mr.", "D--", "came"]),
        ("A ---- line", ["A", "----", "line"]),
        (
            "“Come, dear”—she rose—“come!”",
            ["“", "Come", ",", "dear", "”", "—", "she", "rose", "—", "“", "come", "!", "”"],
        ),
        ("said Tom—‘I forgot", ["said", "Tom", "—", "‘", "I", "forgot"]),
        ("go,”—and a——b", ["go", ",", "”", "—", "and", "a", "——", "b"]),
        ("her coat-\ntails, by-and-\nby", ["her", "coat", "-", "tails", ",", "by", "-", "and", "-", "by"]),
        ("He laughed-\n“No,” 3-\n4", ["He", "laughed-", "“", "No", ",", "”", "3-", "4"]),
    ],
)
def test_glued_dashes_are_cut_where_the_text_is_ours(text, tokens):
    found = tokenize_body(text, split_dashes=True)
    flat = [t for s in found.sentences for t in s]
    assert flat == tokens
    assert all(text.startswith(t, at) for t, at in zip(flat, found.starts, strict=True))


def test_the_tokens_of_releases_keep_glued_dashes():
    assert tokenize_body("Darcy!--There he is").sentences[0][0] == "Darcy!--There"
