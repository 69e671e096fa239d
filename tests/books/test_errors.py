"""Messages: numbers agree with their nouns, and a wrong kind of file is wrong usage."""

from __future__ import annotations

import pytest

from bookcoref_data.errors import FormatError, UsageError, WrongFileError, counted


@pytest.mark.parametrize(
    ("things", "one"),
    [
        ("Gutenberg keys", "1 Gutenberg key"),
        ("sentence boundaries", "1 sentence boundary"),
        ("addressees of quotations", "1 addressee of quotations"),
        ("mentions that reach over a sentence end", "1 mention that reaches over a sentence end"),
        ("mentions that cross another mention", "1 mention that crosses another mention"),
        ("relations that are not coreference", "1 relation that is not coreference"),
        ("quotations that do not lie on tokens", "1 quotation that does not lie on tokens"),
        ("cells that begin like a formula", "1 cell that begins like a formula"),
    ],
)
def test_one_thing_is_singular_and_several_are_as_written(things, one):
    assert counted(1, things) == one
    assert counted(1200, things) == f"1,200 {things}"
    assert counted(0, things) == f"0 {things}"


def test_a_wrong_kind_of_file_is_wrong_usage_and_no_damaged_file():
    assert WrongFileError.exit_code == UsageError.exit_code == 2
    assert FormatError.exit_code == 1
    assert issubclass(WrongFileError, FormatError)
