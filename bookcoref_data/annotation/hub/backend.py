"""The backend `hub`: one model in memory at a time, loaded when its step begins."""

import gc
from collections.abc import Mapping
from typing import Any

from ...errors import SourceError, UsageError, require_choice
from ...late import torch
from ..plan import Plan
from ..steps import STEP_NAMES, Step
from ..windowing import WINDOW_WORDS
from .batching import Batches, out_of_memory
from .cost import MOST_ROWS, cost_of
from .device import choose_device
from .judge import Judge, ServedJudge
from .maverick import Maverick
from .packages import Package, is_package
from .reader import Reader
from .steps import ExpandStep, FilterStep, LinkStep
from .weights import need_packages

DEVICE = "auto"
ON_CPU = 4096
"""Tokens of all rows that run together on a CPU."""


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
        require_choice("step", name, STEP_NAMES)
        if not settings.get("model"):
            raise UsageError(
                f"the recipe {self._plan.name!r} names no model for {name!r}", expected="model = ..."
            )
        kind = {"link": "link", "filter": "filter"}.get(name, "expand")
        common = "model revision dtype encoder encoder_revision device max_subwords batch"
        key = (kind, *(settings.get(k, "") for k in common.split()))

        def load() -> Any:
            if self._held[0] != key:
                self.close()
                try:
                    self._held = (key, _load(kind, settings))
                except RuntimeError as error:
                    if not out_of_memory(error):
                        raise
                    what = f"the model {settings['model']} does not fit into the memory of the device"
                    hint = 'take a device that is larger or free, dtype = "bfloat16", or a smaller model'
                    raise SourceError(what, found=error, hint=hint) from error
            return self._held[1]

        if name == "link":
            return LinkStep(settings, load)
        if name == "filter":
            return FilterStep(settings, load)
        return ExpandStep(name, settings, self._plan.of("windows").get("words", WINDOW_WORDS), load)

    def close(self) -> None:
        """Free the model and the memory of the GPU."""
        self._held = (None, None)
        gc.collect()
        torch.cuda.empty_cache()


def _load(kind: str, settings: Mapping[str, Any]) -> Any:
    device = choose_device(settings.get("device", DEVICE))
    model, revision = settings["model"], settings.get("revision", "")
    if settings.get("endpoint"):
        return ServedJudge(settings["endpoint"], model)
    if kind == "expand" and is_package(model):
        return Package.load(model, device, settings.get("encoder", ""))
    if kind == "filter":
        dtype = settings.get("dtype", "bfloat16")
        loaded: Any = Judge.load(model, revision, device=device, dtype=dtype)
    else:
        dtype = settings.get("dtype", "float32")
        encoder: dict[str, Any] = {k: settings.get(k, "") for k in ("encoder", "encoder_revision")}
        if kind == "link":
            room = settings.get("max_subwords", 1000)
            loaded = Reader.load(model, revision, device=device, dtype=dtype, max_subwords=room, **encoder)
        elif not encoder["encoder"]:
            expected = 'encoder = "microsoft/deberta-v3-large", for configuration and tokenizer'
            raise UsageError("the recipe names no encoder for Maverick", expected=expected)
        else:
            loaded = Maverick.load(model, revision, device=device, dtype=dtype, **encoder)
    loaded.batches = batches_for(loaded.config, dtype, device, settings.get("batch", 0))
    return loaded


def batches_for(config: Any, dtype: str, device: Any, most: int) -> Batches:
    """Batches of `most` rows, or of as many as fit into the memory that is free beside the weights."""
    if device.type != "cuda":  # rows are no faster together, and memory that is gone kills the process
        return Batches(most or 4, lambda length: ON_CPU // length)
    cost, free = cost_of(config.to_dict(), dtype), torch.cuda.mem_get_info(device)[0]
    return Batches(most or MOST_ROWS, lambda length: cost.rows(length, free))
