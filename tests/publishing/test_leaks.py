"""Runs of a book's words are found in files, whatever stands between the words."""

import gzip
import json
import time

import pytest
import zstandard

from bookcoref_data.publishing.leaks import Uploads, letters_of
from bookcoref_data.stitch.container import write_container

TEXT = """The ferryman 's lamp had burnt low , and nobody in Saltmere would own that he was afraid of the
river , though every man of them had seen the water stand above the steps that night ."""
TOKENS = TEXT.split()
WORDS = [token for token in TOKENS if letters_of(token)]


def run_in(data: bytes, most: int = 12):
    return Uploads([("other.txt", b"nothing of it"), ("file", data)], most).longest_run("book", TOKENS)


def sentence(first: int, count: int) -> str:
    return " ".join(WORDS[first : first + count])


def test_thirteen_words_are_found_with_their_number_and_place():
    run = run_in(f"it is said that {sentence(4, 13)} and so on".encode())
    assert (run.words, run.file, run.doc_key) == (13, "file", "book")


def test_a_run_is_counted_whole_and_not_beyond_the_end_of_a_file():
    first, second = sentence(3, 9), sentence(12, 9)
    uploads = Uploads([("a", first.encode()), ("b", second.encode())], 12)
    assert uploads.longest_run("book", TOKENS).words == 9
    assert run_in(f"{first} {second}".encode()).words == 18


@pytest.mark.parametrize(("first", "run"), [(11, 1), (8, 4), (0, 5)])
def test_a_run_at_the_very_end_and_the_beginning_of_a_book_is_found(first, run):
    """Words of as many letters as are looked for at once: the last word is the last place for a run."""
    words = ["abcd", "efgh", "ijkl", "mnop", "qrst", "uvwx", "yzab", "cdef", "ghij", "klmn", "opqr", "stuv"]
    uploads = Uploads([("file", f"9 {' '.join(words[first:][:run])} 9".encode())], 3)
    assert uploads.longest_run("book", words).words == run


def test_a_book_that_stands_there_whole_is_measured_once():
    words = ["".join(chr(97 + number // 26**place % 26) for place in range(8)) for number in range(40_000)]
    began = time.process_time()
    assert Uploads([("file", " ".join(words).encode())], 12).longest_run("book", words).words == 40_000
    assert time.process_time() - began < 4


def test_punctuation_case_and_escapes_hide_nothing():
    text = sentence(5, 15).upper().replace(" ", '",\n"')
    assert run_in(text.encode()).words == 15
    assert run_in(json.dumps(sentence(5, 15).split()).encode()).words == 15


def test_compressed_text_is_found():
    text = sentence(2, 20).encode()
    assert run_in(gzip.compress(text)).words == 20
    assert run_in(zstandard.compress(text)).words == 20
    pack = write_container({"META": b"{}", "LITS": text * 3})
    run = run_in(pack)
    assert run.words == 20
    assert run.file == "file: section LITS"


def test_other_text_is_not_a_run_of_the_book():
    assert run_in(b"A card about ferries, rivers, lamps and the people of a village far away.").words < 4
    assert run_in(b"").words == 0
