"""Where the models run, and in which precision.

`device` in a recipe is "auto" (all GPUs that are seen, else the CPU), or names one or more devices:
"cuda:1", "cuda:0 cuda:1", "cpu". Every process takes one that no other process has.
"""

from __future__ import annotations

import getpass
import os
import tempfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ...errors import UsageError, require_choice
from ...files import path_of
from ...late import filelock, torch

FLASH = "flash_attention_2"
DTYPES = ("float32", "bfloat16", "float16")
# The device that this process has taken, with the lock that says so, by what was asked for.
_TAKEN: dict[str, tuple[str, Any]] = {}


def devices_of(setting: str = "auto") -> list[str]:
    """The devices that a setting names. A GPU is counted, not opened: processes may still be forked."""
    if setting != "auto":
        return setting.split()
    return [f"cuda:{i}" for i in range(torch.cuda.device_count())] or ["cpu"]


def choose_device(setting: str = "auto") -> torch.device:
    """The device of this process: of those that `setting` names, the first that no other process has.

    Where all are taken, the process shares one. Raises UsageError: the device asked for is not there.
    """
    if setting not in _TAKEN:
        names = devices_of(setting)
        free = ((name, lock) for name in names if len(names) > 1 and (lock := _lock(name)))
        _TAKEN[setting] = next(free, (names[os.getpid() % len(names)], None))
    name = _TAKEN[setting][0]
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        what = f"the device {name!r} cannot be used"
        hint = 'set device = "auto" or "cpu" in the recipe; for a GPU, torch must be built for it'
        raise UsageError(what, found=str(error).strip().splitlines()[0][:200], hint=hint) from error
    return device


def _lock(name: str) -> Any:
    """The lock on a device, or None when another process has it; the system frees it when one dies."""
    seen = os.environ.get("CUDA_VISIBLE_DEVICES", "all")
    file = "".join(c if c.isalnum() else "-" for c in f"{getpass.getuser()}-{seen}-{name}")
    lock = filelock.FileLock(Path(tempfile.gettempdir()) / f"bookcoref-data-device-{file}.lock")
    try:
        lock.acquire(timeout=0)
    except (filelock.Timeout, OSError):
        return None
    return lock


def dtype_of(name: str) -> torch.dtype:
    """The torch type called `name`. Raises UsageError."""
    require_choice("dtype", name, DTYPES)
    return getattr(torch, name)


def attention_of(device: object, dtype: str) -> str:
    """The fastest attention of a language model here: flash-attn's on a GPU in half precision, where it is
    installed, else torch's own. The encoders (DeBERTa) have their own and no other."""
    flash = str(device).startswith("cuda") and dtype != "float32" and find_spec("flash_attn") is not None
    return FLASH if flash else "sdpa"


def warnings_of(settings: Mapping[str, Any], step: str) -> tuple[str, ...]:
    """Notes for the person: a step that wants a GPU runs without one, or a model that may change tomorrow."""
    notes, model = [], settings["model"]
    on_cpu = devices_of(settings.get("device", "auto"))[0].startswith("cpu")
    if on_cpu and not settings.get("endpoint"):
        notes.append(
            f"{step}: no GPU found, so the paper's models run on the CPU, which takes days for a long book"
        )
    if not settings.get("revision") and not path_of(model).is_dir():
        notes.append(f"{step}: {model} is not pinned to a revision: another day may give another model")
    return tuple(notes)
