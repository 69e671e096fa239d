"""Coreference and linking scores, modes, breakdowns, errors, significance. Pure.

`evaluate` pairs and scores documents; `score_clusters` scores two clusterings. What explains an
`Evaluation`: `breakdown`, `position_curve`, `character_scores`, `analyse_errors`, `resample`.
"""

from typing import TYPE_CHECKING

from ..late import modules_of

__all__ = [
    "LABELS", "MODES", "ClusterScores", "Evaluation", "Rules", "Score", "analyse_errors", "breakdown",
    "character_scores", "evaluate", "position_curve", "resample", "score_clusters", "score_documents",
]  # fmt: skip

if TYPE_CHECKING:
    from .breakdowns import breakdown, position_curve
    from .error_analysis import analyse_errors
    from .evaluation import Evaluation, Rules, evaluate
    from .labels import character_scores
    from .metrics import score_clusters, score_documents
    from .modes import MODES
    from .scores import LABELS, ClusterScores, Score
    from .significance import resample
else:
    __getattr__ = modules_of(
        __name__, breakdowns="breakdown position_curve", error_analysis="analyse_errors",
        evaluation="Evaluation Rules evaluate", labels="character_scores",
        metrics="score_clusters score_documents", modes="MODES", scores="LABELS ClusterScores Score",
        significance="resample",
    )  # fmt: skip
