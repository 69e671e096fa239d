"""Memory and operations of a network at its real size, worked out without its weights.

The network is built on torch's meta device, where tensors have a shape and no content, and run with rows of
three lengths: what is alive at one time and what is multiplied is counted. Both are a constant, a part that
grows with the length and one that grows with its square (attention), so three runs tell any other length.
"""

from __future__ import annotations

import json
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ...late import torch, transformers
from ...resources import resource
from .device import dtype_of

LENGTHS = (512, 1024, 1536)
# Of the free memory, what rows may take: the rest is for what a library keeps for itself.
SHARE = 0.8
MOST_ROWS = 256


@dataclass(frozen=True, slots=True)
class Cost:
    """Bytes of the weights; bytes and operations of one row, as a polynomial of its length."""

    weights: int
    memory: tuple[float, ...]
    operations: tuple[float, ...]

    def row_bytes(self, length: int) -> float:
        """Memory of one row of so many tokens while it runs."""
        return float(np.polyval(self.memory, length))

    def row_operations(self, length: int) -> float:
        """Floating point operations of one row."""
        return float(np.polyval(self.operations, length))

    def rows(self, length: int, room: float) -> int:
        """How many rows fit into so many bytes beside the weights; 0 when not even one does."""
        return min(MOST_ROWS, int(max(0.0, SHARE * room) // self.row_bytes(length)))


def facts() -> dict[str, Any]:
    """What is known of published models and GPUs (`manifests/models.json`)."""
    found: dict[str, Any] = json.loads(resource("manifests", "models.json").read_text(encoding="utf-8"))
    return found


def cost_of(config: Mapping[str, Any], dtype: str) -> Cost:
    """The cost of a network by its configuration (as in config.json), in the precision `dtype`."""
    return _cost(json.dumps(dict(config), sort_keys=True, default=str), dtype)


@cache
def _cost(config: str, dtype: str) -> Cost:
    from torch.utils.flop_counter import FlopCounterMode

    class Angles(torch.nn.Module):  # type: ignore[misc]
        """Stands in for angles of positions, which old versions of transformers do not work out on meta."""

        def forward(self, x: torch.Tensor, position_ids: Any) -> tuple[torch.Tensor, torch.Tensor]:
            size = described.hidden_size // described.num_attention_heads
            return (x.new_empty(1, x.shape[1], size),) * 2

    def one_row(length: int) -> tuple[float, float]:
        """(bytes alive at the most, operations) of one row."""
        ids = torch.zeros(1, length, dtype=torch.long)
        # A mask of all pairs: made from a plain one, its content would be looked at, and there is none.
        causal = "num_key_value_heads" in network.config.to_dict()
        mask = torch.ones((1, 1, length, length) if causal else (1, length), dtype=torch.bool)
        found = []
        for mode in (_live(), FlopCounterMode(display=False)):
            with torch.inference_mode(), mode:
                network(input_ids=ids, attention_mask=mask)
            found.append(float(mode.peak if hasattr(mode, "peak") else mode.get_total_flops()))
        return found[0], found[1]

    described = transformers.AutoConfig.for_model(**json.loads(config))
    with torch.device("meta"):
        network = transformers.AutoModel.from_config(described, dtype=dtype_of(dtype)).eval()
        network.requires_grad_(False)
        network.rotary_emb = Angles()
        memory, operations = zip(*map(one_row, LENGTHS), strict=True)
    weights = sum(p.numel() * p.element_size() for p in network.parameters())
    fitted = [tuple(map(float, np.polyfit(LENGTHS, values, 2))) for values in (memory, operations)]
    known = network.config
    causal = getattr(known, "is_decoder", False) or "num_key_value_heads" in known.to_dict()
    if causal and not known.tie_word_embeddings:
        # A language model has a second table of its words, unless it shares the first.
        weights += int(known.vocab_size * known.hidden_size * dtype_of(dtype).itemsize)
    return Cost(weights, *fitted)


def _live() -> Any:
    """A mode of torch that counts the bytes of tensors that are alive at one time."""
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves

    class Live(TorchDispatchMode):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.now = self.peak = 0
            self.seen: weakref.WeakSet[torch.UntypedStorage] = weakref.WeakSet()

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            out = func(*args, **(kwargs or {}))
            for tensor in tree_leaves(out):
                if isinstance(tensor, torch.Tensor) and tensor.untyped_storage() not in self.seen:
                    storage = tensor.untyped_storage()
                    self.seen.add(storage)
                    self.now += storage.nbytes()
                    self.peak = max(self.peak, self.now)
                    weakref.finalize(storage, self.freed, storage.nbytes())
            return out

        def freed(self, size: int) -> None:
            self.now -= size

    return Live()
