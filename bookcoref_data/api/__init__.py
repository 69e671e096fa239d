"""The front door for Python: the verbs of the command line as functions, and what these return."""

from ..errors import BookcorefError
from .annotating import annotate, annotate_many, propose_cast, propose_casts
from .books import AnnotatedBook, Books, load, read, write
from .building import rebuild, rebuild_plan, verify
from .contexts import (
    contexts_ask,
    contexts_build,
    contexts_collect,
    contexts_compare,
    contexts_identify,
    contexts_references,
    contexts_score,
    contexts_tables,
)
from .corpora import cite, clean, create, import_corpus, list_books, sample, show
from .evaluating import evaluate
from .harvesting import harvest_liscu, harvest_wikidata, match
from .housekeeping import (
    cache_clear,
    cache_path,
    cache_size,
    manifest_show,
    manifest_write,
    pack,
    pack_inspect,
)
from .merging import merge, merge_agreement
from .publishing import publish
from .questions import questions_build, questions_evaluate
from .reading import apply_edits, diff, export, report, view
from .regenerating import regenerate
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
