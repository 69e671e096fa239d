"""Corrections by people, as data: anchored operations that can be applied, compared and kept. Pure."""

from .apply import Applied, Conflict, aliases_of, apply
from .diff import Effect, diff, effects
from .merging import MergedEdits, merge_edits
from .operations import UNSURE, Anchor, Edit, anchor_of, checked_edits, format_edits, parse_edits

__all__ = [
    "UNSURE", "Anchor", "Applied", "Conflict", "Edit", "Effect", "MergedEdits", "aliases_of", "anchor_of",
    "apply", "checked_edits", "diff", "effects", "format_edits", "merge_edits", "parse_edits",
]  # fmt: skip
