"""The front door for Python: the verbs of the command line as functions, and what these return."""

from ..errors import BookcorefError
from .annotating import annotate, annotate_many, propose_cast, propose_casts
from .books import AnnotatedBook, Books, load, read, write
from .building import rebuild, rebuild_plan, verify
from .corpora import cite, clean, create, import_corpus, list_books, sample, show
from .evaluating import evaluate
from .housekeeping import (
    cache_clear,
    cache_path,
    cache_size,
    manifest_show,
    manifest_write,
    pack,
    pack_inspect,
)
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
    "annotate_many",
    "apply_edits",
    "cache_clear",
    "cache_path",
    "cache_size",
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
    "manifest_show",
    "manifest_write",
    "pack",
    "pack_inspect",
    "propose_cast",
    "propose_casts",
    "publish",
    "read",
    "rebuild",
    "rebuild_plan",
    "report",
    "sample",
    "show",
    "stats",
    "verify",
    "view",
    "write",
]
