"""What is asked of a model, what it answers, and what every model offers."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Request:
    """One prompt. `key` names it in the answers.

    `pattern` is a regular expression that the whole reply must match, for servers that can constrain
    decoding. `choices` are the only answers wanted, `lead` what the reply says before one of them: a local
    model then decodes nothing but a choice. `system` is the system message, "" for none.
    """

    key: str
    prompt: str
    pattern: str = ""
    choices: tuple[str, ...] = ()
    lead: str = ""
    system: str = ""

    @property
    def messages(self) -> list[dict[str, str]]:
        """The prompt as a conversation."""
        said = (("system", self.system), ("user", self.prompt))
        return [{"role": role, "content": text} for role, text in said if text or role == "user"]

    def digest(self, settings: Mapping[str, Any]) -> str:
        """Hex sha256 of the prompt, its constraints and the model's settings: the key of the cache."""
        value: list[Any] = [self.prompt, self.pattern, self.choices, self.lead, dict(settings)]
        value += [self.system] if self.system else []
        return hashlib.sha256(json.dumps(value, sort_keys=True).encode("utf-8")).hexdigest()


@dataclass(frozen=True, slots=True)
class Reply:
    """The text a model answered, and the tokens it counted (0 where it does not say)."""

    text: str
    prompt_tokens: int
    reply_tokens: int


class Model(Protocol):
    """Something that replies to requests."""

    @property
    def name(self) -> str: ...

    @property
    def parallel(self) -> int:
        """How many requests may run at a time."""

    def settings(self) -> dict[str, Any]:
        """Everything that can change a reply, as JSON values."""

    def reply(self, request: Request) -> Reply:
        """Answer one request; raises SourceError when the model cannot be reached."""
