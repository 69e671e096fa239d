"""Recipes of the pipeline: which backend runs which steps with which settings, and where each number is from.

A recipe is a TOML file with `name`, `backend`, `steps`, one table per step, and a table `sources` that
says for every setting ("windows.words") where its value comes from.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..errors import UsageError, require_choice
from ..resources import load_toml, resource
from ..shapes import check
from .steps import STEP_NAMES, check_order

DEFAULT_RECIPES = {"embedded": "embedded.toml", "hub": "silver-as-published.toml"}
LEAST = {
    "third": "least_pronoun",
    "third in a quote": "least_pronoun_in_quotes",
    "they": "least_they",
    "second": "least_you",
    "nominal": "least_nominal",
    "nominal in a quote": "least_nominal_in_quotes",
}
"""Kind of decision -> the setting with its least probability."""
_BOTH = {"somebody_speaks", "encoder", *LEAST.values()}
_KNOWN = {"link": set(), "filter": set(), "windows": {"words", *_BOTH}, "groups": {"windows", *_BOTH}}
"""The settings of each step of the backend "embedded"."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A recipe in force. `settings` maps step names to their settings. Links and speakers that are right with
    a probability below `least` are dropped at the end. `language` "en" reads any text as English.
    """

    name: str
    backend: str
    steps: tuple[str, ...]
    settings: Mapping[str, Mapping[str, Any]]
    sources: Mapping[str, str] = field(default_factory=dict)
    least: float = 0.0
    language: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.least <= 1:
            raise UsageError("the least certainty is a probability", expected="0 to 1", found=self.least)
        if self.language not in ("", "en"):
            raise UsageError("the models know English only", expected="en", found=self.language)
        for step, known in _KNOWN.items() if self.backend == "embedded" else ():
            for unknown in sorted(set(self.of(step)) - known):
                what = f"recipe {self.name!r}: the embedded step {step!r} has no setting {unknown!r}"
                expected = ", ".join(sorted(known)) or "no settings"
                raise UsageError(what, expected=expected, hint='models and servers are for the backend "hub"')

    def of(self, step: str) -> Mapping[str, Any]:
        return self.settings.get(step, {})

    def with_models(self, models: Mapping[str, str], endpoint: str | None = None) -> "Plan":
        """The plan with other models by step, and the judge of the filter at a server.

        Raises: UsageError: an unknown step, or the backend "embedded", which has no such models.
        """
        settings = {name: dict(values) for name, values in self.settings.items()}
        for step, model in models.items():
            require_choice("step to give a model to:", step, STEP_NAMES)
            settings[step] = settings.get(step, {}) | {"model": model, "revision": ""}
        if endpoint:
            settings["filter"] = settings.get("filter", {}) | {"endpoint": endpoint, "revision": ""}
        return replace(self, settings=settings)

    def key(self) -> str:
        """Hex sha256 of everything that can change the output (not of the sources)."""
        value: list[Any] = [self.backend, self.steps, {k: dict(v) for k, v in self.settings.items()}]
        if self.least:
            value.append(self.least)
        return hashlib.sha256(json.dumps(value, sort_keys=True).encode("utf-8")).hexdigest()


def read_plan(path: Path) -> Plan:
    """Read a recipe file.

    Raises:
        UsageError: not TOML, an unknown table, no backend, or steps in an order that cannot run.
    """
    value = load_toml(path)
    check(value, "annotation_recipe", str(path), UsageError)
    steps = tuple(value.get("steps", STEP_NAMES))
    check_order(steps)
    settings = {name: dict(value.get(name, {})) for name in STEP_NAMES}
    return Plan(
        value.get("name", path.stem), value["backend"], steps, settings, value.get("sources", {}),
        float(value.get("least", 0.0)),
    )  # fmt: skip


def default_plan(backend: str) -> Plan:
    """The recipe that ships for a backend. Raises UsageError for a backend without one."""
    require_choice("backend", backend, DEFAULT_RECIPES)
    return read_plan(resource("recipes", DEFAULT_RECIPES[backend]))
