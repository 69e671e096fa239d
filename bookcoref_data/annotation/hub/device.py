"""Where the models run, and in which precision."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import UsageError

if TYPE_CHECKING:
    import torch

DTYPES = ("float32", "bfloat16", "float16")


def choose_device(name: str = "auto") -> torch.device:
    """`name` ("auto", "cpu", "cuda", "cuda:1", "mps"); "auto" takes a GPU when there is one.

    Raises:
        UsageError: the device asked for is not there.
    """
    import torch

    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise UsageError(
            f"the device {name!r} cannot be used",
            found=str(error).strip().splitlines()[0][:200],
            hint='set device = "auto" or "cpu" in the recipe; for a GPU, torch must be built for it',
        ) from error
    return device


def dtype_of(name: str) -> torch.dtype:
    """The torch type called `name`. Raises UsageError."""
    import torch

    if name not in DTYPES:
        raise UsageError(f"unknown dtype {name!r}", expected=", ".join(DTYPES))
    return getattr(torch, name)


def cpu_warning(device: torch.device, step: str) -> tuple[str, ...]:
    """A note for the person when a step that wants a GPU runs without one."""
    if device.type != "cpu":
        return ()
    return (f"{step}: no GPU found, so the paper's models run on the CPU, which takes days for a long book",)
