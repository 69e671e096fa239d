"""How fast and how often a host is asked: rate, back-off, Retry-After."""

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

from ..errors import UsageError


@dataclass(frozen=True, slots=True)
class Pace:
    """Manners towards a host.

    per_second     requests per second and host; 0 means no limit (for a mirror of one's own)
    attempts       tries for one address before it is given up
    first_wait     seconds before the second try; doubles with each further try, with jitter
    longest_wait   no wait is longer; a host that asks for more (Retry-After) is given up at once
    """

    per_second: float = 1.0
    attempts: int = 5
    first_wait: float = 1.0
    longest_wait: float = 120.0

    def __post_init__(self) -> None:
        if self.per_second < 0 or self.attempts < 1 or self.first_wait < 0 or self.longest_wait < 0:
            raise UsageError("a pace cannot be negative", found=repr(self), hint="use 0 for no limit")

    def back_off(self, attempt: int, draw: Callable[[], float] = random.random) -> float:
        """Seconds to wait after the failed try number `attempt` (from 1).

        Half of the doubling wait is fixed and half is drawn, so that many clients do not return at once.
        """
        full = min(self.first_wait * 2 ** (attempt - 1), self.longest_wait)
        return float(full / 2 + full / 2 * draw())


class Turns:
    """Gives every host one turn per 1/`per_second` seconds; safe between threads."""

    def __init__(
        self, per_second: float, clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:  # fmt: skip
        self._gap = 1 / per_second if per_second else 0.0
        self._clock, self._sleep = clock, sleep
        self._next: dict[str, float] = {}
        self._guard = threading.Lock()

    def wait(self, host: str) -> None:
        """Return when it is this caller's turn at `host`."""
        with self._guard:
            now = self._clock()
            turn = max(now, self._next.get(host, now))
            self._next[host] = turn + self._gap
        if turn > now:
            self._sleep(turn - now)


def retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """Seconds that a Retry-After header asks for (RFC 9110, 10.2.3): a number or an HTTP date.

    None when the header is absent or cannot be read; 0 for a date gone by.
    """
    if not value:
        return None
    value = value.strip()
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return max(0.0, (moment - (now or datetime.now(timezone.utc))).total_seconds())
