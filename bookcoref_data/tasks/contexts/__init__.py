"""BookWorm: contexts of characters for descriptions, their prompts and scores.

`Retriever` finds passages about a character within a budget, `prompts` asks for descriptions, `scores`
compares them with references, `splits` checks the published tables.
"""

from .passages import FEATURES, STRATEGIES, Context, Passage, Retriever, paragraphs_of, sentences_about
from .scores import entity_recall, mean_scores, novel_ngrams, oracle_sentences, rouge

__all__ = [
    "FEATURES", "STRATEGIES", "Context", "Passage", "Retriever", "entity_recall", "mean_scores",
    "novel_ngrams", "oracle_sentences", "paragraphs_of", "rouge", "sentences_about",
]  # fmt: skip
