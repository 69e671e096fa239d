"""The judge at a server with the OpenAI interface (vLLM, SGLang, ...), by the first token's probabilities."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

from ...chat_server import ChatServer
from .judge import ANSWERS

PARALLEL = 16
SECONDS = 120.0
ONE_TOKEN = {"temperature": 0, "max_tokens": 1, "logprobs": True, "top_logprobs": 20}


class ServedJudge:
    """A chat model at `url`, the address up to and including /v1; the key is that of OPENAI_API_KEY.

    The server is asked for one token and the twenty likeliest in its place: the answer is the share of Yes
    among Yes and No. A server that gives no probabilities is believed: 1.0 for Yes, 0.0 for No.
    """

    def __init__(self, url: str, model: str) -> None:
        import torch

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
