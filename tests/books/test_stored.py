"""Documents whose words stay bytes: the same checksums and the same rules as books have."""

from itertools import pairwise

import numpy as np
import pytest

from bookcoref_data.books import Book, split_book, split_by_rule
from bookcoref_data.books.book import tokens_sha256
from bookcoref_data.books.facts import document_sha256, facts_of
from bookcoref_data.books.stored import StoredBook, TokenBytes, are_parts
from bookcoref_data.errors import BookError
from bookcoref_data.formats.folder import iter_stored, write_folder, writing_folder
from bookcoref_data.workflows.verify import verify

WORDS = ["Ä", "sea", "\n", "“", "naïve", "海", "x"]
BOOK = Book.make(
    "a_1", [WORDS[:3], WORDS[3:], ["x", "y"]], gutenberg_key="1",
    clusters=[[(0, 0), (2, 3)], [(7, 8)]], characters=[("Ann", [(0, 0)])],
)  # fmt: skip


@pytest.mark.parametrize(("first", "last"), [(0, 7), (0, 0), (2, 5), (6, 7), (7, 7)])
def test_any_run_of_tokens_has_the_checksum_of_its_words(first, last):
    assert TokenBytes.of(WORDS)[first:last].sha256() == tokens_sha256(WORDS[first:last])


def test_tokens_without_words_are_no_bytes():
    assert len(TokenBytes.of([])) == 0
    assert TokenBytes.of([])[0:0].sha256() == tokens_sha256([])


def test_a_surrogate_is_encoded_as_the_checksum_of_tokens_does():
    assert TokenBytes.of(["\ud800"])[0:1].sha256() == tokens_sha256(["\ud800"])


ODD = ["a\0b", "c", "\0", "", "Ä\0\0"]


@pytest.mark.parametrize(("first", "last"), [(0, 5), (0, 1), (1, 2), (2, 4), (4, 5), (3, 3)])
def test_a_zero_byte_inside_a_token_does_not_end_it(first, last):
    tokens = TokenBytes.of(ODD)
    assert len(tokens) == len(ODD)
    assert tokens[first:last].sha256() == tokens_sha256(ODD[first:last])


def test_a_folder_whose_tokens_hold_a_zero_byte_verifies(tmp_path):
    book = Book.make("a_1", [["a\0b", "c"], ["d"]], clusters=[[(0, 0)]])
    write_folder(tmp_path / "d", {"test": [book]}, title="d", licences=[])
    result = verify(tmp_path / "d")
    assert (result.exit_code, [b.problems for b in result.books]) == (0, [[]])
    assert result.books[0].facts.tokens_sha256 == tokens_sha256(book.tokens)


def test_what_lies_in_a_folder_has_the_facts_of_its_books(tmp_path):
    windows = split_book(BOOK, size=4).books
    with writing_folder(tmp_path / "d") as writer:
        writer.add_book(BOOK, "test", windows)
        writer.finish("d", licences=[])
    ((key, stored),) = iter_stored(tmp_path / "d", "full", "test")
    parts = [part for _, part in iter_stored(tmp_path / "d", "split", "test")]
    assert key == "a_1"
    assert document_sha256(stored) == document_sha256(BOOK)
    assert facts_of(stored, parts, "test") == facts_of(BOOK, windows, "test")
    assert bytes(stored.tokens.data) == "".join(t + "\0" for t in BOOK.tokens).encode()


def test_a_stored_document_obeys_the_rules_of_a_book():
    with pytest.raises(BookError, match="sentences cover 2 of 3 tokens"):
        StoredBook("a", "", TokenBytes.of(["x", "y", "z"]), (2,))


def test_parts_hold_the_tokens_of_the_book_each_once_and_in_order():
    book = StoredBook.of(BOOK)
    windows = split_book(book, size=4).books
    assert len(windows) > 1
    assert are_parts(windows, book)
    assert are_parts(map(StoredBook.of, split_book(BOOK, size=4).books), book)
    assert not are_parts(windows[::-1], book)
    assert not are_parts(windows[:-1], book)
    assert not are_parts([*windows, windows[-1]], book)


def test_tokens_with_other_ends_are_others():
    assert TokenBytes.of(["a\0b", "c"]) == TokenBytes.of(["a\0b", "c"])
    assert TokenBytes.of(["a\0b", "c"]) != TokenBytes.of(["a", "b\0c"])
    assert TokenBytes.of(["a"]) != TokenBytes.of(["b"])
    assert TokenBytes.of(["a"]) != b"a\0"


@pytest.mark.parametrize("words", [WORDS, ODD, [], ["\ud800"]])
def test_words_come_back(words):
    tokens = TokenBytes.of(words)
    assert tokens.words() == words
    assert tokens[1:4].words() == words[1:4]
    bare, offsets = tokens.without_zeros()
    encoded = [word.encode("utf-8", "surrogatepass") for word in words]
    assert [bare[a:b] for a, b in pairwise(offsets.tolist())] == encoded


@pytest.mark.parametrize("split", ["train", "test"])
def test_a_stored_book_is_cut_as_the_book_itself(split):
    book = Book.make("b", [["x", "y"] * 140] * 11, clusters=[[(0, 1), (1400, 1401), (1539, 1541)]])
    stored = split_by_rule(StoredBook.of(book), split)
    assert (tuple(w.to_book() for w in stored.books), stored.lost) == (
        split_by_rule(book, split).books, split_by_rule(book, split).lost,
    )  # fmt: skip


def test_facts_of_windows_that_are_no_parts_hash_the_windows_themselves():
    other = Book.make("a_1_split1500_S0", [["other", "words"]])
    by_hand = [document_sha256(other)]
    assert facts_of(BOOK, [other], "test").windows_sha256 != facts_of(BOOK, [BOOK], "test").windows_sha256
    assert by_hand == [document_sha256(other, tokens_sha256(["other", "words"]))]


def test_ends_of_tokens_may_come_as_any_whole_numbers():
    tokens = TokenBytes(b"ab\0c\0", np.array([3, 5], np.int64))
    assert tokens[1:2].data == b"c\0"
