"""A server with the OpenAI interface (vLLM, SGLang, ...), asked again after errors that may pass."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from .errors import SourceError, UsageError
from .late import requests

_AGAIN = {408, 409, 425, 429, 500, 502, 503, 504}
_LONGEST_WAIT = 60.0


@dataclass(slots=True)
class ChatServer:
    """The model `name` at `url`, the address up to and including `/v1`.

    `key_variable` names the environment variable that holds the API key; without it no key is sent. After
    an error that may pass (429, 5xx, no connection) a question is sent again up to `tries` times, with waits
    of 1, 2, 4, ... seconds or what `Retry-After` asks for, at most a minute.

    Raises UsageError: `url` is no web address.
    """

    url: str
    name: str
    key_variable: str = "OPENAI_API_KEY"
    timeout: float = 300.0
    tries: int = 5
    sleep: Callable[[float], None] = time.sleep
    _local: threading.local = field(default_factory=threading.local, repr=False)

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise UsageError("the endpoint is no web address", expected="http://host:port/v1", found=self.url)
        self.url = self.url.rstrip("/")

    def post(self, messages: object, settings: Mapping[str, Any]) -> requests.Response:
        """The answer of `/chat/completions` to some messages.

        Raises SourceError: the server refuses, or cannot be reached after all tries.
        """
        if not hasattr(self._local, "session"):
            self._local.session = requests.Session()
        last = ""
        for attempt in range(self.tries):
            key = os.environ.get(self.key_variable, "") if self.key_variable else ""
            wait = min(2.0**attempt, _LONGEST_WAIT)
            try:
                answer: requests.Response = self._local.session.post(
                    f"{self.url}/chat/completions",
                    json={"model": self.name, "messages": messages, **settings},
                    headers={"Authorization": f"Bearer {key}"} if key else {}, timeout=self.timeout,
                )  # fmt: skip
            except OSError as error:  # every error of requests is one
                last = f"{type(error).__name__}: {error}"[:200]
            else:
                if answer.status_code == 200:
                    return answer
                last = f"status {answer.status_code}: {answer.text[:200]}"
                if answer.status_code not in _AGAIN:
                    break
                with suppress(ValueError):  # of a date; our own rule serves as well
                    wait = min(max(float(answer.headers.get("Retry-After") or wait), 0.0), _LONGEST_WAIT)
            if attempt + 1 < self.tries:
                self.sleep(wait)
        raise SourceError(
            f"{self.url} does not answer for {self.name}", found=last,
            hint="finished replies are kept: run the same command again to go on",
        )  # fmt: skip

    def other_form(self, expected: str, found: str) -> SourceError:
        """The error for an answer that is not what the interface promises."""
        return SourceError(
            f"{self.url} answers in another form", expected=expected, found=found[:200],
            hint="is this the address of /v1 of an OpenAI-compatible server?",
        )  # fmt: skip
