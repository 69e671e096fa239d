"""Our own linker: a small network over features of chain pairs, and one chain of a part per document chain.

For each chain of a part the network gives a probability to every earlier document chain and to New. Chains
of one part are different entities, so that the choices of a part are made together (an assignment).
`training/merging.py` trains it on LitBank cut into parts; no story of FantasyCoref was used.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from ...errors import UsageError
from ...evaluate.mention_types import TypeRules
from .features import NEW_NAMES, PAIR_NAMES, ChainCandidates, Profile, profile_of
from .parts import ChainRef, SplitDocument, walk

WEIGHTS = "linker.json"
_NEVER = 1e6


@dataclass(frozen=True, slots=True)
class Layers:
    """Weights of two layers with a rectifier between: features -> hidden -> one score."""

    w1: np.ndarray
    b1: np.ndarray
    w2: np.ndarray
    b2: float

    def scores(self, features: np.ndarray) -> np.ndarray:
        """One score per row."""
        return np.asarray(np.maximum(features @ self.w1 + self.b1, 0) @ self.w2 + self.b2)

    @classmethod
    def of(cls, value: dict[str, Any]) -> Layers:
        w1, b1, w2 = (np.array(value[name], dtype=np.float32) for name in ("w1", "b1", "w2"))
        return cls(w1, b1, w2, float(value["b2"]))


@dataclass(frozen=True, slots=True)
class Network:
    """The weights for pairs and for New. `threshold` is the least probability of a link that is made."""

    pair: Layers
    new: Layers
    threshold: float

    def log_probabilities(self, candidates: ChainCandidates, chain: Profile, part: int) -> np.ndarray:
        """Of every document chain, then of New."""
        pairs = self.pair.scores(candidates.pair_features(chain)) if candidates.profiles else np.zeros(0)
        new = self.new.scores(np.array([candidates.new_features(chain, part)], dtype=np.float32))
        scores = np.concatenate([pairs, new])
        scores = scores - scores.max()
        return np.asarray(scores - np.log(np.exp(scores).sum()))


@cache
def default_network() -> Network:
    """The weights that ship with the package."""
    path = resources.files(__package__) / WEIGHTS
    return network_of(json.loads(path.read_text(encoding="utf-8")))


def network_of(value: dict[str, Any]) -> Network:
    """A network from the JSON that training writes.

    Raises:
        UsageError: the weights are for other features.
    """
    if value["pair_features"] != list(PAIR_NAMES) or value["new_features"] != list(NEW_NAMES):
        raise UsageError(
            "the linker's weights are for other features", hint="train again: training/merging.py"
        )
    return Network(Layers.of(value["pair"]), Layers.of(value["new"]), float(value["threshold"]))


def decide_with_linker(
    document: SplitDocument, network: Network | None = None
) -> dict[ChainRef, ChainRef | None]:
    """The linker's decisions for all parts, each on what it decided before."""
    return {ref: choice for ref, (choice, _) in rank_with_linker(document, network).items()}


def rank_with_linker(
    document: SplitDocument, network: Network | None = None
) -> dict[ChainRef, tuple[ChainRef | None, float]]:
    """(choice, its probability) for every chain that needs a decision."""
    network = network or default_network()
    rules = TypeRules(document.tokens, document.sentence_ends)
    profiles = {ref: profile_of(document, rules, mentions) for ref, mentions in document.chains.items()}
    chains = {ref: profiles[ref] for ref in document.of_part(0)}
    found: dict[ChainRef, tuple[ChainRef | None, float]] = {}
    for part, refs in walk(document):
        roots = list(chains)
        candidates = ChainCandidates(list(chains.values()), document.part_starts[part - 1])
        table = [network.log_probabilities(candidates, profiles[ref], part) for ref in refs]
        for ref, choice, probability in zip(refs, *_assign(table, network.threshold), strict=True):
            found[ref] = (roots[choice] if choice is not None else None, probability)
        for ref in refs:
            target = found[ref][0]
            if target is None:
                chains[ref] = profiles[ref]
            else:
                chains[target].add(profiles[ref])
    return found


def _assign(table: list[np.ndarray], threshold: float) -> tuple[list[int | None], list[float]]:
    """The likeliest choices of a part in which no document chain is chosen twice; None means New."""
    from scipy.optimize import linear_sum_assignment

    if not table:
        return [], []
    size = len(table[0]) - 1
    logs = np.array(table)
    new = np.full((len(table), len(table)), _NEVER)
    np.fill_diagonal(new, -logs[:, -1])
    links = np.where(logs[:, :-1] >= np.log(threshold), -logs[:, :-1], _NEVER)
    rows, columns = linear_sum_assignment(np.hstack([links, new]))
    choices: list[int | None] = [None] * len(table)
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        choices[row] = column if column < size else None
    likely = [float(np.exp(logs[i, size if c is None else c])) for i, c in enumerate(choices)]
    return choices, likely
