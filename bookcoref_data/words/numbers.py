"""Number words of English, and Roman numerals."""

from . import long_lists

UNITS = tuple(long_lists()["UNITS"].split())
"""0 to 19, by their number."""
ORDINALS = tuple(long_lists()["ORDINALS"].split())
"""1st to 19th."""
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
"""20 to 90."""
ROMAN = r"(?=[ivxlc])c{0,3}(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,4})"
"""A regular expression for Roman numerals up to 399, with IIII and VIIII as old prints have them. "Mild" and
"did" are words. To be used without regard to case."""


def roman_value(numeral: str) -> int:
    """The number of a Roman numeral in lower case."""
    values = [{"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}[letter] for letter in numeral]
    return sum(-v if v < max(values[i:]) else v for i, v in enumerate(values))
