"""Train the linker of `bookcoref_data.tasks.merging` on LitBank and OntoGUM cut into parts.

    python -m training.merging LITBANK ONTOGUM_FOLDER [--out WEIGHTS.json] [--held-out DOCUMENTS.jsonl]
        [--plain WEIGHTS.json]

Documents are cut at sentence ends into parts of several lengths; a cluster's mentions in a part are a chain
there. LitBank's chains may have one mention (as in FantasyCoref's parts), OntoGUM's have two or more (as in
OntoNotes). Of OntoGUM the documents under CC BY or in the public domain are learned from, those of the Santa
Barbara Corpus left out, whose licence is not certain.

Cross-validation over documents prints what to expect by genre, over the parts that the folder holds: every
document is decided by networks that have not seen it. Genres that are not learned from are marked "unseen".
A link that only the second key (key-gum) has is neither right nor wrong. `--held-out` writes the documents
merged in this way. The final weights are the mean of scores of several networks, as one wider network.
`--plain` keeps the weights for texts without tags of an earlier training, with zeros for features that came
after it. Those that ship were kept so: on windows of novels new ones were 0.2 to 0.6 points of CoNLL worse.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np

from bookcoref_data.books import Mention, Record
from bookcoref_data.files import write_text
from bookcoref_data.formats import read_documents, write_documents
from bookcoref_data.tasks.merging.features import FEATURES, ChainCandidates, Observed, profile_of
from bookcoref_data.tasks.merging.laying import documents_of
from bookcoref_data.tasks.merging.linker import decide_with_linker, network_of
from bookcoref_data.tasks.merging.parts import (
    ChainRef,
    SplitDocument,
    decide_by_id,
    decide_greedily,
    decisions_from_whole,
    merge,
    walk,
)
from bookcoref_data.tasks.merging.scoring import DecisionScores, score_decisions
from bookcoref_data.workflows.merge import read_parts
from training.litbank import parts

LITBANK_CUTS = ((300, 0), (467, 0))
ONTOGUM_CUTS = ((300, 0), (300, 150), (450, 0), (200, 0))
NOISY_CUTS = ((120, 0), (350, 0))
"""Length of the parts, and of the first one where it differs. LitBank is learned from also with the errors of
systems: runs of mentions in a wrong chain, links that were missed."""
BLURRED, MOST_BLURRED, MISSED = 0.25, 0.4, 0.15
WEIGHT = 4.0
"""Of a decision of OntoGUM against one of LitBank, of which there are more."""
FREE = ("CC BY", "CC BY 2.5", "CC BY 4.0", "public domain")
UNSURE = ("conversation", "Santa Barbara Corpus")
FOLDS, HIDDEN, NETWORKS, SEED = 4, 16, 3, 7
EPOCHS, BATCHES, RATE = 24, 12, 0.01
LEAST = {"plain": 0.6, "tagged": 0.5}
LEAST_IN_BOOKS = 0.1
"""Least probability of a link. Of the short documents held out here F1 is highest at the first two, CoNLL of
windows of novels at the last."""


@dataclass
class Choice:
    """One decision: features of all candidates and of the chain, and which are right (none: New)."""

    pairs: np.ndarray
    new: np.ndarray
    right: list[int]
    weight: float


def cut(record: Record, length: int, *, first: int = 0, least: int = 1) -> SplitDocument:
    """A document in parts of about `length` tokens, the first of `first`; ids are those of clusters.

    Chains with fewer than `least` mentions in a part are left out (OntoNotes: 2, FantasyCoref: 1).
    """
    sentences = record.sentences or []
    bounds, size, wanted = [0], 0, first or length
    for i, sentence in enumerate(sentences):
        size += len(sentence)
        if size >= wanted or i + 1 == len(sentences):
            bounds.append(i + 1)
            size, wanted = 0, length
    ends = [0, *accumulate(map(len, sentences))]
    parts = []
    for number, (a, b) in enumerate(pairwise(bounds)):
        inside = {
            str(i): [Mention(m[0] - ends[a], m[1] - ends[a]) for m in c if ends[a] <= m[0] and m[1] < ends[b]]
            for i, c in enumerate(record.clusters)
            if len(c) > 1
        }
        kept = {i: c for i, c in inside.items() if len(c) >= least}
        extra = {
            "document": f"{record.doc_key}/{length}/{first}",
            "part": str(number),
            "cluster_ids": [*kept],
        }
        layers = {name: layer[a:b] for name, layer in record.layers.items()}
        speakers = record.speakers[a:b] if record.speakers else None
        parts.append(Record(str(number), "", sentences[a:b], [*kept.values()], extra=extra,
                            speakers=speakers, layers=layers))  # fmt: skip
    (document,) = documents_of(parts)
    return document


def blurred(document: SplitDocument, rng: np.random.Generator) -> SplitDocument:
    """The errors of systems: of some chains a run of mentions goes to another chain of the part."""
    chains = {ref: list(mentions) for ref, mentions in document.chains.items()}
    for ref, mentions in chains.items():
        others = [o for o in document.of_part(ref.part) if o != ref]
        if others and rng.random() < BLURRED:
            size = max(1, int(len(mentions) * rng.random() * MOST_BLURRED))
            at = int(rng.integers(len(mentions)))
            taken = mentions[at : at + size]
            if len(taken) < len(mentions):
                chains[ref] = [m for m in mentions if m not in taken]
                chains[others[int(rng.integers(len(others)))]] += taken
    return replace(document, chains={ref: tuple(sorted(ms)) for ref, ms in chains.items()})


def choices_of(
    document: SplitDocument, rng: np.random.Generator, missed: float = 0.0, weight: float = 1.0
) -> list[Choice]:
    """All decisions of a document, each on chains that were joined rightly before, but for links missed.

    A share `missed` of the links is not made, so that some entities have several chains, as when the linker
    itself decided; then each of them is right.
    """
    key = decide_by_id(document)
    reading = Observed(document)
    profiles = {ref: profile_of(reading, ms, ref.part) for ref, ms in document.chains.items()}
    joined = {ref: profile_of(reading, document.chains[ref]) for ref in document.of_part(0)}
    roots_of: dict[ChainRef, list[ChainRef]] = {ref: [ref] for ref in joined}
    found = []
    for part, refs in walk(document):
        roots = list(joined)
        candidates = ChainCandidates(reading, list(joined.values()), part, [profiles[ref] for ref in refs])
        for ref in refs:
            same = roots_of[key[ref]] if key[ref] is not None else []
            among = [i for i in candidates.of(profiles[ref])
                     if roots[i] in same
                     or not candidates.contradict(profiles[ref], candidates.profiles[i])]  # fmt: skip
            right = [n for n, i in enumerate(among) if roots[i] in same]
            new = np.array(candidates.new_features(profiles[ref]), dtype=np.float32)
            pairs = candidates.pair_features(profiles[ref], among)
            found.append(Choice(pairs, new, right, weight))
        for ref in refs:
            same = roots_of.setdefault(key[ref] or ref, [])
            if same and rng.random() >= missed:
                joined[same[int(rng.integers(len(same)))]].add(profiles[ref])
            else:
                joined[ref] = profile_of(reading, document.chains[ref], part)
                same.append(ref)
    return found


def train(choices: list[Choice], seed: int) -> dict:
    """One pair of networks; returns their layers as lists."""
    import torch
    from torch import nn

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    pair, new = (
        nn.Sequential(nn.Linear(size, HIDDEN), nn.ReLU(), nn.Dropout(0.2), nn.Linear(HIDDEN, 1))
        for size in FEATURES
    )
    optimizer = torch.optim.AdamW([*pair.parameters(), *new.parameters()], lr=RATE, weight_decay=0.02)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS * BATCHES)
    order = np.random.default_rng(seed).permutation(len(choices))
    batches = [_Batch([choices[i] for i in order[n::BATCHES]]) for n in range(BATCHES)]
    for _ in range(EPOCHS):
        for batch in batches:
            optimizer.zero_grad()
            batch.loss(pair, new).backward()
            optimizer.step()
            schedule.step()
    return {"pair": _layers(pair), "new": _layers(new)}


class _Batch:
    """Some choices as tensors. Scores stand as all pairs, then New of every choice; `owner` says to which
    choice a score belongs."""

    def __init__(self, choices: list[Choice]) -> None:
        import torch

        self.pairs = torch.from_numpy(np.concatenate([c.pairs for c in choices]))
        self.news = torch.from_numpy(np.stack([c.new for c in choices]))
        lengths = torch.tensor([len(c.pairs) for c in choices])
        own = torch.arange(len(choices))
        self.owner = torch.cat([own.repeat_interleave(lengths), own])
        starts = (torch.cumsum(lengths, 0) - lengths).tolist()
        self.rights = torch.tensor([
            row for number, (start, c) in enumerate(zip(starts, choices, strict=True))
            for row in ([start + i for i in c.right] or [len(self.pairs) + number])
        ])  # fmt: skip
        self.importance = torch.tensor([c.weight for c in choices])

    def loss(self, pair, new):
        """Minus the mean logarithm of the probability of what is right."""
        import torch

        scores = torch.cat([pair(self.pairs)[:, 0], new(self.news)[:, 0]])
        count = len(self.importance)
        top = torch.full((count,), -1e9).scatter_reduce(0, self.owner, scores.detach(), "amax")
        weights = torch.exp(scores - top[self.owner])
        total = torch.zeros(count).index_add(0, self.owner, weights)
        good = torch.zeros(count).index_add(0, self.owner[self.rights], weights[self.rights])
        losses = torch.log(total) - torch.log(good + 1e-20)
        return (losses * self.importance).sum() / self.importance.sum()


def _layers(network) -> dict:
    first, last = network[0], network[3]
    return {
        "w1": first.weight.detach().double().numpy().T, "b1": first.bias.detach().double().numpy(),
        "w2": last.weight.detach().double().numpy()[0], "b2": float(last.bias.detach()),
    }  # fmt: skip


def together(networks: list[dict], kind: str = "tagged") -> dict:
    """Several networks as one: hidden layers side by side, output weights divided by their number."""
    joined: dict = {"features": list(FEATURES), "least": LEAST[kind], "least_in_books": LEAST_IN_BOOKS}
    for side in ("pair", "new"):
        layers = [n[side] for n in networks]
        joined[side] = {
            "w1": np.round(np.hstack([x["w1"] for x in layers]), 4).tolist(),
            "b1": np.round(np.concatenate([x["b1"] for x in layers]), 4).tolist(),
            "w2": np.round(np.concatenate([x["w2"] for x in layers]) / len(layers), 5).tolist(),
            "b2": round(sum(x["b2"] for x in layers) / len(layers), 5),
        }
    return joined


def kept(weights: dict) -> dict:
    """Weights of an earlier training, with zeros for the features that were added behind the others since."""
    for side, size in zip(("pair", "new"), FEATURES, strict=True):
        rows = weights[side]["w1"]
        rows += [[0.0] * len(rows[0])] * (size - len(rows))
    return weights | {"features": list(FEATURES)}


def learned_from(folder: Path) -> set[str]:
    """The documents of OntoGUM that weights which ship may learn from."""
    rows = (folder / "documents.tsv").read_text(encoding="utf-8").splitlines()[1:]
    found = set()
    for row in rows:
        cells = row.split("\t")
        if cells[6] in FREE and not any(word in row for word in UNSURE):
            found.add(cells[0])
    return found


def cross_validate(folder: Path, choices: dict[str, list[Choice]]) -> list[Record]:
    """Print held-out scores by genre; returns the documents merged by networks that have not seen them."""
    documents = {d.doc_key: d for d in read_parts(folder / "parts.conll.gz")}
    names = ("key.conll.gz", "key-gum.conll.gz")
    keys = [{r.doc_key: r for r in read_documents(folder / name)} for name in names]
    genres = {name.split("/")[0] for name in choices}
    order = sorted(documents)
    scores: dict[str, dict[str, DecisionScores]] = {}
    merged = []
    for fold in range(FOLDS):
        test = order[fold::FOLDS]
        learned = [c for k, found in choices.items() if k not in test for c in found]
        network = network_of(together([train(learned, SEED + i) for i in range(NETWORKS)]))
        for name in test:
            document = documents[name]
            key, second = (decisions_from_whole(document, whole[name]) for whole in keys)
            genre = document.genre + ("" if document.genre in genres else ", unseen")
            deciders = {"greedy": decide_greedily(document), "linker": decide_with_linker(document, network)}
            for how, made in deciders.items():
                found = score_decisions(document, key, made, second)
                for group in (genre, "all"):
                    of = scores.setdefault(group, {})
                    of[how] = of.get(how, DecisionScores()) + found
            merged.append(merge(document, deciders["linker"]).to_record())
    print(f"{'':22}  key links  greedy P    R     F1   linker P    R     F1")
    for genre, of in sorted(scores.items()):
        cells = [f"{100 * x:5.1f}" for s in of.values() for x in (s.precision, s.recall, s.f1)]
        print(f"{genre:22}  {of['linker'].key_links:9}     {' '.join(cells[:3])}     {' '.join(cells[3:])}")
    return merged


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("litbank", type=Path)
    parser.add_argument("ontogum", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--held-out", type=Path)
    parser.add_argument("--plain", type=Path)
    arguments = parser.parse_args()
    rng = np.random.default_rng(SEED)
    choices: dict[str, list[Choice]] = {}
    tested = set(parts(arguments.litbank)["test"])
    for record in read_documents(arguments.litbank / "coref" / "brat"):
        if record.doc_key in tested:
            continue
        made = [choices_of(cut(record, n, first=first), rng) for n, first in LITBANK_CUTS]
        for n, first in NOISY_CUTS:
            made.append(choices_of(blurred(cut(record, n, first=first), rng), rng, MISSED))
        choices[record.doc_key] = [c for some in made for c in some]
    free = learned_from(arguments.ontogum)
    for record in read_documents(arguments.ontogum / "key-all.conll.gz"):
        if record.doc_key in free:
            cuts = (cut(record, n, first=first, least=2) for n, first in ONTOGUM_CUTS)
            choices[record.doc_key] = [c for d in cuts for c in choices_of(d, rng, 0.0, WEIGHT)]
    print(f"{len(choices)} documents, {sum(map(len, choices.values())):,} decisions")
    if arguments.held_out:
        write_documents(cross_validate(arguments.ontogum, choices), arguments.held_out)
    if arguments.out:
        novels = [c for name, found in choices.items() if "/" not in name for c in found]
        everything = [c for found in choices.values() for c in found]
        earlier = json.loads(arguments.plain.read_text(encoding="utf-8")) if arguments.plain else {}
        weights = {"plain": kept(earlier["plain"])} if earlier else {}
        for kind, learned in (("plain", novels), ("tagged", everything)):
            weights[kind] = weights.get(kind) or together(
                [train(learned, SEED + i) for i in range(NETWORKS)], kind
            )
        write_text(arguments.out, json.dumps(weights) + "\n")
        print(f"wrote {arguments.out}")


if __name__ == "__main__":
    main()
