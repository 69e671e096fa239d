"""The backend `hub`: one model in memory at a time, loaded when its step begins."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from typing import Any

from ...errors import UsageError
from ..plan import Plan
from ..steps import STEP_NAMES, Step
from ..windowing import WINDOW_WORDS
from .device import choose_device
from .judge import Judge
from .maverick import Maverick
from .reader import Reader
from .steps import ExpandStep, FilterStep, LinkStep
from .weights import need_packages

DEVICE = "auto"


class HubBackend:
    """The steps of the paper with the models that a plan names.

    Windows and groups usually name the same weights, which are then loaded once; any other model takes
    the place of the one before, so that the largest alone decides how much memory is needed.
    """

    name = "hub"

    def __init__(self, plan: Plan) -> None:
        need_packages()
        self._plan = plan
        self._held: tuple[Any, Any] = (None, None)

    def step(self, name: str) -> Step:
        """The step called `name`; its model is loaded when it runs. Raises UsageError."""
        settings = self._plan.of(name)
        if name not in STEP_NAMES:
            raise UsageError(f"unknown step {name!r}", expected=", ".join(STEP_NAMES))
        if not settings.get("model"):
            raise UsageError(
                f"the recipe {self._plan.name!r} names no model for {name!r}", expected="model = ..."
            )
        load = self._loader(name, settings)
        if name == "link":
            return LinkStep(settings, load)
        if name == "filter":
            return FilterStep(settings, load)
        return ExpandStep(name, settings, self._plan.of("windows").get("words", WINDOW_WORDS), load)

    def close(self) -> None:
        """Free the model and the memory of the GPU."""
        self._held = (None, None)
        gc.collect()
        import torch

        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def _loader(self, name: str, settings: Mapping[str, Any]) -> Callable[[], Any]:
        kind = {"link": "link", "filter": "filter"}.get(name, "expand")
        common = ("model", "revision", "dtype", "encoder", "device", "max_subwords")
        key = (kind, *(settings.get(k, "") for k in common))

        def load():
            if self._held[0] != key:
                self.close()
                self._held = (key, _load(kind, settings))
            return self._held[1]

        return load


def _load(kind: str, settings: Mapping[str, Any]):
    device = choose_device(settings.get("device", DEVICE))
    model, revision = settings["model"], settings.get("revision", "")
    if kind == "filter":
        return Judge.load(model, revision, device=device, dtype=settings.get("dtype", "bfloat16"))
    dtype, encoder = settings.get("dtype", "float32"), settings.get("encoder", "")
    if kind == "link":
        room = settings.get("max_subwords", 1000)
        return Reader.load(model, revision, device=device, dtype=dtype, encoder=encoder, max_subwords=room)
    if not encoder:
        raise UsageError(
            "the recipe names no encoder for Maverick",
            expected='encoder = "microsoft/deberta-v3-large" (configuration and tokenizer are read from it)',
        )
    return Maverick.load(model, revision, encoder=encoder, device=device, dtype=dtype)


def make_backend(plan: Plan) -> HubBackend:
    """The backend for a plan. Raises MissingExtraError when torch or transformers is not installed."""
    return HubBackend(plan)
