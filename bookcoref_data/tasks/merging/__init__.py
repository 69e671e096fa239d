"""LongtoNotes: documents in parts become long documents.

`documents_of` groups the parts, `merge` applies decisions about their chains; decisions come from a table,
from equal ids, from the greedy baseline or from our linker.
"""

from .asking import Session
from .laying import documents_of
from .linker import decide_with_linker
from .parts import (
    ChainRef,
    Decisions,
    JoinedChains,
    SplitDocument,
    decide_by_id,
    decide_greedily,
    decisions_from_whole,
    keep_answer,
    merge,
)
from .scoring import (
    DecisionAgreement,
    DecisionScores,
    agreement,
    agreement_by_genre,
    choices,
    score_decisions,
    score_merged,
    vote,
)
from .statistics import GenreStatistics, scores_by_size, statistics
from .table import read_table, rows_of, write_table

__all__ = [
    "ChainRef", "DecisionAgreement", "DecisionScores", "Decisions", "GenreStatistics", "JoinedChains",
    "Session", "SplitDocument", "agreement", "agreement_by_genre", "choices", "decide_by_id",
    "decide_greedily", "decide_with_linker", "decisions_from_whole", "documents_of", "keep_answer", "merge",
    "read_table", "rows_of", "score_decisions", "score_merged", "scores_by_size", "statistics", "vote",
    "write_table",
]  # fmt: skip
