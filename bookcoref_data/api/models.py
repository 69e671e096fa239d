"""Which model is asked, and what a run with it did."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..files import path_of
from ..progress import Progress
from ..shapes import plain
from ..tasks.runner.models import EndpointModel, LocalModel
from ..tasks.runner.run import AskedModel, Model, Prices, Request, RunReport, preview
from .options import ModelOptions, PathLike
from .tables import Result, Table


def preview_of(requests: Iterable[Request], most: int, given: ModelOptions) -> dict[str, Any]:
    """The first prompts of a dry run, and what all of them would cost."""
    return preview(requests, most, Prices(given["prompt_price"], given["reply_price"]))


def asking_of(
    given: ModelOptions, out: PathLike | None, progress: Progress | None, most_tokens: int,
    constrain: str = "none", **drawn: Any,
) -> AskedModel:  # fmt: skip
    """A server with the OpenAI interface, or a transformers model on this machine, with the file `out` for
    its answers. `drawn` says how replies are drawn: temperature, top_p, seed. Raises UsageError: there is no
    file, or the arguments do not name exactly one model."""
    endpoint, model, local = given["endpoint"], given["model"], given["local"]
    if out is None:
        raise UsageError("nowhere to write the answers", expected="--out ANSWERS.jsonl")
    if endpoint is not None and local is not None:
        raise UsageError("two models are named", expected="--endpoint or --local")
    if local is not None:
        asked: Model = LocalModel(local, most_tokens=most_tokens, **drawn)
    elif endpoint is not None and model:
        drawn |= {"key_variable": given["key_variable"], "parallel": given["parallel"]}
        asked = EndpointModel(endpoint, model, most_tokens=most_tokens, constrain=constrain, **drawn)
    else:
        raise UsageError("no model is named", expected="--endpoint URL --model NAME, or --local MODEL")
    return AskedModel(asked, path_of(out), Prices(given["prompt_price"], given["reply_price"]), progress)


class GradedRun(Result):
    """Grades by the name of the answers. `report` is of a model that was asked, `preview` of a dry run."""

    def __init__(
        self, grades: dict[str, Any], report: RunReport | None = None, preview: dict[str, Any] | None = None
    ) -> None:
        self.grades, self.report, self.preview = grades, report, preview

    def to_dict(self) -> dict[str, Any]:
        return dict(plain(self.grades)) if self.preview is None else self.preview

    def _line(self) -> str:
        if self.preview is not None:
            return f"{self.preview['requests']:,} prompts, nothing was asked"
        return self._graded()

    @abstractmethod
    def _graded(self) -> str:
        """What `repr` says of the grades."""


class Asked(Result):
    """A run with a model: `report` counts what it cost, `rows` are the answers, also in the file `out`.

    Of a dry run there is only `preview`: the first prompts, and what all of them would cost.
    """

    def __init__(
        self, rows: list[dict[str, Any]], report: RunReport | None, out: Path | None,
        preview: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        self.rows, self.report, self.out, self.preview = rows, report, out, preview

    @property
    def table(self) -> Table:
        """One row per answer, of a dry run per prompt."""
        return Table.of_dicts(self.rows if self.preview is None else self.preview["prompts"])

    def to_dict(self) -> dict[str, Any]:
        return self.report.to_dict() if self.report is not None else self.preview or {}

    def _line(self) -> str:
        if self.report is None:
            return f"{self.to_dict().get('requests', 0):,} prompts, nothing was asked"
        return f"{len(self.rows):,} answers of {self.report.model}, cost {self.report.cost:.4f}"
