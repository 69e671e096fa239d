"""Answers of a model that are kept while a step runs: a kill loses the running batch, not the step.

A file beside the saved states, one JSON line per answer, under a key of all that the answer depends on:
model, revision, precision and the very input. It goes when the state of the finished step is written.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from ...files import sha256_bytes

Item = TypeVar("Item")


class Kept:
    """The answers in the file `path` (None: none are kept); `scope` names model and settings."""

    def __init__(self, path: Path | None, scope: Sequence[Any]) -> None:
        self._path, self._scope, self._known = path, list(scope), dict[str, Any]()
        for line in path.read_bytes().split(b"\n") if path and path.is_file() else ():
            with suppress(ValueError):  # a line that a kill has cut is left out
                key, answer = json.loads(line)
                self._known[key] = answer

    def answered(
        self, items: Sequence[Item], content: Callable[[Item], Any],
        ask: Callable[[Sequence[Item], Callable[[int, Any], None]], None], heard: Callable[[], None],
    ) -> list[Any]:  # fmt: skip
        """The answer (a JSON value) to every item; `ask` is called with those that are not known.

        `content` is what an answer depends on; `ask(items, told)` calls `told(number, answer)` as it gets
        through its items; `heard` is called once per answer.
        """
        ask_together([(self, items)], content, ask, heard)
        return [self._known[self._key(content(item))] for item in items]

    def missing(self, items: Sequence[Item], content: Callable[[Item], Any]) -> dict[str, Item]:
        """The items whose answers are not known, by key."""
        keyed = {self._key(content(item)): item for item in items}
        return {key: item for key, item in keyed.items() if key not in self._known}

    def _key(self, content: Any) -> str:
        text = json.dumps([self._scope, content], ensure_ascii=False)
        return sha256_bytes(text.encode("utf-8", "surrogatepass"))[:32]

    def put(self, key: str, answer: Any) -> None:
        self._known[key] = answer
        if self._path:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # The line end comes first: a line that a kill has cut never swallows the next one.
            with self._path.open("ab") as file:
                file.write(b"\n" + json.dumps([key, answer]).encode("ascii"))


def ask_together(
    shelves: Iterable[tuple[Kept, Sequence[Item]]], content: Callable[[Item], Any],
    ask: Callable[[Sequence[Item], Callable[[int, Any], None]], None], heard: Callable[[], None],
) -> None:  # fmt: skip
    """Ask in one go for all items that are not known, of one book or of many; every answer is kept with its
    book. The arguments are those of `Kept.answered`."""
    todo: list[tuple[Kept, str, Item]] = []
    for kept, items in shelves:
        new = kept.missing(items, content)
        todo += [(kept, key, item) for key, item in new.items()]
        for _ in range(len(items) - len(new)):
            heard()

    def told(number: int, answer: Any) -> None:
        kept, key, _ = todo[number]
        kept.put(key, answer)
        heard()

    if todo:
        ask([item for _, _, item in todo], told)
