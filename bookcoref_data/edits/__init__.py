"""Corrections by people, as data: anchored operations that can be applied, compared and kept. Pure."""

from .apply import Applied, Conflict, apply
from .diff import diff
from .operations import OPERATIONS, Anchor, Edit, anchor_of, format_edits, parse_edits

__all__ = [
    "OPERATIONS", "Anchor", "Applied", "Conflict", "Edit", "anchor_of", "apply", "diff", "format_edits",
    "parse_edits",
]  # fmt: skip
