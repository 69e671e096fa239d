"""Models that are asked: behind an HTTP server with the OpenAI interface (`/v1/chat/completions`), and of
transformers on this machine, with answers held to the choices of a request."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ...chat_server import ChatServer
from ...errors import SourceError, needing, require_choice
from ...late import torch
from .run import Reply, Request

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
            raise self.other_form("the OpenAI interface: choices[0].message.content", answer.text) from error


@dataclass(slots=True)
class LocalModel:
    """A causal language model, loaded at the first request; decoding is greedy at temperature 0.

    Above 0 every reply is drawn with the same `seed`. `name` is a folder or a name on the Hub, which
    `revision` pins. Where a request has choices the reply is its lead and one of them: at every step only
    tokens that continue a choice are allowed.
    """

    name: str
    revision: str | None = None
    device: str = "cpu"
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int | None = None
    most_tokens: int = 512
    parallel: int = 1
    _loaded: Any = field(default=None, repr=False)

    def settings(self) -> dict[str, Any]:
        found = {"model": self.name, "revision": self.revision, "max_tokens": self.most_tokens, "local": True}
        return found | (
            {"temperature": self.temperature, "top_p": self.top_p, "seed": self.seed or 0}
            if self.temperature else {}
        )  # fmt: skip

    def reply(self, request: Request) -> Reply:
        """Answer one request. Raises SourceError when the model cannot be loaded."""
        tokenizer, model = self._load()
        # The prompt in the chat form of the model, where it has one.
        if not getattr(tokenizer, "chat_template", None):
            dress = "".join(f"{message['content']}\n\n" for message in request.messages)
        else:
            said = request.messages
            dress = str(tokenizer.apply_chat_template(said, tokenize=False, add_generation_prompt=True))
        prompt = dress + (request.lead if request.choices else "")
        ids = tokenizer(prompt, return_tensors="pt").input_ids.to(self.device)
        room: dict[str, Any] = {"max_new_tokens": self.most_tokens}
        if request.choices:
            choices = [tokenizer(c, add_special_tokens=False).input_ids for c in request.choices]
            (tree, longest), width = choice_tree(choices, tokenizer.eos_token_id), ids.shape[1]
            room["max_new_tokens"] = longest
            room["prefix_allowed_tokens_fn"] = lambda _, seen: tree[tuple(seen[width:].tolist())]
        elif self.temperature:
            room |= {"do_sample": True, "temperature": self.temperature, "top_p": self.top_p}
        with torch.no_grad(), torch.random.fork_rng():
            torch.manual_seed(self.seed or 0)
            out = model.generate(ids, **{"do_sample": False, "pad_token_id": tokenizer.eos_token_id, **room})
        new = out[0][ids.shape[1] :]
        text = tokenizer.decode(new, skip_special_tokens=True)
        return Reply((request.lead if request.choices else "") + text, int(ids.shape[1]), int(new.shape[0]))

    def _load(self) -> Any:
        if self._loaded is None:
            with needing("gpu", "transformers", "a local model"):
                from transformers import AutoModelForCausalLM, AutoTokenizer
            try:
                tokenizer = AutoTokenizer.from_pretrained(self.name, revision=self.revision)
                model = AutoModelForCausalLM.from_pretrained(self.name, revision=self.revision)
            except (OSError, ValueError) as error:
                what = f"the model {self.name} cannot be loaded"
                hint = "give a folder with a model, or a name on the Hub that is in the cache"
                raise SourceError(what, found=str(error)[:200], hint=hint) from error
            network: Any = model
            self._loaded = tokenizer, network.to(self.device).eval()
        return self._loaded


def choice_tree(choices: Sequence[Sequence[int]], end: int) -> tuple[dict[tuple[int, ...], list[int]], int]:
    """The tokens that may follow each prefix of a choice, `end` after a whole one; and the longest length.

    A prefix beyond a finished choice allows `end` alone, which pads shorter replies.
    """
    tree: dict[tuple[int, ...], list[int]] = {}
    for choice in choices:
        path = [*choice, end]
        for i, token in enumerate(path):
            allowed = tree.setdefault(tuple(path[:i]), [])
            if token not in allowed:
                allowed.append(token)
    return tree, max(map(len, choices), default=0) + 1
