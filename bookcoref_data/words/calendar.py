"""Days and months: capitalised words that are no names."""

from __future__ import annotations

from . import word_set

CALENDAR = word_set(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july "
    "august september october november december"
)
