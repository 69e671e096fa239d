"""From the score of a ranker to the probability that its choice is right.

A ranker's softmax is not a probability that holds: it was trained on other questions than those it meets in a
whole book, where earlier errors lie behind it. So its logit is scaled and shifted (Platt 1999), with two
numbers per kind of decision. `benchmarks/bench_dialogue.py --fit` fits them to the weights; docs/results.md
says how well they hold.
"""

from math import exp, log

SCALES: dict[str, tuple[float, float]] = {
    "third": (0.667, 0.175),
    "nominal": (0.482, -0.392),
    "third in a quote": (0.671, -0.004),
    "second in a quote": (1.021, 0.287),
    "called in a quote": (0.649, 0.521),
    "nominal in a quote": (0.527, -0.228),
    "said by name": (0.674, 1.465),
    "said by pronoun": (0.774, -0.216),
    "said by noun": (0.500, 0.147),
    "turn": (1.126, 0.078),
}
"""Kind of decision, or rule that found a speaker -> slope and shift of the logit: of quotes fitted on 17
novels of PDNC, where each novel weighs the same, of the narration on their tags and on LitBank's development
part. "Called" is "sir" or "papa" in place of "you". A quote that takes its speaker from another ("same
paragraph", "speech goes on") is as sure as that one.
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
