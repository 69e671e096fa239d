"""Days and months: capitalised words that are no names, but for April, May and June, which may be."""

from . import word_set

CALENDAR = word_set(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july "
    "august september october november december"
)
NAMES = word_set("april may june")
"""Months that are also first names."""
_BEFORE_DATES = word_set(
    "in of since until till by before after during through from to between early late mid last next this "
    "that every each first second third"
)


def is_date(word: str, before: str, after: str) -> bool:
    """Whether a word (lower case) is a month where it stands: "in May", "May 3", "3 May". `before` and
    `after` are the words beside it."""
    numbered = before[:1].isdigit() or after[:1].isdigit()
    return word in CALENDAR and (word not in NAMES or numbered or before.lower() in _BEFORE_DATES)
