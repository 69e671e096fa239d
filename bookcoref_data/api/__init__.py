"""The front door for Python: the verbs of the command line as functions, and what these return."""

from ..errors import BookcorefError
from .annotating import annotate, annotate_many, propose_cast, propose_casts
from .books import AnnotatedBook, Books, load, read, write
from .building import rebuild, verify
from .corpora import cite, clean, create, import_corpus, list_books, sample
from .evaluating import evaluate
from .publishing import publish
from .reading import apply_edits, diff, export, report, view
from .scoring import align, convert, stats
from .tables import Table

__all__ = [
    "AnnotatedBook",
    "BookcorefError",
    "Books",
    "Table",
    "align",
    "annotate",
    "apply_edits",
    "cite",
    "clean",
    "convert",
    "create",
    "diff",
    "evaluate",
    "export",
    "import_corpus",
    "list_books",
    "load",
    "propose_cast",
    "publish",
    "read",
    "rebuild",
    "report",
    "sample",
    "stats",
    "verify",
    "view",
    "write",
]
