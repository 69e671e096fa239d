"""From open silver to a trained model's score: fastcoref's own trainer, a small network of random weights.

    pip install fastcoref
    python -m benchmarks.train_silver --mirror MIRROR [--train 42796] [--test 42] [--epochs 4]

`rebuild --release open-silver` makes two data sets of one novel each, `convert --to fastcoref` writes their
windows, the trainer learns from one novel, and `evaluate --mode split` scores what the model says of the
windows of the other, before and after. A network of some hundred thousand weights that has read 30,000 words
is no good model: shown is that the way holds and that learning moves the score. Nothing is downloaded. The
prediction does not see the key: the trainer's own `evaluate` hands it to the model, to compute a loss.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import subprocess
import sys
import tempfile
import types
from pathlib import Path
from typing import Any

import spacy
import torch
from tokenizers import ByteLevelBPETokenizer
from transformers import RobertaConfig, RobertaModel, RobertaTokenizerFast

BATCH = 3000
"""Subwords in a batch: more than a window has, so a window is a batch."""


def run(*words: object) -> str:
    """What a command of ours prints."""
    command = [sys.executable, "-m", "bookcoref_data", *map(str, words)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def small_network(folder: Path, texts: list[str]) -> None:
    """A RoBERTa of two layers with random weights, and subwords learned from the texts."""
    subwords = ByteLevelBPETokenizer(add_prefix_space=True)
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    subwords.train_from_iterator(texts, vocab_size=4000, special_tokens=special, show_progress=False)
    folder.mkdir()
    subwords.save_model(str(folder))
    tokenizer = RobertaTokenizerFast(
        vocab=str(folder / "vocab.json"), merges=str(folder / "merges.txt"), add_prefix_space=True
    )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(37)
    RobertaModel(
        RobertaConfig(
            vocab_size=len(tokenizer), hidden_size=96, num_hidden_layers=2, num_attention_heads=4,
            intermediate_size=192, max_position_embeddings=600,
        )
    ).save_pretrained(folder)  # fmt: skip


def predictions(trainer: Any, file: Path, rows: list[dict[str, Any]]) -> None:
    """Write the clusters that the model finds in the test windows, in tokens of ours."""
    from fastcoref.utilities.util import create_clusters, create_mention_to_antecedent

    found = {}
    trainer.model.eval()
    for batch in trainer.test_sampler:
        with torch.no_grad():
            outputs = trainer.model(batch, return_all_outputs=True)
        starts, ends, _, logits = (tensor.cpu().numpy() for tensor in outputs)
        owner, pairs = create_mention_to_antecedent(starts, ends, logits)
        for i, key in enumerate(batch["doc_key"]):
            words, tokens = batch["subtoken_map"][i], batch["new_token_map"][i]

            def token(at: int, words: list[Any] = words, tokens: list[Any] = tokens) -> int | None:
                return None if words[at] is None else tokens[words[at]]

            clusters = [
                [[token(a), token(b)] for a, b in cluster] for cluster in create_clusters(pairs[owner == i])
            ]
            found[key] = [[m for m in c if None not in m] for c in clusters]
    with file.open("w", encoding="utf-8") as stream:
        for row in rows:
            clusters = [c for c in found[row["doc_key"]] if c]
            # Without the characters of the key: where nothing is found, they would count as clusters.
            bare = {"doc_key": row["doc_key"], "sentences": row["sentences"], "clusters": clusters}
            stream.write(json.dumps(bare) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--mirror", type=Path, required=True)
    parser.add_argument("--train", default="42796")
    parser.add_argument("--test", default="42")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--rate", type=float, default=5e-4)
    given = parser.parse_args()
    # The trainer reports to a service; here to nobody.
    silent = types.SimpleNamespace(init=lambda **_: None, log=lambda *_, **__: None, run=None)
    sys.modules["wandb"] = silent  # type: ignore[assignment]
    from fastcoref import TrainingArgs
    from fastcoref.coref_models.modeling_fcoref import FCorefModel
    from fastcoref.trainer import CorefTrainer

    FCorefModel.all_tied_weights_keys = {}  # its `__init__` is older than what transformers 5 asks for
    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        files = {}
        for part, book in (("train", given.train), ("test", given.test)):
            run(
                "rebuild", "--release", "open-silver", "--mirror", given.mirror, "-b", book, "-o", work / part
            )
            files[part] = work / f"{part}.jsonlines"
            run("convert", work / part, files[part], "--to", "fastcoref", "--config", "split")
        run("convert", work / "test", work / "key.jsonl", "--config", "split")
        rows = [json.loads(line) for line in (work / "key.jsonl").read_text(encoding="utf-8").splitlines()]
        texts = files["train"].read_text(encoding="utf-8").splitlines()
        small_network(work / "small", [" ".join(json.loads(line)["tokens"]) for line in texts])
        args = TrainingArgs(
            str(work / "small"), str(work / "out"), learning_rate=given.rate, head_learning_rate=given.rate,
            epochs=given.epochs, ffnn_size=96, max_span_length=8, top_lambda=0.25, dropout_prob=0.1,
            max_tokens_in_batch=BATCH, logging_steps=10**6, eval_steps=10**6, device="cpu",
        )  # fmt: skip
        print("| | mentions | MUC | B3 | CEAF-e | CoNLL |\n|---|---|---|---|---|---|")
        noise = io.StringIO()
        with contextlib.redirect_stderr(noise):
            trainer = CorefTrainer(
                args, str(files["train"]), test_file=str(files["test"]), nlp=spacy.blank("en")
            )
        for epochs, told in ((0, "random weights"), (given.epochs, "trained")):
            with contextlib.redirect_stderr(noise):
                if epochs:
                    trainer.train()
                predictions(trainer, work / "system.jsonl", rows)
            scores = run("evaluate", "-k", work / "key.jsonl", "-r", work / "system.jsonl", "--mode", "split",
                         "--json")  # fmt: skip
            pooled = json.loads(scores)["pooled"]
            names = ("mentions", "muc", "b_cubed", "ceaf_e", "conll")
            cells = " | ".join(f"{100 * pooled[name]['f1']:.1f}" for name in names)
            print(f"| {told} | {cells} |", flush=True)
        passes = "pass" if given.epochs == 1 else "passes"
        print(
            f"\nTrained on {len(texts)} windows of book {given.train} ({given.epochs} {passes}), "
            f"scored on {len(rows)} windows of book {given.test}."
        )


if __name__ == "__main__":
    main()
