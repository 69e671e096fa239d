"""What can be said before a run of the paper's models: does it run here, what is fetched, how long, how true.

No connection is opened and no weight is read.
"""

import json
import shutil
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any, NamedTuple

from ...files import path_of
from ...late import hf, torch
from ..plan import Plan
from .cost import cost_of, facts
from .device import attention_of, devices_of
from .packages import is_package

GIB = 2**30
# English words of novels as subwords of these tokenizers; links per word by Table 2 (recall over precision of
# linking) on the 992,000 mentions of all books; words of prompt beside the excerpt.
SUBWORDS, LINKS, PROMPT = 1.35, 0.0313, 110
# Of the speed in a maker's data sheet, what such networks reach.
REACHED = 0.4
CPU_SPEED = 5e10
NEEDED = ("torch", "transformers", "safetensors", "sentencepiece")
CANNOT, LOOK, FINE = "cannot run", "look", "fine"


class Finding(NamedTuple):
    """One thing that was looked at: what, what was found, and "fine", "look" or "cannot run"."""

    what: str
    found: str
    verdict: str = FINE


def check(plan: Plan, tokens: int) -> list[Finding]:
    """Everything that can be said of running `plan` over books of so many tokens on this machine."""
    found = list(_packages())
    if any(one.verdict == CANNOT for one in found):
        return found
    memory, speeds, seen = _devices(plan)
    found += seen
    judge = plan.of("filter")
    if "filter" in plan.steps and not judge.get("endpoint"):
        device = devices_of(judge.get("device", "auto"))[0]
        found.append(Finding("filter: attention", attention_of(device, judge.get("dtype", "bfloat16"))))
    found += _files(plan)
    found += _costs(plan, tokens, memory, speeds, len(seen))
    # The settings whose value the paper does not give
    for setting, source in plan.sources.items():
        step, _, name = setting.partition(".")
        if step in plan.steps and "device" not in name and ("not " in source or "our" in source):
            value = str(plan.of(step).get(name, "")).partition("\n")[0][:60]
            found.append(Finding(f"approximate: {setting}", f"{value or 'empty'}: {source}", LOOK))
    return found


def _packages() -> Iterator[Finding]:
    """The packages of the extra, each with its version."""
    from packaging.requirements import Requirement

    try:
        listed = [Requirement(line) for line in requires("bookcoref-data") or ()]
    except PackageNotFoundError:  # run from its sources
        listed = []
    wanted = [one for one in listed if one.marker and one.marker.evaluate({"extra": "gpu"})]
    for one in wanted or map(Requirement, NEEDED):
        try:
            there = version(one.name)
        except PackageNotFoundError:
            yield Finding(f"package {one.name}", "not installed: pip install 'bookcoref-data[gpu]'", CANNOT)
            continue
        fits = one.specifier.contains(there, prereleases=True)
        text = there if fits else f"{there}, where {one.specifier} is needed"
        yield Finding(f"package {one.name}", text, FINE if fits else CANNOT)


def _devices(plan: Plan) -> tuple[int, Mapping[str, float], list[Finding]]:
    """Bytes of free memory of the smallest device, its speed by precision, and a finding per device."""
    names = devices_of(plan.of(plan.steps[0]).get("device", "auto"))
    if not names[0].startswith("cuda"):
        free = _free_memory()
        text = f"no GPU is used; the CPU has {_size(free)} of memory free: a long book takes days"
        return free, {}, [Finding("device", text, LOOK)]
    if len(names) > torch.cuda.device_count():
        return 0, {}, [Finding("device", f"{len(names)} named, {torch.cuda.device_count()} there", CANNOT)]
    found, frees = [], []
    for name in names:
        free, total = torch.cuda.mem_get_info(name)
        frees.append(free)
        text = f"{torch.cuda.get_device_name(name)}, {_size(free)} of {_size(total)} free"
        found.append(Finding(name, text))
    speeds: dict[str, float] = next((v for known, v in facts()["speeds"].items() if known in text), {})
    return min(frees), {k: REACHED * v * 1e12 for k, v in speeds.items()}, found


def _free_memory() -> int:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return 0


def need_of(step: str, settings: Mapping[str, Any]) -> tuple[int, float]:
    """(tokens of a row, rows per token of the book) of a step."""
    words = {"link": settings.get("window_words", 400), "filter": settings.get("context_words", 400)}
    if step == "filter":
        return int(words[step] * SUBWORDS) + PROMPT, LINKS
    if step == "link":
        return min(settings.get("max_subwords", 1000), int(2 * words[step] * SUBWORDS)), 1 / words[step]
    if step == "groups":
        length = settings.get("mention_window", 4000)
        return length, SUBWORDS / length
    return int(settings.get("words", 1500) * SUBWORDS), 1 / settings.get("words", 1500)


def _config(*names: str) -> dict[str, Any] | None:
    """The configuration of the first network that is known, or lies here."""
    known = facts()
    for name in names:
        if name in known["models"]:
            return dict(known["networks"][known["models"][name]["network"]])
        if name and (folder := _folder(name)) and (folder / "config.json").is_file():
            config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
            if config.get("model_type") != "relik-reader":
                return dict(config)
            return _config(config.get("transformer_model", ""))
    return None


def _folder(model: str, revision: str = "") -> Path | None:
    """Where a model lies on this machine: a folder, or the newest snapshot in the hub's cache."""
    if path_of(model).is_dir():
        return path_of(model)
    root = Path(hf.constants.HF_HUB_CACHE) / f"models--{model.replace('/', '--')}"
    try:
        commit = revision or (root / "refs" / "main").read_text().strip()
    except OSError:
        return None
    folder = root / "snapshots" / commit
    return folder if folder.is_dir() else None


def _files(plan: Plan) -> Iterator[Finding]:
    """Which files are here, which are missing, and whether there is room for them."""
    known, missing = facts()["models"], 0
    wanted: dict[str, tuple[str, bool]] = {}
    for step in plan.steps:
        settings = plan.of(step)
        if settings.get("endpoint") or is_package(settings.get("model", "")):
            yield Finding(step, f"{settings.get('endpoint') or settings['model']}: not looked at", LOOK)
            continue
        wanted[settings.get("model", "")] = (settings.get("revision", ""), True)
        if settings.get("encoder"):
            wanted.setdefault(settings["encoder"], (settings.get("encoder_revision", ""), False))
    for model, (revision, weights) in wanted.items():
        folder = _folder(model, revision)
        pinned = "" if revision or path_of(model).is_dir() else "; not pinned: the newest revision is taken"
        size = sum(p.stat().st_size for p in folder.iterdir() if p.is_file()) if folder else 0
        enough = size > 0.9 * known.get(model, {}).get("bytes", 0) if weights else size > 0
        if folder and enough:
            yield Finding(model, f"{_size(size)} in {folder}{pinned}", LOOK if pinned else FINE)
            continue
        needed = known.get(model, {}).get("bytes", 0)
        missing += needed
        text = f"missing, {_size(needed) if needed else 'of unknown size'}{pinned}"
        if hf.constants.HF_HUB_OFFLINE:
            yield Finding(model, f"{text}; HF_HUB_OFFLINE forbids to fetch it", CANNOT)
        else:
            yield Finding(model, f"{text}; will be fetched", LOOK)
    if missing:
        cache = Path(hf.constants.HF_HUB_CACHE)
        free = shutil.disk_usage(next(p for p in (cache, *cache.parents) if p.is_dir())).free
        text = f"{_size(missing)} needed, {_size(free)} free in {cache}"
        yield Finding("disk", text, CANNOT if missing > free else FINE)


def _costs(
    plan: Plan, tokens: int, memory: int, speeds: Mapping[str, float], devices: int
) -> Iterator[Finding]:
    """Whether weights and one row of each step fit, and how many rows run together; then the hours by
    operations, computed and not measured."""
    times, total, known = list[Finding](), 0.0, True
    for step in (step for step in plan.steps if not plan.of(step).get("endpoint")):
        settings = plan.of(step)
        model, (length, share) = settings.get("model", ""), need_of(step, settings)
        dtype = settings.get("dtype", "bfloat16" if step == "filter" else "float32")
        if not (config := _config(settings.get("encoder") or model, model)):
            known = False
            yield Finding(f"{step}: memory", f"not known: no configuration of {model} is here", LOOK)
            continue
        cost, number = cost_of(config, dtype), int(tokens * share) + 1
        row, rows = cost.row_bytes(length), cost.rows(length, memory - cost.weights)
        text = f"{_size(cost.weights)} of weights, {_size(row)} per row of {length} tokens ({dtype})"
        told = f"{rows} rows at a time fit" if rows else f"more than the {_size(memory)} that are free"
        yield Finding(f"{step}: memory", f"{text}: {told}", FINE if rows else CANNOT)
        operations = number * cost.row_operations(length)
        hours = operations / speeds.get(dtype, CPU_SPEED) / 3600 / devices
        total += hours
        text = f"{number:,} rows, {operations:.1e} operations: computed {_hours(hours)}"
        times.append(Finding(f"{step}: time", text))
    yield from times
    how = f"{devices} devices at {REACHED:.0%} of their data sheet" if speeds else "guessed speed: 50 GFLOP/s"
    more = "" if known else ", and the steps of unknown cost"
    verdict = FINE if speeds and known else LOOK
    yield Finding("time", f"computed {_hours(total)}{more} ({how}); not measured", verdict)


def _size(count: float) -> str:
    return f"{count / GIB:.1f} GiB" if count >= GIB / 10 else f"{count / 2**20:.1f} MiB"


def _hours(hours: float) -> str:
    return f"{hours:.1f} h" if hours < 100 else f"{hours / 24:,.0f} days"
