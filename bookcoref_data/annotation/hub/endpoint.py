"""The judge at a server with the OpenAI interface (vLLM, SGLang, ...), by the first token's probabilities."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

from ...errors import SourceError, UsageError
from .judge import ANSWERS

PARALLEL = 16
TRIES = 5
SECONDS = 120.0
KEY = "OPENAI_API_KEY"


class ServedJudge:
    """A chat model at `url`, the address up to and including /v1; the key is that of OPENAI_API_KEY.

    The server is asked for one token and the twenty likeliest in its place: the answer is the share of Yes
    among Yes and No. A server that gives no probabilities is believed: 1.0 for Yes, 0.0 for No.
    """

    def __init__(self, url: str, model: str) -> None:
        import torch

        if not url.startswith(("http://", "https://")):
            raise UsageError("the endpoint is no web address", expected="http://host:port/v1", found=url)
        self._url, self._model, self.device = url.rstrip("/"), model, torch.device("cpu")

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
        import requests

        key = os.environ.get(KEY, "")
        body = {
            "model": self._model, "messages": [{"role": "user", "content": question}], "temperature": 0,
            "max_tokens": 1, "logprobs": True, "top_logprobs": 20,
        }  # fmt: skip
        last = ""
        for attempt in range(TRIES):
            try:
                answer = requests.post(
                    f"{self._url}/chat/completions", json=body, timeout=SECONDS,
                    headers={"Authorization": f"Bearer {key}"} if key else {},
                )  # fmt: skip
            except OSError as error:  # every error of requests is one
                last = f"{type(error).__name__}: {error}"[:200]
            else:
                if answer.status_code == 200:
                    return _yes(answer, self._url)
                last = f"status {answer.status_code}: {answer.text[:200]}"
                if answer.status_code < 500 and answer.status_code not in (408, 429):
                    break
            if attempt + 1 < TRIES:
                time.sleep(2.0**attempt)
        raise SourceError(
            f"{self._url} does not answer for {self._model}", found=last,
            hint="answers so far are kept: run the same command again to go on",
        )  # fmt: skip


def _yes(answer: Any, url: str) -> float:
    """The probability of Yes in an answer of the server."""
    try:
        choice = answer.json()["choices"][0]
        content = (choice.get("logprobs") or {}).get("content") or []
        likely = content[0].get("top_logprobs") or [] if content else []
        yes, no = (
            sum(math.exp(one["logprob"]) for one in likely if one["token"].strip() == word)
            for word in ANSWERS
        )
        if yes + no:
            return yes / (yes + no)
        text = str(choice["message"]["content"]).strip()
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise _other_form(url, answer.text) from error
    if text not in ANSWERS:
        raise _other_form(url, text)
    return float(text == ANSWERS[0])


def _other_form(url: str, found: str) -> SourceError:
    return SourceError(
        f"{url} answers in another form", expected="Yes or No as the first token, with its logprobs",
        found=found[:200], hint="is this the address of /v1 of an OpenAI-compatible server?",
    )  # fmt: skip
