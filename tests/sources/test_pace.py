"""Rate, back-off and Retry-After."""

from datetime import datetime, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookcoref_data.errors import UsageError
from bookcoref_data.sources.http import Pace, Turns, retry_after

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7),
        (" 120 ", 120),
        ("Fri, 02 Jan 2026 03:05:05 GMT", 60),
        ("Fri, 02 Jan 2026 03:00:00 GMT", 0),
        ("soon", None),
        ("-3", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_reads_seconds_and_dates(value, seconds):
    assert retry_after(value, NOW) == seconds


@given(st.integers(1, 30), st.floats(0, 1))
def test_back_off_grows_and_stays_under_the_longest_wait(attempt, draw):
    pace = Pace(first_wait=0.5, longest_wait=20)
    wait = pace.back_off(attempt, lambda: draw)
    full = min(0.5 * 2 ** (attempt - 1), 20)
    assert full / 2 <= wait <= full


def test_each_host_gets_its_turns_at_the_rate():
    waits, now = [], [100.0]

    def sleep(seconds):
        waits.append(seconds)
        now[0] += seconds

    turns = Turns(2.0, clock=lambda: now[0], sleep=sleep)
    for host in ("a", "a", "b", "a"):
        turns.wait(host)
    assert waits == [0.5, 0.5]
    now[0] += 10
    turns.wait("a")
    assert len(waits) == 2


@pytest.mark.parametrize(
    "wrong", [{"per_second": -0.1}, {"attempts": 0}, {"first_wait": -0.1}, {"longest_wait": -0.1}]
)
def test_a_negative_pace_is_refused(wrong):
    with pytest.raises(UsageError):
        Pace(**wrong)


def test_a_pace_without_limits_and_waits_is_allowed():
    assert Pace(per_second=0, attempts=1, first_wait=0, longest_wait=0).attempts == 1
