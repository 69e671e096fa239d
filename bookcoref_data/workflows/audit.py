"""Likely errors of a data set: what the annotation says against itself, and against our own reading."""

from __future__ import annotations

from ..annotation.cast import Entry, make_cast
from ..annotation.embedded.backend import EmbeddedBackend
from ..annotation.language import not_english
from ..annotation.plan import default_plan
from ..asking.flags import Flag, find_flags, names_of_chains
from ..books.annotation import Annotation
from .annotate import Source, annotate_book


def flags_of(a: Annotation, *, read: bool = True) -> list[Flag]:
    """The likely errors of an annotation; with `read` also those that our own reading and parse of an
    English text show."""
    if not read or not_english(a.book.tokens):
        return find_flags(a)
    entries = [Entry(name, aliases) for name, aliases in names_of_chains(a)]
    backend = EmbeddedBackend(plan := default_plan("embedded"))
    try:
        own = None
        if entries:
            source = Source(a.book, origin=a.source)
            own = annotate_book(source, make_cast(entries), plan, backend=backend).annotation()
        return find_flags(a, own, backend.parse(a.book).tag)
    finally:
        backend.close()
