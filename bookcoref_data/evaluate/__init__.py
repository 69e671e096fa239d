"""Coreference and linking scores, modes, breakdowns, significance. Pure."""

from .evaluation import Evaluation, Rules, evaluate
from .metrics import score_clusters, score_documents
from .modes import MODES
from .scores import LABELS, ClusterScores, Score

__all__ = [
    "LABELS",
    "MODES",
    "ClusterScores",
    "Evaluation",
    "Rules",
    "Score",
    "evaluate",
    "score_clusters",
    "score_documents",
]
