"""Train the linker of `bookcoref_data.tasks.merging` on LitBank cut into parts.

    python training/merging.py LITBANK_BRAT_FOLDER [--out WEIGHTS.json]

Every document is cut at sentence ends into parts of about 300 and 467 tokens (467 is the length of
OntoNotes' documents); a cluster's mentions in a part are a chain there. Clusters of one mention are left
out, as in FantasyCoref. Three-fold cross-validation over documents prints what to expect; the threshold is
that with most right decisions, New included, in documents held out.
The final weights are the mean of scores of several networks, written as one wider network.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bookcoref_data.books import Mention, Record, Window, split_book
from bookcoref_data.evaluate.mention_types import TypeRules
from bookcoref_data.files import write_text
from bookcoref_data.formats import read_documents
from bookcoref_data.tasks.merging.features import NEW_NAMES, PAIR_NAMES, ChainCandidates, profile_of
from bookcoref_data.tasks.merging.greedy import decide_greedily
from bookcoref_data.tasks.merging.linker import decide_with_linker, network_of
from bookcoref_data.tasks.merging.parts import SplitDocument, decide_by_id, documents_of, merge, walk
from bookcoref_data.tasks.merging.scoring import DecisionScores, score_decisions

LENGTHS = (300, 467)
TESTED = 1
"""Cross-validation tests on parts of the second length alone."""
FOLDS, HIDDEN, STEPS, NETWORKS, SEED = 3, 12, 150, 2, 7
THRESHOLDS = (0.1, 0.3, 0.5, 0.7)


@dataclass
class Choice:
    """One decision: features of all candidates and of the chain, and which is right (the last is New)."""

    pairs: np.ndarray
    new: np.ndarray
    right: int


def cut(record: Record, length: int) -> SplitDocument:
    """A document in parts of about `length` tokens; the ids of chains are those of its clusters."""
    clusters = [c for c in record.clusters if len(c) > 1]
    named = [(str(i), c) for i, c in enumerate(clusters)]
    plain = Record(record.doc_key, "", record.sentences, clusters, named)
    book = plain.to_book()
    windows, first, start = [], 0, 0
    for i, end in enumerate(book.sentence_ends):
        last = i + 1 == len(book.sentence_ends)
        if end - start >= length or last:
            windows.append(Window(first, i + 1, start, end))
            first, start = i + 1, end
    parts = []
    for number, small in enumerate(split_book(book, windows=windows).books):
        extra = {"document": f"{record.doc_key}/{length}", "part": str(number),
                 "cluster_ids": [c.name for c in small.characters]}  # fmt: skip
        spans = [[Mention(*m) for m in c.mentions] for c in small.characters]
        parts.append(Record(small.doc_key, "", small.sentences, spans, extra=extra))
    (document,) = documents_of(parts)
    return document


def choices_of(document: SplitDocument) -> list[Choice]:
    """All decisions of a document, made on chains that were joined rightly before."""
    key = decide_by_id(document)
    rules = TypeRules(document.tokens, document.sentence_ends)
    found = []
    for part, refs in walk(document):
        merged = merge(document, key, parts=part)
        roots, profiles = list(merged.chains), []
        for refs_of in merged.chains.values():
            profile = profile_of(document, rules, document.chains[refs_of[0]])
            for ref in refs_of[1:]:
                profile.add(profile_of(document, rules, document.chains[ref]))
            profiles.append(profile)
        candidates = ChainCandidates(profiles, document.part_starts[part - 1])
        for ref in refs:
            chain = profile_of(document, rules, document.chains[ref])
            target = key[ref]
            right = len(roots) if target is None else roots.index(target)
            new = np.array(candidates.new_features(chain, part), dtype=np.float32)
            found.append(Choice(candidates.pair_features(chain), new, right))
    return found


def train(choices: list[Choice], seed: int) -> dict:
    """One pair of networks; returns their layers as lists."""
    import torch
    from torch import nn

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    pair = nn.Sequential(nn.Linear(len(PAIR_NAMES), HIDDEN), nn.ReLU(), nn.Dropout(0.2), nn.Linear(HIDDEN, 1))
    new = nn.Sequential(nn.Linear(len(NEW_NAMES), HIDDEN), nn.ReLU(), nn.Dropout(0.2), nn.Linear(HIDDEN, 1))
    optimizer = torch.optim.AdamW([*pair.parameters(), *new.parameters()], lr=0.02, weight_decay=0.02)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
    pairs = torch.from_numpy(np.concatenate([c.pairs for c in choices]))
    news = torch.from_numpy(np.stack([c.new for c in choices]))
    # Scores stand as all pairs, then New of every choice; `owner` says to which choice a score belongs.
    lengths = torch.tensor([len(c.pairs) for c in choices])
    own = torch.arange(len(choices))
    owner = torch.cat([own.repeat_interleave(lengths), own])
    starts = torch.cumsum(lengths, 0) - lengths
    is_new = torch.tensor([c.right == len(c.pairs) for c in choices])
    right = torch.where(is_new, len(pairs) + own, starts + torch.tensor([c.right for c in choices]))
    for _ in range(STEPS):
        scores = torch.cat([pair(pairs)[:, 0], new(news)[:, 0]])
        top = torch.full((len(choices),), -1e9).scatter_reduce(0, owner, scores.detach(), "amax")
        total = torch.zeros(len(choices)).index_add(0, owner, torch.exp(scores - top[owner]))
        loss = (top + torch.log(total) - scores[right]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return {"pair": _layers(pair), "new": _layers(new)}


def _layers(network) -> dict:
    first, last = network[0], network[3]
    return {
        "w1": first.weight.detach().numpy().T, "b1": first.bias.detach().numpy(),
        "w2": last.weight.detach().numpy()[0], "b2": float(last.bias.detach()),
    }  # fmt: skip


def together(networks: list[dict], threshold: float) -> dict:
    """Several networks as one: hidden layers side by side, output weights divided by their number."""
    joined: dict = {
        "pair_features": list(PAIR_NAMES),
        "new_features": list(NEW_NAMES),
        "threshold": threshold,
    }
    for side in ("pair", "new"):
        layers = [n[side] for n in networks]
        joined[side] = {
            "w1": np.round(np.hstack([x["w1"] for x in layers]), 4).tolist(),
            "b1": np.round(np.concatenate([x["b1"] for x in layers]), 4).tolist(),
            "w2": np.round(np.concatenate([x["w2"] for x in layers]) / len(layers), 5).tolist(),
            "b2": round(sum(x["b2"] for x in layers) / len(layers), 5),
        }
    return joined


def cross_validate(documents: dict[str, list[SplitDocument]], choices: dict[str, list[Choice]]) -> float:
    """Print held-out scores at several thresholds; returns the threshold to use."""
    keys = sorted(documents)
    held: dict[float, DecisionScores] = {t: DecisionScores() for t in THRESHOLDS}
    greedy = DecisionScores()
    for fold in range(FOLDS):
        test = keys[fold::FOLDS]
        held_out = [documents[k][TESTED] for k in test]
        weights = [train([c for k in keys if k not in test for c in choices[k]], SEED + i) for i in range(1)]
        for threshold in THRESHOLDS:
            network = network_of(together(weights, threshold))
            for document in held_out:
                key = decide_by_id(document)
                held[threshold] += score_decisions(document, key, decide_with_linker(document, network))
        for document in held_out:
            greedy += score_decisions(document, decide_by_id(document), decide_greedily(document))
    print(f"{'':10}  precision  recall  F1     accuracy")
    for name, s in [("greedy", greedy), *((f"{t:.2f}", s) for t, s in held.items())]:
        print(f"{name:10}  {s.precision:.3f}      {s.recall:.3f}   {s.f1:.3f}  {s.accuracy:.3f}")
    return max(held, key=lambda t: held[t].accuracy)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("litbank", type=Path)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    records = read_documents(arguments.litbank)
    documents = {r.doc_key: [cut(r, length) for length in LENGTHS] for r in records}
    choices = {k: [c for d in ds for c in choices_of(d)] for k, ds in documents.items()}
    print(f"{len(documents)} documents, {sum(map(len, choices.values())):,} decisions")
    threshold = cross_validate(documents, choices)
    print(f"threshold {threshold}")
    if arguments.out:
        everything = [c for some in choices.values() for c in some]
        weights = together([train(everything, SEED + i) for i in range(NETWORKS)], threshold)
        write_text(arguments.out, json.dumps(weights) + "\n")
        print(f"wrote {arguments.out}")


if __name__ == "__main__":
    main()
