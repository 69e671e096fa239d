"""From spans of tokens to spans of subwords and back, for any fast tokenizer of Hugging Face.

White space is the trap: BookCoref has tokens that are a line end (1,281 in *Pride and Prejudice*), and most
tokenizers give these no subword. A span that begins or ends on such a token is cut to the subwords there are;
all others come back exactly as they went in.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ...books import Mention
from ...errors import UsageError, needing


class FastTokenizer(Protocol):
    """What is used of a `PreTrainedTokenizerFast`."""

    is_fast: bool

    def __call__(self, text: list[str], **options: Any) -> Any: ...


@dataclass(frozen=True)
class SubwordMap:
    """The subwords of a document: `ids`, and the token of each (`tokens[i]`, None for special ones).

    `first[t]` and `last[t]` are the subwords of token t; a token without any has first -1.
    """

    ids: list[int]
    tokens: list[int | None]
    first: list[int]
    last: list[int]

    def to_subwords(self, mention: Mention) -> Mention | None:
        """The subwords of a span of tokens, both ends inclusive; None if it has none."""
        start, end = mention
        while start <= end and self.first[start] < 0:
            start += 1
        while start <= end and self.first[end] < 0:
            end -= 1
        return None if start > end else Mention(self.first[start], self.last[end])

    def to_tokens(self, span: Mention) -> Mention | None:
        """The tokens of a span of subwords, both ends inclusive; None if it has special subwords alone.

        A span that ends inside a token takes the whole token.
        """
        inside = [token for token in self.tokens[span.start : span.end + 1] if token is not None]
        return Mention(inside[0], inside[-1]) if inside else None


def map_subwords(tokens: Sequence[str], tokenizer: FastTokenizer, *, special: bool = False) -> SubwordMap:
    """Tokenize the tokens of a document, each on its own, without cutting the document short.

    `special` adds the tokenizer's special subwords at both ends, as its model wants them.

    Raises:
        UsageError: the tokenizer is not a fast one (it cannot say which subword belongs to which token).
    """
    if not getattr(tokenizer, "is_fast", False):
        raise UsageError(
            f"{type(tokenizer).__name__} cannot say which subwords belong to which token",
            expected="a fast tokenizer",
            hint="load it with AutoTokenizer.from_pretrained(name, use_fast=True)",
        )
    encoded = tokenizer(
        list(tokens), is_split_into_words=True, add_special_tokens=special, truncation=False, verbose=False
    )
    owners: list[int | None] = encoded.word_ids()
    first, last = [-1] * len(tokens), [-1] * len(tokens)
    for i, token in enumerate(owners):
        if token is not None:
            first[token] = i if first[token] < 0 else first[token]
            last[token] = i
    return SubwordMap(list(encoded["input_ids"]), owners, first, last)


def load_tokenizer(name: str) -> FastTokenizer:
    """The fast tokenizer of a model, by its name on the Hub or its folder. No code of the model is run.

    Raises:
        MissingExtraError: transformers is not installed. UsageError: it cannot be loaded.
    """
    with needing("gpu", "transformers", "writing subwords"):
        from transformers import AutoTokenizer
    try:
        # Byte-level tokenizers (RoBERTa, Longformer) take words one by one only with this.
        tokenizer: FastTokenizer = AutoTokenizer.from_pretrained(
            name, use_fast=True, add_prefix_space=True, trust_remote_code=False
        )
    except (OSError, ValueError) as error:
        raise UsageError(
            f"the tokenizer {name!r} cannot be loaded",
            found=str(error).splitlines()[0][:200],
            hint="give the name of a model on the Hub (for Longdoc: allenai/longformer-large-4096), or a "
            "folder with its tokenizer.json",
        ) from error
    return tokenizer
