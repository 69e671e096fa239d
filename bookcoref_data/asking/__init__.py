"""Where a person's next minutes repair most of an annotation: questions in order of what they are worth."""

from .answers import Answer, agreement, answers_to, settled
from .questions import KINDS, ReviewQuestion, make_queue

__all__ = ["KINDS", "Answer", "ReviewQuestion", "agreement", "answers_to", "make_queue", "settled"]
