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
        self._path, self._scope, self.known = path, list(scope), dict[str, Any]()
        for line in path.read_bytes().split(b"\n") if path and path.is_file() else ():
            with suppress(ValueError):  # a line that a kill has cut is left out
                key, answer = json.loads(line)
                self.known[key] = answer

    def key(self, content: Any) -> str:
        """Under what the answer to something with this content is kept."""
        text = json.dumps([self._scope, content], ensure_ascii=False)
        return sha256_bytes(text.encode("utf-8", "surrogatepass"))[:32]

    def put(self, key: str, answer: Any) -> None:
        self.known[key] = answer
        if self._path:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # The line end comes first: a line that a kill has cut never swallows the next one.
            with self._path.open("ab") as file:
                file.write(b"\n" + json.dumps([key, answer]).encode("ascii"))


def ask_together(
    shelves: Iterable[tuple[Kept, Sequence[Item]]], content: Callable[[Item], Any],
    ask: Callable[[Sequence[Item], Callable[[int, Any], None]], None], heard: Callable[[], None],
) -> list[list[Any]]:  # fmt: skip
    """The answers (JSON values) to all items, of one book or of many; those that are not known are asked in
    one go, and kept with their book.

    `content` is what an answer depends on; `ask(items, told)` calls `told(number, answer)` as it gets
    through its items; `heard` is called once per answer.
    """
    todo: list[tuple[Kept, str, Item]] = []
    keyed: list[tuple[Kept, list[str]]] = []
    for kept, items in shelves:
        keys = [kept.key(content(item)) for item in items]
        new = {key: item for key, item in zip(keys, items, strict=True) if key not in kept.known}
        keyed.append((kept, keys))
        todo += [(kept, key, item) for key, item in new.items()]
        for _ in range(len(keys) - len(new)):
            heard()

    def told(number: int, answer: Any) -> None:
        kept, key, _ = todo[number]
        kept.put(key, answer)
        heard()

    if todo:
        ask([item for _, _, item in todo], told)
    return [[kept.known[key] for key in keys] for kept, keys in keyed]
