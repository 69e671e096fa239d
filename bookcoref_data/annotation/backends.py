"""Backends by name, imported when asked for: the heavy ones cost seconds and gigabytes."""

import importlib
import importlib.util

from ..errors import require_choice
from ..spacy_model import MODELS
from .hub.check import check
from .hub.device import devices_of
from .plan import Plan
from .steps import Backend

BACKENDS: dict[str, str] = {
    "embedded": "bookcoref_data.annotation.embedded.backend:EmbeddedBackend",
    "hub": "bookcoref_data.annotation.hub.backend:HubBackend",
}
"""Name -> "module:function"; the function takes a `Plan` and returns a `Backend`."""


def register_backend(name: str, place: str) -> None:
    """Add a backend; `place` is "module:function". A known name is replaced."""
    BACKENDS[name] = place


def make_backend(plan: Plan) -> Backend:
    """The backend a plan names. Raises UsageError when there is none of that name."""
    require_choice("backend", plan.backend, BACKENDS)
    module, _, function = BACKENDS[plan.backend].partition(":")
    backend: Backend = getattr(importlib.import_module(module), function)(plan)
    return backend


def device_count(plan: Plan) -> int:
    """How many processes a plan's large models can fill: one per GPU of this machine, or per named device."""
    if importlib.util.find_spec("torch") is None:
        return 1  # the first book will say what is missing
    return max(len(devices_of(plan.of(step).get("device", "auto"))) for step in plan.steps)


def findings(plan: Plan, tokens: int) -> list[tuple[str, str, str]]:
    """What a run of a plan needs on this machine: (what, found, "fine", "look" or "cannot run")."""
    if plan.backend != "hub":
        if plan.backend == "embedded" and not any(map(importlib.util.find_spec, MODELS)):
            install = "pip install 'bookcoref-data[annotate]'"
            return [("backend", f"spaCy's English model is not installed: {install}", "cannot run")]
        encoder = plan.of("windows").get("encoder", "")
        fetched = f"{encoder} is fetched once where it is missing" if encoder else "nothing is fetched"
        return [("backend", f"{plan.backend}: runs on the CPU, {fetched}", "fine")]
    return [(one.what, one.found, one.verdict) for one in check(plan, tokens)]
