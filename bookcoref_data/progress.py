"""How long work says how far it is, without knowing who listens.

Rooms call a `Progress`; the command line hands in one that draws on a terminal, everyone else the
silent one. Nothing but the command line prints.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Protocol, TypeVar

Item = TypeVar("Item")


class Progress(Protocol):
    """A listener. Calls come from the main process only; `key` names one running thing (a book)."""

    def begin(self, key: str, total: int | None, unit: str) -> None: ...

    def advance(self, key: str, amount: int = 1) -> None: ...

    def end(self, key: str) -> None: ...

    def note(self, message: str) -> None: ...


class Silent:
    """The listener that does not listen."""

    def begin(self, *heard: Any, **more: Any) -> None:
        """Nothing happens."""

    advance = end = note = begin


def followed(
    items: Iterable[Item], progress: Progress | None, key: str, total: int | None, unit: str
) -> Iterator[Item]:
    """The items of a loop; a listener, if there is one, hears of each when its turn is over."""
    with begun(progress, key, total, unit) as advance:
        for item in items:
            yield item
            advance()


@contextmanager
def begun(progress: Progress | None, key: str, total: int | None, unit: str) -> Iterator[Callable[..., None]]:
    """Around some work: what it gives tells a listener, if there is one, how many more units are done."""
    listener = progress or Silent()
    listener.begin(key, total, unit)
    try:
        yield partial(listener.advance, key)
    finally:
        listener.end(key)
