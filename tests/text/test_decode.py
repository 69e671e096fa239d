"""Bytes of every era become the same text."""

import pytest

from bookcoref_data.errors import DataError
from bookcoref_data.text.decode import decode, encoded_once
from bookcoref_data.text.read_book import read_book

TEXT = "Ántonia’s “prairie” — naïve\nsecond line\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_marks_and_line_ends_vanish(encoding, line_end):
    assert decode(TEXT.replace("\n", line_end).encode(encoding)).text == TEXT


def test_latin1_and_windows_are_told_apart():
    assert decode("naïve café".encode("latin-1"))[:3] == ("naïve café", "latin-1", ())
    assert decode("“naïve” — café".encode("cp1252"))[:3] == ("“naïve” — café", "cp1252", ())
    assert decode(b"plain")[:3] == ("plain", "utf-8", ())


def test_utf8_with_a_stray_byte_stays_utf8_and_says_so():
    good = "Ántonia saw the café. " * 40
    data = good.encode() + b"Jos\xe9\x20left\x92s.\r\nHe \xe2\x80 went."
    found = decode(data)
    assert found.text == good + "José left’s.\nHe \ufffd went."
    assert found.encoding == "utf-8"
    assert [data[m.start : m.end] for m in found.mended] == [b"\xe9", b"\x92", b"\xe2\x80"]
    assert [m.text for m in found.mended] == ["é", "’", "\ufffd"]
    assert found.note("x.txt").startswith("x.txt: 3 broken UTF-8 sequences, read as 'é' at byte")
    assert decode(b"\xef\xbb\xbf" + data).text == found.text


def test_a_file_with_more_broken_than_sound_sequences_is_another_encoding():
    assert decode("é ô".encode() + b" \xe9 \xe8 \xe0").encoding == "latin-1"
    many = "Ántonia. ".encode() * 1000 + b"caf\xe9 " * 20
    assert decode(many).encoding == "latin-1"
    assert decode("Ántonia. ".encode() * 1000 + b"caf\xe9 " * 3).encoding == "utf-8"


def test_binary_files_are_refused():
    with pytest.raises(DataError, match="not a text file"):
        decode(b"PK\x03\x04\x00\x00 zip")
    with pytest.raises(DataError, match="byte order mark") as error:
        decode(b"\xef\xbb\xbfgo\r\nod\xff")
    assert error.value.found == "byte 0xff at 9"


def test_real_numbered_files_equal_their_utf8_edition(shared_data):
    mirror = shared_data / "gutenberg"
    plain = decode((mirror / "2/5/0/2500/2500-8.txt").read_bytes())
    marked = decode((mirror / "1/3/4/1342/1342-0.txt").read_bytes())
    assert plain.encoding == "latin-1"
    assert marked.encoding == "utf-8"
    assert marked.text == decode((mirror / "cache/epub/1342/pg1342.txt").read_bytes()).text


def test_broken_sequences_are_listed_with_their_bytes_and_the_first_three_are_shown():
    good = "Ántonia é è à ü. " * 300
    data = good.encode() + b"\xe9 \xe8 \xe9 \xe8 end"
    found = decode(data)
    start = len(good.encode())
    assert [(m.start, m.end) for m in found.mended] == [(start + 2 * i, start + 2 * i + 1) for i in range(4)]
    shown = ", ".join(f"'{c}' at byte {start + 2 * i:,}" for i, c in enumerate("éèé"))
    assert found.note("x") == f"x: 4 broken UTF-8 sequences, read as {shown} and 1 more"
    three = decode(good.encode() + b"\xe9 \xe8 \xe9")
    assert three.note() == f"the file: 3 broken UTF-8 sequences, read as {shown}"
    assert decode(b"plain").note() == ""


def test_a_flaw_in_utf8_needs_more_sound_characters_than_broken_sequences():
    assert decode("éé".encode() + b" \xe9")[:3] == ("éé é", "utf-8", ((5, 6, "é"),))
    assert decode("é".encode() + b" \xe9").encoding == "latin-1"


def test_four_flaws_are_allowed_in_four_thousand_characters():
    def with_flaws(characters):
        return ("é" * (characters - 8)).encode() + b" \xe9" * 4

    assert decode(with_flaws(4000)).encoding == "utf-8"
    assert decode(with_flaws(3999)).encoding == "latin-1"


@pytest.mark.parametrize(("byte", "encoding"), [(0x7F, "latin-1"), (0x80, "cp1252"), (0x9F, "cp1252"),
                                                (0xA0, "latin-1"), (0x81, "latin-1")])  # fmt: skip
def test_bytes_of_windows_are_those_from_0x80_to_0x9f(byte, encoding):
    assert decode(b"\xe9 " + bytes([byte])).encoding == encoding


def test_a_nul_character_is_shown_with_its_place():
    with pytest.raises(DataError) as error:
        decode(b"ab\x00c")
    assert error.value.found == "a NUL character at 2"


SPOKEN = "“You are Zoë’s,” he said—“aren’t you?” “Déjà vu,” she said. “I can’t go to the café…”\n"


@pytest.mark.parametrize("encoding", ["mac-roman", "cp850", "cp1252", "latin-1"])
def test_letters_and_quotes_of_other_machines_stand_where_they_can(encoding):
    """“You” was read as Òyou, and café as cafŽ, without a word."""
    quotes = str.maketrans("“”’—…", '""\'-.')
    text = SPOKEN.translate(quotes) if encoding in ("cp850", "latin-1") else SPOKEN
    found = decode(text.encode(encoding), "old.txt")
    assert (found.text, found.encoding) == (text, encoding)
    told = "old.txt: read as " + encoding if encoding in ("mac-roman", "cp850") else ""
    assert found.note("old.txt").startswith(told)
    assert bool(found.note("old.txt")) is bool(told)


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1"])
def test_text_that_was_encoded_twice_is_read_as_before(encoding):
    """Not one quote was found in “ that stood as â€œ, and nothing said so."""
    raw = [bytes([byte]) for byte in SPOKEN.encode()]
    twice = "".join(byte.decode(encoding, "ignore") or byte.decode("latin-1") for byte in raw)
    assert decode(twice.encode()).text == twice
    assert encoded_once(twice) == SPOKEN
    found = read_book(twice.encode(), "old.txt")
    assert found.tokens == read_book(SPOKEN.encode(), "old.txt").tokens
    assert "old.txt: was encoded twice (“ as â€œ)" in found.file.notes[0]


@pytest.mark.parametrize("text", [SPOKEN, "“IRMÔ”, “NÃO”: “CAFÉ”, “É…”", "Â“ Ã” in “it”, voilà…"])
def test_what_looks_a_little_like_it_is_left(text):
    assert encoded_once(text) == text


@pytest.mark.parametrize("text", [
    "He said“no” and don‘t, won‘t, can‘t.\n", "He don´t, won´t, can´t.\n", "Ein Stück Käse, über Bäume.\n",
    "ÉTÉ, À LA MER; DÉJÀ VU À L’ÉTÉ.\n", "co\xadoperate, to\xadday.\n", "À Paris, à Rome, où? là.\n",
])  # fmt: skip
def test_letters_that_are_rare_but_right_are_no_other_machine(text):
    assert decode(text.encode("cp1252")).text == text
