"""Where a person's next minutes repair most of an annotation: questions in order of what they are worth."""

from .answers import Answer, agreement, answers_to, settled
from .questions import KINDS, OFFERS_NO_PEOPLE, ReviewQuestion, likely_right, make_queue

__all__ = [
    "KINDS",
    "OFFERS_NO_PEOPLE",
    "Answer",
    "ReviewQuestion",
    "agreement",
    "answers_to",
    "likely_right",
    "make_queue",
    "settled",
]
