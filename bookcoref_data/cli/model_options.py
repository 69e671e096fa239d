"""The options of verbs that ask a model, and what they print about a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer

from .common import emit_json, say

if TYPE_CHECKING:
    from ..tasks.runner import RunReport

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


class Asked(Protocol):
    """What a verb that can ask a model returns: the prompts of a dry run, or the report of a run, if any."""

    @property
    def preview(self) -> dict[str, Any] | None: ...
    @property
    def report(self) -> RunReport | None: ...
    def to_dict(self) -> dict[str, Any]: ...


def print_run(done: Asked, out: Path | None, json: bool) -> bool:
    """Print the prompts of a dry run or a line about the run, and everything if it is wanted as JSON.

    Returns whether the results are still to be printed.
    """
    if done.preview is not None:
        _print_prompts(done.preview, json)
        return False
    if done.report is not None:
        _say_run(done.report, out)
    if json:
        emit_json(done.to_dict())
    return not json


def _print_prompts(preview: dict[str, Any], json: bool) -> None:
    """Print the first prompts of a run and what all of them would cost."""
    if json:
        emit_json(preview)
        return
    for item in preview["prompts"]:
        typer.echo(f"--- {item['key']} ---\n{item['prompt']}\n")
    say(
        f"{preview['requests']:,} prompts, about {preview['prompt_tokens_about']:,} tokens, "
        f"about {preview['prompt_cost_about']:.2f} for prompts; nothing was asked"
    )


def _say_run(report: RunReport, out: Path | None) -> None:
    """A line about a finished run."""
    figures: dict[str, Any] = report.to_dict()
    say(
        f"{figures['model']}: {figures['asked']:,} asked, {figures['cached']:,} from earlier replies, "
        f"{figures['prompt_tokens']:,} + {figures['reply_tokens']:,} tokens, cost {figures['cost']:.4f}; "
        f"answers in {out}"
    )
