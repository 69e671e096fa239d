"""A picture, or a text in another encoding, given where a text file is read: named, whatever reads it."""

from __future__ import annotations

import re
import zlib

import pytest

import bookcoref_data as bc
from bookcoref_data.characters.guide_files import read_names
from bookcoref_data.characters.table import read_table
from bookcoref_data.errors import BookcorefError, DataError, FormatError, UsageError, WrongFileError
from bookcoref_data.files import utf8
from bookcoref_data.formats.lines import read_lines
from bookcoref_data.publishing.citation import read_citation
from bookcoref_data.resources import load_toml
from bookcoref_data.shapes import read_json
from bookcoref_data.workflows.casts import read_cast
from bookcoref_data.workflows.correct import read_edits
from bookcoref_data.workflows.match import read_works_table

PICTURE = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + zlib.compress(bytes(range(256)))
READERS = {
    "records": lambda path: list(read_lines(path)),
    "edits": read_edits,
    "cast": read_cast,
    "cast table": lambda path: list(read_table(path)),
    "works": lambda path: list(read_works_table(path, ["title"])),
    "guides": lambda path: list(read_names(path)),
    "citation": read_citation,
    "recipe": load_toml,
    "facts": lambda path: read_json(path, 1 << 20),
}


@pytest.mark.parametrize("name", READERS)
def test_a_picture_under_another_name_is_no_text(tmp_path, name):
    path = tmp_path / "x.jsonl"
    path.write_bytes(PICTURE)
    with pytest.raises(UsageError) as caught:
        READERS[name](path)
    told = caught.value
    assert (told.what, told.expected) == (f"{path} is not a text file", "text in UTF-8")
    assert told.found == "byte 0x00, which no text has"
    assert told.exit_code == 2


@pytest.mark.parametrize("name", READERS)
def test_another_encoding_is_named_with_line_and_byte(tmp_path, name):
    path = tmp_path / "x.tsv"
    path.write_bytes(b"title\tcharacters\n\ncaf\xe9\n" if name in ("works", "guides") else b"\n\ncaf\xe9\n")
    with pytest.raises(BookcorefError) as caught:
        READERS[name](path)
    told = caught.value
    assert (told.what, told.expected) == (f"{path}:3: is not UTF-8 text", "UTF-8")
    assert told.found == "byte 0xe9 at byte 4 of the line"


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path):
    assert utf8(b"\xef\xbb\xbfa\xef\xbb\xbf", tmp_path) == "a\ufeff"
    assert utf8(b"\xef\xbb\xbfa", tmp_path, 2) == "\ufeffa"
    with pytest.raises(FormatError, match="UTF-16"):
        utf8("caf\xe9".encode("utf-16"), tmp_path)
    with pytest.raises(WrongFileError):
        utf8(b"caf\xe9", tmp_path, 3, PICTURE)


@pytest.mark.parametrize("kind", ["litbank", "fantasycoref", "ontonotes", "preco", "gum", "pdnc", "booknlp"])
def test_what_is_no_corpus_is_wrong_usage_not_a_missing_source(tmp_path, kind):
    path = tmp_path / "story.txt"
    for place, found in ((tmp_path, "nothing"), (path, "a file"), (tmp_path, "story.txt")):
        with pytest.raises(UsageError, match=re.escape(f"{place} has no documents of")) as caught:
            bc.import_corpus(kind, place, tmp_path / "out")
        assert (caught.value.exit_code, caught.value.found) == (2, found)
        assert caught.value.expected
        assert caught.value.hint
        path.write_bytes(PICTURE)


def test_a_file_without_a_document_is_not_converted_to_another(tmp_path):
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(DataError, match="holds no document"):
        bc.convert(tmp_path / "empty.jsonl", tmp_path / "out.conll")
    assert not (tmp_path / "out.conll").exists()
    with pytest.raises(UsageError, match="holds 0 books") as caught:
        bc.view(tmp_path / "empty.jsonl", tmp_path / "out.html")
    assert "right file" in caught.value.hint
