"""The options of verbs that ask a model, and what they print about a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import UsageError
from .common import emit_json, say

if TYPE_CHECKING:
    from ..tasks.runner import Model, Request, RunReport

Endpoint = Annotated[
    str | None, typer.Option(help="Ask a server with the OpenAI interface, e.g. http://localhost:8000/v1.")
]
ModelName = Annotated[str | None, typer.Option("--model", help="Name of the model at the endpoint.")]
Local = Annotated[str | None, typer.Option(help="Ask a transformers model: a folder or a name on the Hub.")]
Constrain = Annotated[str, typer.Option(help="Endpoint: none, regex or choice (guided decoding of vLLM).")]
KeyVariable = Annotated[
    str, typer.Option("--key-variable", help="Environment variable with the API key; no key if it is unset.")
]
MostTokens = Annotated[int, typer.Option("--most-tokens", min=1, help="Longest reply in tokens.")]
Parallel = Annotated[int, typer.Option(min=1, help="Requests to the endpoint at a time.")]
PromptPrice = Annotated[float, typer.Option(min=0, help="Price of a million tokens in prompts.")]
ReplyPrice = Annotated[float, typer.Option(min=0, help="Price of a million tokens in replies.")]
DryRun = Annotated[int, typer.Option("--dry-run", min=0, help="Print the first N prompts; ask nothing.")]


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """What the options say about the model to ask."""

    endpoint: str | None
    model: str | None
    local: str | None
    constrain: str = "none"
    key_variable: str = "OPENAI_API_KEY"
    most_tokens: int = 512
    parallel: int = 4

    @property
    def given(self) -> bool:
        return self.endpoint is not None or self.local is not None

    def make(self) -> Model:
        """The model. Raises UsageError when the options do not name exactly one."""
        from ..tasks.runner import EndpointModel, LocalModel

        if self.endpoint is not None and self.local is not None:
            raise UsageError("two models are named", expected="--endpoint or --local")
        if self.local is not None:
            return LocalModel(self.local, most_tokens=self.most_tokens)
        if self.endpoint is None or not self.model:
            raise UsageError("no model is named", expected="--endpoint URL --model NAME, or --local MODEL")
        return EndpointModel(
            self.endpoint, self.model, most_tokens=self.most_tokens, constrain=self.constrain,
            key_variable=self.key_variable, parallel=self.parallel,
        )  # fmt: skip


def show_prompts(requests: Sequence[Request], most: int, price: float, json: bool) -> None:
    """Print the first prompts of a run and what all of them would cost."""
    from ..tasks.runner import Prices, preview

    found = preview(requests, most, Prices(price))
    if json:
        emit_json(found)
        return
    for item in found["prompts"]:
        typer.echo(f"--- {item['key']} ---\n{item['prompt']}\n")
    say(
        f"{found['requests']:,} prompts, about {found['prompt_tokens_about']:,} tokens, "
        f"about {found['prompt_cost_about']:.2f} for prompts; nothing was asked"
    )


def say_run(report: RunReport, out: Path) -> None:
    """A line about a finished run."""
    figures: dict[str, Any] = report.to_dict()
    say(
        f"{figures['model']}: {figures['asked']:,} asked, {figures['cached']:,} from earlier replies, "
        f"{figures['prompt_tokens']:,} + {figures['reply_tokens']:,} tokens, cost {figures['cost']:.4f}; "
        f"answers in {out}"
    )
