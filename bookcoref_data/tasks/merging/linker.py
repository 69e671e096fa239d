"""Our own linker: a small network over features of chain pairs, and one chain of a part per document chain.

For each chain of a part the network gives a probability to earlier document chains and to New. Chains of one
part are different entities, so that the choices of a part are made together (an assignment). Chains whose
names contradict each other are never joined. `training/merging.py` trains the weights.
"""

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from ...errors import UsageError
from ...late import scipy
from .features import FEATURES, ChainCandidates, Observed, Profile, contradict, profile_of, says_little
from .parts import ChainRef, SplitDocument, walk

WEIGHTS = "linker.json"
_NEVER, _TINY = 1e6, 1e-12
LEAST_WHERE_LITTLE_SAYS = 0.7
"""Of links between 0.5 and this that `says_little` names, half are right: the network is too sure of them."""
LEAST_WITHOUT_NAME = {"speech": 0.9}
"""By genre, of links of chains that have no name. In speeches the network is too sure of who "we" are."""
BOOK = 8000
"""Tokens from which a document is a book, as one in windows always is: nearly every chain of a part is of
somebody known, and a chain that is not joined costs more than one joined wrongly."""


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
    def of(cls, value: dict[str, Any]) -> "Layers":
        w1, b1, w2 = (np.array(value[name], dtype=np.float32) for name in ("w1", "b1", "w2"))
        return cls(w1, b1, w2, float(value["b2"]))


@dataclass(frozen=True, slots=True)
class Network:
    """The weights for pairs and for New, and the least probability of a link that is made, also in books."""

    pair: Layers
    new: Layers
    least: float
    least_in_books: float

    def probabilities(self, candidates: ChainCandidates, chain: Profile, among: list[int]) -> np.ndarray:
        """Of joining each of the document chains `among`.

        Errors leave an entity in several document chains, and the network shares the probability out among
        them. So the likeliest gets the probability of not being New, the others in proportion.
        """
        if not among:
            return np.zeros(0)
        new = self.new.scores(np.array([candidates.new_features(chain)], dtype=np.float32))
        scores = np.concatenate([self.pair.scores(candidates.pair_features(chain, among)), new]).astype(float)
        weights = np.exp(scores - scores.max())
        links = weights[:-1]
        return np.asarray(links / max(links.max(), _TINY) * links.sum() / weights.sum())


@cache
def default_network(kind: str = "plain") -> Network:
    """The weights of the package: "plain", learned from novels, or "tagged", also from OntoGUM."""
    path = resources.files(__package__) / WEIGHTS
    return network_of(json.loads(path.read_text(encoding="utf-8"))[kind])


def network_of(value: dict[str, Any]) -> Network:
    """A network from the JSON that training writes. Raises UsageError: the weights are for other features."""
    if value.get("features") != list(FEATURES):
        raise UsageError("the linker's weights are for other features", hint="train again")
    pair, new = (Layers.of(value[side]) for side in ("pair", "new"))
    return Network(pair, new, float(value["least"]), float(value["least_in_books"]))


def decide_with_linker(
    document: SplitDocument, network: Network | None = None, *, least: float | None = None
) -> dict[ChainRef, ChainRef | None]:
    """The linker's decisions for all parts, each on what it decided before.

    `least` is the least probability of a link that is made, in place of the network's.
    """
    is_book = document.windows or len(document.tokens) >= BOOK
    tagged = not is_book and bool({"xpos", "speakers"} & document.layers.keys())
    network = network or default_network("tagged" if tagged else "plain")
    sure = 0.0 if is_book or least is not None else LEAST_WHERE_LITTLE_SAYS
    nameless = LEAST_WITHOUT_NAME.get(document.genre, 0.0) if sure else 0.0
    if least is None:
        least = network.least_in_books if is_book else network.least
    reading = Observed(document)
    profiles = {ref: profile_of(reading, ms, ref.part) for ref, ms in document.chains.items()}
    chains = {ref: profiles[ref] for ref in document.of_part(0)}
    root_of = {ref: ref for ref in chains}
    names = {name: ref for ref, name in reversed([*document.names.items()]) if ref in chains}
    found: dict[ChainRef, ChainRef | None] = {}
    for part, refs in walk(document):
        # For sure a chain joins that of its character, or one that shares mentions
        shared = {ref: root_of[other] for ref in refs if (other := document.shared.get(ref)) is not None}
        known = {ref: names.get(document.names.get(ref, "")) or shared.get(ref) for ref in refs}
        taken = {root for root in known.values() if root is not None}
        open_refs = [ref for ref in refs if known[ref] is None]
        roots = list(chains)
        candidates = ChainCandidates(reading, list(chains.values()), part, [profiles[ref] for ref in refs])
        named = {root: name for name, root in names.items()}
        table = []
        for ref in open_refs:
            chain, name = profiles[ref], document.names.get(ref)
            among = [
                i for i in candidates.of(chain)
                if roots[i] not in taken and not (name and roots[i] in named)
                and not candidates.contradict(chain, candidates.profiles[i])
            ]  # fmt: skip
            found_among = zip(among, network.probabilities(candidates, chain, among).tolist(), strict=True)
            table.append({
                i: p for i, p in found_among if (chain.names or p >= nameless)
                and (p >= sure or not says_little(chain, candidates.profiles[i]))
            })  # fmt: skip
        for ref, choice in zip(open_refs, _assign(table, least), strict=True):
            known[ref] = None if choice is None else roots[choice]
        for ref, target in known.items():
            found[ref], root_of[ref] = target, target or ref
            if target is None:
                chains[ref] = profiles[ref]
            else:
                chains[target].add(profiles[ref])
            if ref in document.names:
                names.setdefault(document.names[ref], root_of[ref])
    if is_book:
        _reunite(document, chains, found)
    return found


def _reunite(
    document: SplitDocument, chains: dict[ChainRef, Profile], found: dict[ChainRef, ChainRef | None]
) -> None:
    """Document chains with the same commonest name become one, the smaller ones with the largest."""
    homes: dict[str, ChainRef] = {}
    for root in sorted(chains, key=lambda root: -chains[root].size):
        if not (name := chains[root].main_name):
            continue
        first, second = sorted((root, homes.setdefault(name, root)))
        apart = len({document.names[ref] for ref in (first, second) if ref in document.names}) > 1
        if first.part < second.part and not apart and not contradict(chains[first], chains[second]):
            found[second] = first


def _assign(table: list[dict[int, float]], least: float) -> list[int | None]:
    """The likeliest links of a part in which no document chain is chosen twice; None means New.

    `table` holds for each chain the places that it may join, with their probabilities.
    """
    least = max(least, _TINY)  # nothing is less likely than never
    allowed = [{i: p for i, p in row.items() if p >= least} for row in table]
    columns = sorted({i for row in allowed for i in row})
    place = {column: n for n, column in enumerate(columns)}
    rows = [r for r, row in enumerate(allowed) if row]
    costs = np.full((len(rows), len(columns) + len(rows)), _NEVER)
    for n, r in enumerate(rows):
        costs[n, len(columns) + n] = -np.log(least)
        for i, p in allowed[r].items():
            costs[n, place[i]] = -np.log(p)
    choices: list[int | None] = [None] * len(table)
    for n, column in zip(*scipy.optimize.linear_sum_assignment(costs), strict=True):
        choices[rows[n]] = columns[column] if column < len(columns) else None
    return choices
