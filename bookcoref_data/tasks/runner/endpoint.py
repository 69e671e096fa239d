"""A model behind an HTTP server with the OpenAI interface (`/v1/chat/completions`)."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...errors import SourceError, UsageError
from .requests import Reply, Request

if TYPE_CHECKING:
    import requests

CONSTRAINTS = ("none", "regex", "choice")
_AGAIN = {408, 409, 425, 429, 500, 502, 503, 504}
_LONGEST_WAIT = 60.0


@dataclass(slots=True)
class EndpointModel:
    """A chat model at `url`, the address up to and including `/v1`.

    `constrain` sends vLLM's guided decoding: "regex" with the pattern of a request, "choice" with its
    choices. `key_variable` names the environment variable that holds the API key; without it no key is
    sent. After an error that may pass (429, 5xx, no connection) the request is sent again up to `tries`
    times, with waits of 1, 2, 4, ... seconds or what `Retry-After` asks for, at most a minute.
    """

    url: str
    name: str
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int | None = None
    most_tokens: int = 512
    constrain: str = "none"
    key_variable: str = "OPENAI_API_KEY"
    timeout: float = 300.0
    tries: int = 5
    parallel: int = 4
    sleep: Callable[[float], None] = time.sleep
    _local: threading.local = field(default_factory=threading.local, repr=False)

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise UsageError("the endpoint is no web address", expected="http://host:port/v1", found=self.url)
        if self.constrain not in CONSTRAINTS:
            raise UsageError(f"there is no constraint {self.constrain!r}", expected=", ".join(CONSTRAINTS))
        self.url = self.url.rstrip("/")

    def settings(self) -> dict[str, Any]:
        return {"model": self.name, "constrain": self.constrain, **self._sampling()}

    def _sampling(self) -> dict[str, Any]:
        """How replies are drawn, in the words of the interface; what is as always is left out."""
        found: dict[str, Any] = {"temperature": self.temperature, "max_tokens": self.most_tokens}
        found |= {"top_p": self.top_p} if self.top_p < 1 else {}
        return found | ({} if self.seed is None else {"seed": self.seed})

    def reply(self, request: Request) -> Reply:
        """Send one request.

        Raises:
            SourceError: the server refuses, or cannot be reached after all tries, or answers nonsense.
        """
        last = ""
        for attempt in range(self.tries):
            wait = min(2.0**attempt, _LONGEST_WAIT)
            try:
                answer = self._session().post(
                    f"{self.url}/chat/completions", json=self._body(request), headers=self._headers(),
                    timeout=self.timeout,
                )  # fmt: skip
            except OSError as error:  # every error of requests is one
                last = f"{type(error).__name__}: {error}"[:200]
            else:
                if answer.status_code == 200:
                    return _read(answer, self.url)
                last = f"status {answer.status_code}: {answer.text[:200]}"
                if answer.status_code not in _AGAIN:
                    break
                wait = _asked_wait(answer.headers.get("Retry-After"), wait)
            if attempt + 1 < self.tries:
                self.sleep(wait)
        raise SourceError(
            f"{self.url} does not answer for {self.name}", found=last,
            hint="finished replies are kept: run the same command again to go on",
        )  # fmt: skip

    def _session(self) -> requests.Session:
        import requests

        if not hasattr(self._local, "session"):
            self._local.session = requests.Session()
        session: requests.Session = self._local.session
        return session

    def _headers(self) -> dict[str, str]:
        key = os.environ.get(self.key_variable, "") if self.key_variable else ""
        return {"Authorization": f"Bearer {key}"} if key else {}

    def _body(self, request: Request) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self.name, "messages": request.messages, **self._sampling()}
        if self.constrain == "regex" and request.pattern:
            body["guided_regex"] = request.pattern
        elif self.constrain == "choice" and request.choices:
            body["guided_choice"] = list(request.choices)
        return body


def _asked_wait(header: str | None, default: float) -> float:
    try:
        return min(max(float(header or default), 0.0), _LONGEST_WAIT)
    except ValueError:  # a date: our own rule serves as well
        return default


def _read(answer: requests.Response, url: str) -> Reply:
    try:
        value = answer.json()
        text = value["choices"][0]["message"]["content"]
        usage = value.get("usage") or {}
        return Reply(
            str(text or ""), int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0)
        )
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise SourceError(
            f"{url} answers in another form",
            expected="the OpenAI interface: choices[0].message.content",
            found=answer.text[:200],
            hint="is this the address of /v1 of an OpenAI-compatible server?",
        ) from error
