"""A chat model that answers Yes or No: read off the logits of the next token, nothing is generated.

Questions come in batches. What all questions of a batch begin with (the chat header, the instruction and
whatever else is common) is run once and its keys and values are shared; the cache is kept as long as the
next batch begins the same way.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from inspect import signature
from pathlib import Path
from typing import Any

from ...chat_server import ChatServer
from ...errors import FormatError, UsageError
from ...late import torch, transformers
from .batching import Batches
from .device import attention_of, dtype_of
from .encoder import load_tokenizer
from .weights import find_folder, missing_weights

ANSWERS = ("Yes", "No")
PARALLEL = 16
SECONDS = 120.0
ONE_TOKEN = {"temperature": 0, "max_tokens": 1, "logprobs": True, "top_logprobs": 20}


class Judge:
    """A loaded chat model. `ask` gives the probability of Yes for each question."""

    def __init__(self, model: Any, tokenizer: Any, *, share_prefix: bool = True) -> None:
        self._model, self._tokenizer, self._share = model, tokenizer, share_prefix
        self._answers: list[int] = []
        for answer in ANSWERS:
            ids = tokenizer(answer, add_special_tokens=False)["input_ids"]
            if len(ids) != 1:
                what = f"the model's tokenizer cuts {answer!r} into {len(ids)} tokens"
                raise UsageError(what, expected="one token, so that its logit is the answer")
            self._answers += ids
        self._prefix: tuple[int, ...] = ()
        self._cache = None
        # transformers 5.24 renames the argument, and drops the old name in 5.40.
        renamed = "cache" in signature(model.model.forward).parameters
        self._shelf = "cache" if renamed else "past_key_values"
        self.batches = Batches(1)

    @classmethod
    def load(cls, model: str, revision: str = "", *, device: torch.device, dtype: str = "bfloat16") -> Judge:
        """Load a causal language model from the hub's layout, safetensors only.

        Raises:
            SourceError: not on this machine and not to be fetched. FormatError: files that do not fit.
        """
        folder = find_folder(model, revision)
        tokenizer = load_tokenizer(folder, model)
        if not tokenizer.chat_template:
            raise UsageError(
                f"{model} has no chat template", hint="choose an instruction-tuned model as filter.model"
            )
        if not any(folder.glob("*.safetensors")):
            raise missing_weights(model, revision, f"no *.safetensors in {folder}")
        network = _network(folder, attention_of(device, dtype), dtype)
        return cls(network.to(device).eval(), tokenizer)

    @property
    def device(self) -> torch.device:
        return self._model.device

    @property
    def config(self) -> Any:
        """The configuration of the network."""
        return self._model.config

    def tokens(self, question: str) -> tuple[int, ...]:
        """A question as the model reads it: in its chat format, ready for the answer."""
        text = self._tokenizer.apply_chat_template(
            [{"role": "user", "content": question}], tokenize=False, add_generation_prompt=True
        )
        return tuple(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    def ask_all(self, questions: Sequence[str], told: Callable[[int, float], None]) -> None:
        """Ask many questions in batches of like length; `told(number, answer)` hears each answer."""
        self.batches.run([self.tokens(q) for q in questions], len, self.ask_tokens, told)

    def ask(self, questions: Sequence[str]) -> list[float]:
        """P(Yes) / (P(Yes) + P(No)) for each question of one batch."""
        return self.ask_tokens([self.tokens(q) for q in questions])

    def ask_tokens(self, rows: Sequence[Sequence[int]]) -> list[float]:
        """The same for questions that are tokens already."""
        if not rows:
            return []
        with torch.inference_mode():
            shared = common_prefix(rows) if self._share and len(rows) > 1 else 0
            cache = self._cached(tuple(rows[0][:shared]), len(rows)) if shared else None
            rest = [row[shared:] for row in rows]
            width = max(map(len, rest))
            # Padding stands on the right, where no real token can see it: no mask is needed.
            padded = [[*row, *[0] * (width - len(row))] for row in rest]
            ids = torch.tensor(padded, device=self.device)
            given = {self._shelf: cache, "use_cache": cache is not None}
            hidden = self._model.model(input_ids=ids, **given).last_hidden_state
            lasts = torch.tensor([len(row) - 1 for row in rest], device=self.device)
            final = hidden[torch.arange(len(rest), device=self.device), lasts]
            rows_of_answers = self._model.get_output_embeddings().weight[self._answers]
            yes, no = (final @ rows_of_answers.T).float().unbind(-1)
            answers: list[float] = torch.sigmoid(yes - no).tolist()
            return answers

    def _cached(self, prefix: tuple[int, ...], copies: int) -> Any:
        """Keys and values of `prefix`, for `copies` questions; run only when the prefix has changed."""
        if prefix != self._prefix:
            ids = torch.tensor([prefix], device=self.device)
            self._cache = self._model.model(input_ids=ids, use_cache=True)[self._shelf]
            self._prefix = prefix
        cache: Any = copy.deepcopy(self._cache)
        cache.batch_repeat_interleave(copies)
        return cache


def _network(folder: Path, attention: str, dtype: str) -> Any:
    """The network with the attention asked for, or with a slower one where it cannot have that."""
    wrong: Exception | None = None
    for name in dict.fromkeys((attention, "sdpa", "eager")):
        try:
            return transformers.AutoModelForCausalLM.from_pretrained(
                folder, dtype=dtype_of(dtype), use_safetensors=True, attn_implementation=name
            )
        except (ImportError, OSError, ValueError, RuntimeError) as error:
            wrong = wrong or error
    what = f"{folder} cannot be loaded as a language model"
    hint = "remove the folder and download the model again"
    raise FormatError(what, found=str(wrong).strip().splitlines()[0][:200], hint=hint) from wrong


def common_prefix(rows: Sequence[Sequence[int]]) -> int:
    """How many first tokens all rows share, at least one token being left to each."""
    first, last = min(map(list, rows)), max(map(list, rows))
    limit = min(map(len, rows)) - 1
    same = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), limit)
    return min(same, limit)


class ServedJudge:
    """A chat model at a server with the OpenAI interface (vLLM, SGLang, ...).

    `url` is the address up to and including /v1; the key is that of OPENAI_API_KEY.

    The server is asked for one token and the twenty likeliest in its place: the answer is the share of Yes
    among Yes and No. A server that gives no probabilities is believed: 1.0 for Yes, 0.0 for No.
    """

    def __init__(self, url: str, model: str) -> None:
        self.server, self.device = ChatServer(url, model, timeout=SECONDS), torch.device("cpu")

    def ask_all(self, questions: Sequence[str], told: Callable[[int, float], None]) -> None:
        """Ask many questions, several at a time; `told(number, answer)` hears each answer as it comes.

        Raises: SourceError: the server cannot be reached, refuses, or answers in another form.
        """
        with ThreadPoolExecutor(PARALLEL) as pool:
            asked = {pool.submit(self._ask, question): i for i, question in enumerate(questions)}
            try:
                for future in as_completed(asked):
                    told(asked[future], future.result())
            finally:
                pool.shutdown(wait=False, cancel_futures=True)

    def _ask(self, question: str) -> float:
        """The probability of Yes by the server's answer."""
        answer = self.server.post([{"role": "user", "content": question}], ONE_TOKEN)
        expected = "Yes or No as the first token, with its logprobs"
        try:
            choice = answer.json()["choices"][0]
            content = (choice.get("logprobs") or {}).get("content") or []
            likely: list[dict[str, Any]] = content[0].get("top_logprobs") or [] if content else []
            yes, no = (
                sum(math.exp(one["logprob"]) for one in likely if one["token"].strip() == word)
                for word in ANSWERS
            )
            if yes + no:
                return yes / (yes + no)
            text = str(choice["message"]["content"]).strip()
        except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            raise self.server.other_form(expected, answer.text) from error
        if text not in ANSWERS:
            raise self.server.other_form(expected, text)
        return float(text == ANSWERS[0])
