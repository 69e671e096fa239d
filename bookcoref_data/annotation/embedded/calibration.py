"""From the score of a ranker to the probability that its choice is right.

A ranker's softmax is not a probability that holds: it was trained on other questions than those it meets in a
whole book, where earlier errors lie behind it. So its logit is scaled and shifted (Platt 1999), with two
numbers per kind of decision. `benchmarks/bench_dialogue.py --fit` fits them; docs/results.md has the
reliability before and after.
"""

from math import exp, log

SCALES: dict[str, tuple[float, float]] = {
    "third": (0.864, 0.182),
    "nominal": (1.028, 0.077),
    "third in a quote": (0.736, 0.066),
    "second in a quote": (0.932, 0.570),
    "called in a quote": (0.581, 0.817),
    "nominal in a quote": (0.741, -0.617),
    "said by name": (0.614, 1.488),
    "said by pronoun": (0.611, 0.023),
    "turn": (1.008, 0.260),
}
"""Kind of decision, or rule that found a speaker -> slope and shift of the logit: of the narration fitted on
LitBank's development part (`training/calibrate.py`; only 48 links for "nominal"), of quotes on 17 novels of
PDNC, where each novel weighs the same. "Called" is "sir" or "papa" in place of "you". A quote that takes its
speaker from another ("same paragraph", "speech goes on") is as sure as that one.
"""
_EDGE = 1e-4


def calibrated(kind: str, score: float) -> float:
    """The probability that a decision of this kind with this score is right; the score itself where the kind
    has no scale (names, speaker lines, given narrators)."""
    if kind not in SCALES:
        return score
    slope, shift = SCALES[kind]
    inside = min(max(score, _EDGE), 1 - _EDGE)
    return 1 / (1 + exp(-(slope * log(inside / (1 - inside)) + shift)))
