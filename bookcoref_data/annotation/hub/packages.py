"""Coreference models of other packages in the steps `windows` and `groups`.

`model = "fastcoref:NAME"`, `"lingmess:NAME"` or `"xcore:NAME"` is a checkpoint of such a package (ADAPTERS).
`model = "module:function"` names a function of yours. It gets the device as text and returns a callable:
sentences (lists of words) to clusters, each a list of (first word, last word), both inclusive, counted over
all sentences.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from itertools import pairwise

from ...errors import SourceError, UsageError
from ...late import torch
from .maverick import Antecedent
from .weights import find_folder, read_weights, without_prefix

Clusters = list[list[tuple[int, int]]]
Find = Callable[[Sequence[Sequence[str]]], Clusters]


class Package:
    """A coreference model that gives clusters and no scores: `find` takes sentences."""

    def __init__(self, find: Find, device: torch.device) -> None:
        self.find, self.device = find, device

    @classmethod
    def load(cls, model: str, device: torch.device, encoder: str = "") -> Package:
        """The model that a recipe or `--model` names, over its encoder. Raises UsageError."""
        place, _, name = model.partition(":")
        try:
            if place in ADAPTERS:
                return cls(ADAPTERS[place](name, str(device), encoder), device)
            return cls(getattr(importlib.import_module(place), name)(str(device)), device)
        except (ImportError, AttributeError) as error:
            expected = NEEDED.get(place, "module:function, on the path of Python")
            raise UsageError(f"the model {model!r} cannot be made", found=error, expected=expected) from error


def fastcoref(name: str, device: str, kind: str) -> Find:
    """A checkpoint of fastcoref, such as biu-nlp/f-coref."""
    model = getattr(importlib.import_module("fastcoref"), kind)(
        name, device, nlp=None, enable_progress_bar=False
    )

    def find(sentences: Sequence[Sequence[str]]) -> Clusters:
        words = [word for sentence in sentences for word in sentence]
        told = model.predict([words], is_split_into_words=True)
        if not told:  # LingMess leaves out long texts without a word
            raise SourceError(
                f"{name} cannot read a text of {len(words)} words", expected=f"{model.max_doc_len} subwords",
                hint="set a smaller windows.words in the recipe",
            )  # fmt: skip
        # It counts words, ends exclusive; mentions at its special tokens are None.
        spans = [[span for span in cluster if span] for cluster in told[0].get_clusters(as_strings=False)]
        return [[(start, end - 1) for start, end in cluster] for cluster in spans if len(cluster) > 1]

    return find


def xcore(name: str, device: str, encoder: str) -> Find:
    """A checkpoint of xCoRe, such as sapienzanlp/xcore-litbank. Its own loader unpickles the file; here the
    weights are read as plain tensors."""
    package = importlib.import_module("xcore")
    state = read_weights(find_folder(name))
    network = package.xCoRe_system(
        huggingface_model_name=str(find_folder(encoder)), freeze_encoder=False,
        span_representation="concat_start_end",
    )  # fmt: skip
    network.load_state_dict(without_prefix(state, "model.") or state)
    model = package.xCoRe.__new__(package.xCoRe)
    model.device, model.model = device, network.to(device).eval()
    model.tokenizer = model.__get_model_tokenizer__()

    def find(sentences: Sequence[Sequence[str]]) -> Clusters:
        # Empty sentences have no end, and mentions at its speaker's tokens have no word.
        given = [list(sentence) for sentence in sentences if sentence]
        found = model.predict(given, "long")["clusters_token_offsets"] if given else []
        clusters = [[span for span in cluster if None not in span] for cluster in found]
        return [cluster for cluster in clusters if len(cluster) > 1]

    return find


ADAPTERS: dict[str, Callable[[str, str, str], Find]] = {
    "fastcoref": lambda name, device, _: fastcoref(name, device, "FCoref"),
    "lingmess": lambda name, device, _: fastcoref(name, device, "LingMessCoref"),
    "xcore": xcore,
}
_FASTCOREF = "fastcoref 2.1.6, transformers below 5 and a datasets that fits them"
NEEDED = {"fastcoref": _FASTCOREF, "lingmess": _FASTCOREF, "xcore": "xcore-coref 0.1.2"}
"""Packages whose checkpoints are given by name, and what was installed where they were tried."""


def links_of(clusters: Clusters, number: dict[tuple[int, int], int]) -> list[Antecedent]:
    """Clusters as links, each mention to the one before it, in the order of the text; `number` is that of a
    mention."""
    pairs = (pair for cluster in clusters for pair in pairwise(sorted({number[a, b] for a, b in cluster})))
    return [Antecedent(later, earlier, 1.0) for earlier, later in sorted(pairs, key=lambda pair: pair[1])]


def is_package(model: str) -> bool:
    """Whether a model is named with its package: "module:function"."""
    place, mark, name = model.partition(":")
    return (
        bool(mark) and all(part.isidentifier() for part in place.split(".")) and len(place) > 1 and bool(name)
    )
