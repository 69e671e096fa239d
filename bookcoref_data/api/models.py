"""Which model is asked, and what a run with it did."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from .results import Result
from .tables import Table

if TYPE_CHECKING:
    from ..tasks.runner import Model, Prices, RunReport


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """The model to ask: a server with the OpenAI interface, or a transformers model on this machine."""

    endpoint: str | None
    model: str | None
    local: str | None
    constrain: str = "none"
    key_variable: str = "OPENAI_API_KEY"
    most_tokens: int = 512
    parallel: int = 4
    prompt_price: float = 0.0
    reply_price: float = 0.0

    @property
    def given(self) -> bool:
        """Whether any model was named."""
        return self.endpoint is not None or self.local is not None

    @property
    def prices(self) -> Prices:
        """What a million tokens cost."""
        from ..tasks.runner import Prices

        return Prices(self.prompt_price, self.reply_price)

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


class Asked(Result):
    """A run with a model: `report` counts what it cost, `rows` are the answers, also in the file `out`.

    Of a dry run there is only `preview`: the first prompts, and what all of them would cost.
    """

    def __init__(
        self,
        rows: list[dict[str, Any]],
        report: RunReport | None,
        out: Path | None,
        preview: dict[str, Any] | None = None,
    ) -> None:
        self.rows, self.report, self.out, self.preview = rows, report, out, preview

    @property
    def table(self) -> Table:
        """One row per answer, of a dry run per prompt."""
        return Table.of_dicts(self.rows if self.preview is None else self.preview["prompts"])

    def to_dict(self) -> dict[str, Any]:
        """The same document as the command line prints with `--json`."""
        if self.report is not None:
            return self.report.to_dict()
        return self.preview or {}

    def _line(self) -> str:
        if self.report is None:
            return f"{self.to_dict().get('requests', 0):,} prompts, nothing was asked"
        return f"{len(self.rows):,} answers of {self.report.model}, cost {self.report.cost:.4f}"
