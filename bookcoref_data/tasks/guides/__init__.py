"""Texts of study guides as data: descriptions, analyses, summaries, and who is masked in a description.

`texts` holds what guides say and puts it into splits, `masking` hides a name, `identification` builds and
grades LiSCU's task. Fetching and reading pages is the work of `workflows/guide_texts`.
"""

from .identification import IDENTIFICATION, questions_of
from .texts import FEATURES, KINDS, GuideText, keep_long, mask_name, rows_of, split_by_title

__all__ = [
    "FEATURES", "IDENTIFICATION", "KINDS", "GuideText", "keep_long", "mask_name", "questions_of", "rows_of",
    "split_by_title",
]  # fmt: skip
