"""Does fastcoref's own reader find every mention of our files for trainers?

    pip install fastcoref
    python benchmarks/check_fastcoref.py FILE...

FILE: what `bookcoref-data convert` writes with --to fastcoref, fastcoref-text or jsonlines. Its data set code
reads each, twice: with a tokenizer of single bytes, and with one that gives white space no subword. Every
mention must come back from its subwords. Nothing is downloaded and no model is made.
"""

from __future__ import annotations

import sys
import tempfile

import spacy
from fastcoref.utilities import coref_dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast


def tokenizers() -> dict[str, PreTrainedTokenizerFast]:
    letters = {letter: i for i, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    single_bytes = Tokenizer(models.BPE(letters, []))
    single_bytes.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    words = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return {
        "bytes": PreTrainedTokenizerFast(tokenizer_object=single_bytes),
        "words": PreTrainedTokenizerFast(tokenizer_object=words, unk_token="[UNK]"),
    }


def main() -> None:
    import datasets

    datasets.disable_progress_bars()
    nlp = spacy.blank("en")
    wrong = 0
    for path in sys.argv[1:]:
        for name, tokenizer in tokenizers().items():
            # A cache of its own: the reader's is keyed by the name of the file, not by what is in it.
            with tempfile.TemporaryDirectory() as cache:
                datasets.config.HF_DATASETS_CACHE = cache
                rows = coref_dataset.create(path, tokenizer, nlp)
                for row in rows:
                    tokens = [None if i is None else row["new_token_map"][i] for i in row["subtoken_map"]]
                    back = [[[tokens[a], tokens[b]] for a, b in cluster] for cluster in row["gold_clusters"]]
                    mentions = sum(map(len, row["clusters"]))
                    wrong += back != row["clusters"]
                    verdict = "all back" if back == row["clusters"] else "NOT all back"
                    size = f"{len(row['tokens']):,} tokens, {mentions:,} mentions"
                    print(f"{path} {name:6} {row['doc_key']}: {size}, {verdict}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
