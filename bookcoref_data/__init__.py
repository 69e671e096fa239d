"""Work with coreference data for whole books: rebuild, verify, annotate, read, score, publish.

    import bookcoref_data as bc

    books = bc.load("bookcoref")               # a folder that `rebuild` wrote; bc.read reads any format
    book = bc.annotate("novel.txt", cast="auto")
    book.mentions.to_pandas()
    bc.evaluate(books, "system.conll.gz").to_markdown()

The names listed in `__all__` are loaded when they are first used, so importing this package costs nothing.
"""

from __future__ import annotations

import sys

# Nothing else is imported before it is needed: `typing` and `functools` alone take most of the time that
# `import bookcoref_data` costs. Type checkers know this name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

    from .api import *

__version__ = "0.1.0"

__all__ = [
    "AnnotatedBook",
    "BookcorefError",
    "Books",
    "Table",
    "align",
    "annotate",
    "annotate_many",
    "apply_edits",
    "cache_clear",
    "cache_path",
    "cache_size",
    "cite",
    "clean",
    "contexts_ask",
    "contexts_build",
    "contexts_collect",
    "contexts_compare",
    "contexts_identify",
    "contexts_references",
    "contexts_score",
    "contexts_tables",
    "convert",
    "create",
    "diff",
    "evaluate",
    "export",
    "harvest_liscu",
    "harvest_wikidata",
    "import_corpus",
    "list_books",
    "load",
    "manifest_show",
    "manifest_write",
    "match",
    "merge",
    "merge_agreement",
    "pack",
    "pack_inspect",
    "propose_cast",
    "propose_casts",
    "publish",
    "questions_build",
    "questions_evaluate",
    "read",
    "rebuild",
    "rebuild_plan",
    "regenerate",
    "report",
    "sample",
    "show",
    "stats",
    "verify",
    "view",
    "write",
]


_ROOMS = ("align", "annotate", "evaluate", "export", "publish", "report", "sample", "view")
"""Verbs that share their name with a sub-package."""


class _Verb:
    """A function of the front door that shares its name with a sub-package, and finds that one's modules.

    So `bc.evaluate(...)` scores, and `import bookcoref_data.evaluate as room` still reaches the room.
    """

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        from functools import update_wrapper

        update_wrapper(self, function)
        self._name = name

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self.__wrapped__(*args, **options)

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        return getattr(_module(self._name), attribute)


def _module(name: str) -> ModuleType:
    from importlib import import_module

    return import_module(f"{__name__}.{name}")


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(_module("api"), name)
    return _Verb(found, name) if name in _ROOMS else found


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


class _FrontDoor(type(sys)):  # type: ignore[misc]
    """This module: its functions keep their names although rooms are called alike (`annotate`, `evaluate`).

    Importing a sub-package makes it an attribute of the package, so `bc.evaluate` would be a function or a
    module depending on what was imported before. Here it is always the function;
    `from bookcoref_data.evaluate import ...` goes on working.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in __all__ and isinstance(value, type(sys))):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _FrontDoor
