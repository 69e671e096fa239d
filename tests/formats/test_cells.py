"""Values of printed tables."""

from __future__ import annotations

import pytest

from bookcoref_data.formats.cells import cell_text, markdown_row


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (None, "-"), (0, "0"), (1234567, "1,234,567"), (0.125, "0.12"), (2.0, "2.00"), (True, "True"),
        ("", ""), ("a|b", "a|b"),
    ],
)  # fmt: skip
def test_a_value_is_printed_the_same_everywhere(value, printed):
    assert cell_text(value) == printed


def test_no_cell_breaks_a_markdown_table():
    assert markdown_row(["a|b", "two\nlines", None, 1000]) == "| a\\|b | two lines | - | 1,000 |"
