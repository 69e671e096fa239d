"""IdentifyMe: multiple-choice questions about who a mention refers to.

`build_questions` makes them from annotated records, `prompts` asks them, `grade` scores the answers and
`annotation_answers` answers them from an annotation.
"""

from .baselines import annotation_answers
from .build import FEATURES, NONE_OF_THE_ABOVE, Question, QuestionSet, build_questions
from .grading import Grades, Share, grade
from .settings import QuestionSettings, read_settings

__all__ = [
    "FEATURES", "NONE_OF_THE_ABOVE", "Grades", "Question", "QuestionSet", "QuestionSettings", "Share",
    "annotation_answers", "build_questions", "grade", "read_settings",
]  # fmt: skip
