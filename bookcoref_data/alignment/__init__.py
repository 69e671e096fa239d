"""The one aligner: which items of a sequence (tokens, characters) are which items of another. Pure."""

from .sequence import align, common_subsequence, join_runs

__all__ = ["align", "common_subsequence", "join_runs"]
