"""A model behind an HTTP server with the OpenAI interface (`/v1/chat/completions`)."""

from dataclasses import dataclass
from typing import Any

from ...chat_server import ChatServer
from ...errors import require_choice
from .requests import Reply, Request

CONSTRAINTS = ("none", "regex", "choice")


@dataclass(slots=True)
class EndpointModel(ChatServer):
    """A chat model at a server, asked `parallel` questions at a time.

    `constrain` sends vLLM's guided decoding: "regex" with the pattern of a request, "choice" with its
    choices.
    """

    temperature: float = 0.0
    top_p: float = 1.0
    seed: int | None = None
    most_tokens: int = 512
    constrain: str = "none"
    parallel: int = 4

    def __post_init__(self) -> None:
        ChatServer.__post_init__(self)
        require_choice("constraint", self.constrain, CONSTRAINTS)

    def settings(self) -> dict[str, Any]:
        return {"model": self.name, "constrain": self.constrain, **self._sampling()}

    def _sampling(self) -> dict[str, Any]:
        """How replies are drawn, in the words of the interface; what is as always is left out."""
        found: dict[str, Any] = {"temperature": self.temperature, "max_tokens": self.most_tokens}
        found |= {"top_p": self.top_p} if self.top_p < 1 else {}
        return found | ({} if self.seed is None else {"seed": self.seed})

    def reply(self, request: Request) -> Reply:
        """Send one request. Raises SourceError: the server refuses, or cannot be reached after all tries, or
        answers nonsense."""
        wanted = self._sampling()
        if self.constrain == "regex" and request.pattern:
            wanted["guided_regex"] = request.pattern
        elif self.constrain == "choice" and request.choices:
            wanted["guided_choice"] = list(request.choices)
        answer = self.post(request.messages, wanted)
        try:
            value = answer.json()
            text = str(value["choices"][0]["message"]["content"] or "")
            usage = value.get("usage") or {}
            counts = (int(usage.get(name) or 0) for name in ("prompt_tokens", "completion_tokens"))
            return Reply(text, *counts)
        except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            expected = "the OpenAI interface: choices[0].message.content"
            raise self.other_form(expected, answer.text) from error
