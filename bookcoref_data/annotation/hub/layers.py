"""The small networks on top of the encoder, run from named tensors.

They are functions of tensors rather than modules, so that the names in a published checkpoint are the
names in this code, and importing this package does not import torch.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...errors import UsageError
from ...late import F, torch
from .weights import State

Shapes = dict[str, tuple[int, ...]]


def linear_shapes(name: str, inputs: int, outputs: int) -> Shapes:
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def norm_shapes(name: str, size: int) -> Shapes:
    return {f"{name}.weight": (size,), f"{name}.bias": (size,)}


def two_layers(state: State, name: str, x: torch.Tensor) -> torch.Tensor:
    """Maverick's fully connected layer: dense1, GELU, layer norm, dense."""
    x = F.gelu(F.linear(x, state[f"{name}.layer.dense1.weight"], state[f"{name}.layer.dense1.bias"]))
    norm = state[f"{name}.layer.layer_norm.weight"]
    x = F.layer_norm(x, norm.shape, norm, state[f"{name}.layer.layer_norm.bias"])
    return F.linear(x, state[f"{name}.layer.dense.weight"], state[f"{name}.layer.dense.bias"])


def two_layers_shapes(name: str, inputs: int, hidden: int, outputs: int) -> Shapes:
    first, norm, last = (f"{name}.layer.{part}" for part in ("dense1", "layer_norm", "dense"))
    return (
        linear_shapes(first, inputs, hidden)
        | norm_shapes(norm, hidden)
        | linear_shapes(last, hidden, outputs)
    )


def projection(
    state: State, name: str, x: torch.Tensor, activation: str, eps: float, dropout: float = 0.0
) -> torch.Tensor:
    """The reader's projection: linear (1), activation, linear (4), layer norm (5) where there is one.

    The numbers are places in the published sequence of layers; the others are dropout, used in training.
    """
    x = F.dropout(x, dropout)
    x = activate(F.linear(x, state[f"{name}.1.weight"], state[f"{name}.1.bias"]), activation)
    x = F.linear(F.dropout(x, dropout), state[f"{name}.4.weight"], state[f"{name}.4.bias"])
    norm = state.get(f"{name}.5.weight")
    return x if norm is None else F.layer_norm(x, norm.shape, norm, state[f"{name}.5.bias"], eps)


def projection_shapes(name: str, inputs: int, hidden: int, outputs: int, norm: bool) -> Shapes:
    shapes = linear_shapes(f"{name}.1", inputs, hidden) | linear_shapes(f"{name}.4", hidden, outputs)
    return shapes | (norm_shapes(f"{name}.5", outputs) if norm else {})


def activate(x: torch.Tensor, name: str) -> torch.Tensor:
    """The activations a reader's configuration may name. Raises UsageError for others."""
    if name == "gelu":
        return F.gelu(x)
    if name == "relu":
        return F.relu(x)
    if name == "gelu_10":
        return F.gelu(x).clamp(-10, 10)
    raise UsageError(
        f"unknown activation {name!r} in the model's configuration", expected="gelu, relu, gelu_10"
    )


def moved(state: State, names: Mapping[str, object], device: torch.device, dtype: torch.dtype) -> State:
    """The tensors in `names`, on `device`, as `dtype`."""
    return {name: state[name].to(device, dtype) for name in names}
