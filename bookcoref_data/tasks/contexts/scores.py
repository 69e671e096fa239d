"""Scores of descriptions against references: ROUGE, entity recall, novel n-grams; models as an extra."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from ...errors import UsageError, needing
from ...shapes import together
from ...spacy_model import load_spacy_model
from .passages import in_parts

_WORD = re.compile(r"\w+(?:[-'’]\w+)*")
ROUGE = ("rouge1", "rouge2", "rougeL")


def rouge(output: str, reference: str) -> dict[str, float]:
    """ROUGE-1, -2 and -L F1 with stemming, 0 to 1 (rouge-score)."""
    found = _rouge_scorer().score(reference, output)
    return {name: float(found[name].fmeasure) for name in ROUGE}


@cache
def _rouge_scorer() -> Any:
    with needing("tasks", "rouge-score", "ROUGE"):
        from rouge_score.rouge_scorer import RougeScorer
    return RougeScorer(list(ROUGE), use_stemmer=True)


def entity_recall(output: str, entities: Iterable[str]) -> float | None:
    """Share of the distinct entities of a reference that occur in the output, ignoring case.

    Matching is not determined in the paper; here whole words in lower case. None without any entity.
    """
    wanted = {" ".join(words_in(e)) for e in entities} - {""}
    text = f" {' '.join(words_in(output))} "
    return _mean(f" {entity} " in text for entity in wanted)


def novel_ngrams(output: str, source: str, n: int) -> float | None:
    """Share of the n-grams of the output that its source lacks; None for an output shorter than n words."""
    known = set(_ngrams(words_in(source), n))
    return _mean(gram not in known for gram in _ngrams(words_in(output), n))


def _mean(values: Iterable[float]) -> float | None:
    """The mean of some values; None without any."""
    listed = list(values)
    return sum(listed) / len(listed) if listed else None


def token_f1(answer: str, gold: str) -> tuple[float, float]:
    """(exact match, F1) of two short answers as SQuAD scores them: no case, punctuation, articles."""
    plain = (re.sub(r"[^\w\s]", "", text.lower()).split() for text in (answer, gold))
    mine, right = ([word for word in words if word not in ("a", "an", "the")] for words in plain)
    shared = sum((Counter(mine) & Counter(right)).values())
    exact = float(mine == right)
    if not mine or not right:
        return exact, exact
    return exact, 2 * shared / (len(mine) + len(right))


def words_in(text: str) -> list[str]:
    """The words of a text in lower case."""
    return [w.lower() for w in _WORD.findall(text)]


def _ngrams(words: Sequence[str], n: int) -> list[tuple[str, ...]]:
    return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]


def named_entities(text: str) -> list[str]:
    """Named entities that are no numbers or dates, by the spaCy model of the extra `annotate`."""
    skipped = {"CARDINAL", "ORDINAL", "DATE", "TIME", "PERCENT", "MONEY", "QUANTITY"}
    return [e.text for e in _entity_model()(text).ents if e.label_ not in skipped]


@cache
def _entity_model() -> Any:
    return load_spacy_model("finding named entities", without=["lemmatizer", "parser"])[0]


def bert_scores(
    outputs: Sequence[str], references: Sequence[str], model: str, layers: int | None = None
) -> list[float]:
    """BERTScore F1 of pairs, not rescaled (bert-score). The paper's model: microsoft/deberta-xlarge-mnli.

    `layers` is the layer whose vectors are compared; bert-score knows the best one of well-known models.

    Raises MissingExtraError: bert-score is not installed. UsageError: the model cannot be loaded, or
    bert-score does not know its best layer.
    """
    with needing("task-models", "bert-score", "BERTScore"):
        from bert_score import score
    try:
        *_, f1 = score(list(outputs), list(references), model_type=model, num_layers=layers)
    except KeyError as error:
        raise UsageError(
            f"bert-score does not know which layer of {model} to compare", expected="--bert-layers N"
        ) from error
    except (OSError, ValueError) as error:
        raise UsageError(f"the model {model} cannot be loaded", found=str(error)[:200]) from error
    return [float(v) for v in f1]


def entailment_share(
    sentences: Sequence[str], premises: Sequence[str], judge: Callable[[str, str], float], least: float = 0.5
) -> float | None:
    """Share of sentences that some premise entails: the largest probability is at least `least`.

    `judge(premise, sentence)` gives the probability of entailment; `nli_judge` makes one.
    """
    return _mean(max((judge(p, s) for p in premises), default=0.0) >= least for s in sentences)


LONGEST_PAIR = 512
"""Tokens of premise and hypothesis together that a classifier reads at once (BookWorm, section 5)."""


def nli_judge(model: str) -> Callable[[str, str], float]:
    """The probability of entailment by a sequence classifier of transformers.

    A premise that does not fit beside the sentence in 512 tokens is read in parts, as published; the best
    part counts.
    """
    with needing("gpu", "transformers", f"the model {model}"):
        from transformers import pipeline
    try:
        pipe = pipeline("text-classification", model=model)
    except (OSError, ValueError) as error:
        raise UsageError(f"the model {model} cannot be loaded", found=str(error)[:200]) from error

    def judge(premise: str, sentence: str) -> float:
        room = LONGEST_PAIR - pipe.tokenizer.num_special_tokens_to_add(pair=True)
        room -= len(pipe.tokenizer(sentence, add_special_tokens=False).input_ids)
        parts = parts_within(premise.split(), max(room, 1), pipe.tokenizer)
        pairs = [{"text": part, "text_pair": sentence} for part in parts]
        found = pipe(pairs, top_k=None, truncation=True, max_length=LONGEST_PAIR)
        return max((float(r["score"]) for one in found for r in one if "entail" in str(r["label"]).lower()
                    and "not" not in str(r["label"]).lower()), default=0.0)  # fmt: skip

    return judge


def parts_within(words: Sequence[str], most: int, tokenizer: Any) -> list[str]:
    """The words in as few consecutive parts as hold at most `most` tokens each; a longer word is a part."""
    counts = [len(ids) for ids in tokenizer(list(words), add_special_tokens=False).input_ids] if words else []
    return [" ".join(part) for part in in_parts(words, counts, most)]


def qa_scores(
    pairs: Sequence[tuple[str, str]], reference: str, output: str, reader: Callable[[str, str], str]
) -> dict[str, float] | None:
    """Exact match and F1 of questions answered from the output instead of the reference.

    `pairs` are (question, answer) made from the reference; those that `reader(question, reference)` does
    not answer itself are left out (round trip). None when none is left.
    """
    kept = [(q, a) for q, a in pairs if token_f1(reader(q, reference), a)[0]]
    if not kept:
        return None
    found = [token_f1(reader(q, output), a) for q, a in kept]
    exact, f1 = (sum(values) / len(found) for values in zip(*found, strict=True))
    return {"exact": exact, "f1": f1, "questions": float(len(kept))}


def oracle_sentences(sentences: Sequence[str], reference: str, most: int) -> list[str]:
    """The `most` sentences with the highest mean ROUGE against the reference, in their own order."""
    values = [sum(rouge(s, reference).values()) for s in sentences]
    best = sorted(range(len(sentences)), key=lambda i: (-values[i], i))[:most]
    return [sentences[i] for i in sorted(best)]


def mean_scores(rows: Sequence[Mapping[str, float | None]]) -> dict[str, float]:
    """The mean of every score over the rows that have it."""
    given = together(item for row in rows for item in row.items())
    means = {name: _mean(v for v in values if v is not None) for name, values in given.items()}
    return {name: mean for name, mean in means.items() if mean is not None}
