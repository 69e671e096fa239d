"""The front door for Python: the verbs of the command line as functions, and what these return."""

from ..errors import BookcorefError
from .annotating import annotate, propose_cast
from .books import AnnotatedBook, Books, load, read, write
from .building import rebuild, verify
from .publishing import publish
from .scoring import align, convert, evaluate, stats
from .tables import Table

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
    "publish",
    "read",
    "rebuild",
    "stats",
    "verify",
    "write",
]
