"""Work with coreference data for whole books: rebuild, verify, annotate, read, score, publish.

    import bookcoref_data as bc

    books = bc.load("bookcoref")               # a folder that `rebuild` wrote; bc.read reads any format
    book = bc.annotate("novel.txt", cast="auto")
    book.mentions.to_pandas()
    bc.evaluate(books, "system.conll.gz").to_markdown()

The names listed in `__all__` are loaded when they are first used, so importing this package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api import (
        AnnotatedBook,
        BookcorefError,
        Books,
        Table,
        align,
        annotate,
        convert,
        evaluate,
        load,
        propose_cast,
        read,
        rebuild,
        stats,
        verify,
        write,
    )

__version__ = "0.1.0"

__all__ = [
    "AnnotatedBook",
    "BookcorefError",
    "Books",
    "Table",
    "align",
    "annotate",
    "convert",
    "evaluate",
    "load",
    "propose_cast",
    "read",
    "rebuild",
    "stats",
    "verify",
    "write",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.api"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
