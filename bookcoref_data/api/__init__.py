"""The front door for Python: the verbs of the command line as functions, and what these return.

A module is imported when one of its names is first used.
"""

from __future__ import annotations

# For type checkers alone; importing `typing` for its own name would take longer than this module.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..errors import BookcorefError as BookcorefError
    from .annotating import *
    from .books import *
    from .building import *
    from .contexts import *
    from .corpora import *
    from .evaluating import *
    from .questions import *
    from .reading import *
    from .reviewing import *
    from .scoring import *
    from .tables import *

PLACE_OF = {
    name: place
    for place, names in {
        "..errors": "BookcorefError",
        ".annotating": "annotate annotate_many propose_cast propose_casts",
        ".books": "AnnotatedBook Books Character Mention Quote load read write",
        ".building": "cache_clear cache_path cache_size link_train manifest_show manifest_write pack "
        "pack_inspect publish rebuild rebuild_plan regenerate regenerate_check verify",
        ".contexts": "contexts_ask contexts_build contexts_collect contexts_compare contexts_identify "
        "contexts_novelty contexts_references contexts_score contexts_tables",
        ".corpora": "cite clean create harvest_liscu harvest_wikidata import_corpus list_books match sample "
        "show",
        ".evaluating": "evaluate",
        ".questions": "merge merge_agreement questions_build questions_evaluate",
        ".reading": "apply_edits diff export merge_edits report view",
        ".reviewing": "audit cast review",
        ".scoring": "align convert stats",
        ".tables": "Table",
    }.items()
    for name in names.split()
}
"""The names of the front door, each with the module that has it."""

if not TYPE_CHECKING:
    # Type checkers cannot read a computed list and would see no name; the star imports tell them all.
    __all__ = sorted(PLACE_OF)


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in PLACE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(PLACE_OF[name], __name__), name)
    return found
