"""Work with coreference data for whole books: rebuild, verify, annotate, read, score, publish.

    import bookcoref_data as bc

    books = bc.load("bookcoref")               # a folder that `rebuild` wrote; bc.read reads any format
    book = bc.annotate("novel.txt", cast="auto")
    book.mentions.to_pandas()
    bc.evaluate(books, "system.conll.gz").to_markdown()

The names of the front door are loaded when they are first used, so importing this package costs nothing.
"""

from __future__ import annotations

# Nothing is imported before it is needed: `typing` alone takes most of the time that `import bookcoref_data`
# costs. Type checkers know this name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from .api import *

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    from importlib import import_module

    front = import_module(f"{__name__}.api")
    if name != "__all__" and name not in front.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(front, name)
    return found


def __dir__() -> list[str]:
    from .api import PLACE_OF

    return sorted({*PLACE_OF, *(name for name in globals() if name.startswith("__"))})
