"""Days and months: capitalised words that are no names, but for April, May and June, which may be."""

from collections.abc import Sequence

from . import OWNS, long_lists, word_set

CALENDAR = word_set(long_lists()["CALENDAR"])
NAMES = word_set("april may june")
"""Months that are also first names."""
_BEFORE_DATES = word_set(long_lists()["BEFORE_DATES"])
_BEFORE_BOTH = word_set("of to from between by through that")
"""Words before months and before people: a date where `_OF_DATES` or another month stands near."""
_OF_DATES = word_set(long_lists()["OF_DATES"])


def is_date(tokens: Sequence[str], at: int) -> bool:
    """Whether token `at` is a day or a month where it stands: "in May", "May 3", "3 May", "the end of May",
    but "spoke to May", "May's room"."""
    word = tokens[at].strip("_").lower()
    if word not in NAMES:
        return word in CALENDAR
    before = [token.lower() for token in tokens[max(at - 4, 0) : at]]
    after = [token.lower() for token in tokens[at + 1 : at + 4]]
    if any(token[:1].isdigit() for token in (*before[-1:], *after[:1])):
        return True
    if not before or not OWNS.isdisjoint(after[:1]):
        return False
    dated = any(w[:1].isdigit() or w in _OF_DATES or w in CALENDAR for w in (*before, *after))
    return before[-1] in _BEFORE_DATES or (before[-1] in _BEFORE_BOTH and dated)
