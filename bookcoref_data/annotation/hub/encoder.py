"""The text encoder under reader and coreference model (DeBERTa-v3), and words as its subwords."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import FormatError, SourceError
from ...late import torch, transformers
from .weights import State, missing_weights

WORDS = "word_embeddings.weight"
BUCKET = 8
"""Rows are padded to a multiple of this: the matrix units of GPUs work on blocks, and fewer shapes occur."""


def build_encoder(folder: Path, state: State, *, layers: int | None = None) -> Any:
    """The encoder that `folder`/config.json describes, with the weights of `state`, in evaluation mode.

    The number of embeddings is taken from the weights: both models add special tokens to the vocabulary.
    `layers` cuts the encoder, as the reader's configuration may ask for.

    Raises:
        FormatError: weights that do not fit the configuration.
    """
    config = transformers.AutoConfig.from_pretrained(folder)
    embeddings = next((v for k, v in state.items() if k.endswith(WORDS)), None)
    if embeddings is None:
        raise FormatError(f"{folder}: the weights have no word embeddings", expected=f"a tensor ...{WORDS}")
    config.vocab_size = embeddings.shape[0]
    if layers is not None:
        config.num_hidden_layers = layers
    with torch.device("meta"):
        encoder = transformers.AutoModel.from_config(config)
    try:
        names = encoder.load_state_dict(state, strict=False, assign=True)
    except RuntimeError as error:
        raise _misfit(folder, str(error).strip().splitlines()[-1].strip()[:200]) from error
    # Positions are numbered, not learned: old checkpoints carry the numbers, new ones do not.
    missing, unknown = ([n for n in some if not n.endswith("position_ids")][:3] for some in names)
    if missing or unknown:
        expected = f"also {', '.join(missing)}" if missing else "no other tensors"
        raise _misfit(folder, f"unknown: {', '.join(unknown)}" if unknown else "missing", expected)
    # Buffers that no file holds (position numbers) get a place in memory.
    for name, buffer in [(name, buffer) for name, buffer in encoder.named_buffers() if buffer.is_meta]:
        owner, shape = encoder.get_submodule(name.rpartition(".")[0]), buffer.shape
        values = torch.arange(shape[-1]).expand(shape) if "position" in name else torch.zeros(shape)
        owner.register_buffer(name.rpartition(".")[2], values.to(buffer.dtype), persistent=False)
    return encoder.eval()


def _misfit(folder: Path, found: str, expected: str | None = None) -> FormatError:
    return FormatError(
        f"{folder}: the encoder's weights do not fit its configuration", expected=expected, found=found,
        hint="set `encoder` in the recipe to the encoder that the model was trained on",
    )  # fmt: skip


def load_tokenizer(folder: Path, model: str, **options: Any) -> Any:
    """The tokenizer of a model folder. Raises SourceError when its files are not there."""
    try:
        return transformers.AutoTokenizer.from_pretrained(folder, **options)
    except (OSError, ValueError, ImportError, TypeError) as error:
        raise missing_weights(model, cause=f"no tokenizer in {folder}: {error}") from error


@dataclass(frozen=True, slots=True)
class Subwords:
    """Words as subwords: `ids`, and for each of them the index of its word (`word_of`)."""

    ids: tuple[int, ...]
    word_of: tuple[int, ...]

    def first_and_last(self) -> dict[int, tuple[int, int]]:
        """Word -> its first and last subword. Words without any (line ends) are not there."""
        places: dict[int, tuple[int, int]] = {}
        for i, word in enumerate(self.word_of):
            places[word] = (places[word][0] if word in places else i, i)
        return places


def split_words(tokenizer: Any, words: Sequence[str]) -> Subwords:
    """Cut each word by itself, as both models were trained; no special tokens are added."""
    if not words:
        return Subwords((), ())
    encoded = tokenizer(list(words), add_special_tokens=False)["input_ids"]
    ids = [i for part in encoded for i in part]
    return Subwords(tuple(ids), tuple(w for w, part in enumerate(encoded) for _ in part))


def encode(
    encoder: Any, rows: Sequence[Sequence[int]], device: torch.device, types: Sequence[Sequence[int]] = ()
) -> list[torch.Tensor]:
    """Hidden states (subwords x hidden size) of each of several texts, which run together, padded."""
    width = -(-max(map(len, rows)) // BUCKET) * BUCKET

    def padded(lists: Iterable[Sequence[int]]) -> torch.Tensor:
        return torch.tensor([[*ids, *[0] * (width - len(ids))] for ids in lists], device=device)

    given = {"input_ids": padded(rows), "attention_mask": padded([1] * len(ids) for ids in rows)}
    if types and encoder.config.type_vocab_size:
        given["token_type_ids"] = padded(types)
    hidden = encoder(**given).last_hidden_state
    return [row[: len(ids)] for row, ids in zip(hidden, rows, strict=True)]


class OnEncoder:
    """A model whose network stands on an encoder: where it runs, its configuration, its subwords."""

    _encoder: Any
    _tokenizer: Any

    @property
    def device(self) -> torch.device:
        return self._encoder.device

    @property
    def config(self) -> Any:
        """The configuration of the network."""
        return self._encoder.config

    def subwords(self, words: Sequence[str]) -> int:
        """How many subwords a text has, without special tokens."""
        return len(split_words(self._tokenizer, words).ids)


def special_id(tokenizer: Any, token: str) -> int:
    """The number of a special token. Raises SourceError when the tokenizer does not know it."""
    found: int | None = tokenizer.convert_tokens_to_ids(token)
    if found is None or found == tokenizer.unk_token_id:
        raise SourceError(
            f"the tokenizer has no token {token!r}", hint="this is not the tokenizer that the model came with"
        )
    return found
