"""Rows of like length together, the longest first; a batch that does not fit is halved, never the end.

The longest come first so that a size which is too large shows at once, not after hours.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ...errors import SourceError
from ...late import torch

RowOf = TypeVar("RowOf")
# Seconds: answers are kept batch by batch, and a kill must not lose more than a minute.
LONGEST = 30.0


class Batches:
    """How many rows of a network run at once: `most`, or as many as fitted and were quick.

    `room` tells how many rows of a length fit into memory. What did not fit bounds the rows times their
    length, so that shorter rows go together again.
    """

    def __init__(self, most: int, room: Callable[[int], int] | None = None) -> None:
        self.most, self._room = max(1, most), room
        self._cells = float("inf")

    def run(
        self, rows: Sequence[RowOf], length: Callable[[RowOf], int], 
        work: Callable[[list[RowOf]], Sequence[Any]],
        told: Callable[[int, Any], None],
    ) -> None:  # fmt: skip
        """Call `work` on batches of rows, and `told(number of the row, answer)` for each answer.

        Raises:
            SourceError: a single row does not fit into memory.
        """
        order = sorted(range(len(rows)), key=lambda i: -length(rows[i]))
        first = 0
        while first < len(order):
            longest = length(rows[order[first]])
            fitting = self._room(longest) if self._room else self.most
            fitting = int(min(self.most, fitting, self._cells / max(1, longest)))
            part = order[first : first + max(1, fitting)]
            started = time.monotonic()
            try:
                answers = work([rows[i] for i in part])
            except RuntimeError as error:
                if not out_of_memory(error):
                    raise
                answers = None
            if answers is None:
                # Outside of the handler, where the error still holds the tensors of the batch.
                torch.cuda.empty_cache()
                if len(part) == 1:
                    raise SourceError(
                        "one text alone does not fit into the memory of the device",
                        found=f"{longest} tokens", hint="give a device with more memory, a "
                        "smaller dtype, or fewer words per window; what is done is kept",
                    )  # fmt: skip
                self._cells = len(part) // 2 * max(1, longest)
                continue
            for i, answer in zip(part, answers, strict=True):
                told(i, answer)
            first += len(part)
            if time.monotonic() - started > LONGEST:
                self._cells = len(part) // 2 * max(1, longest)


def out_of_memory(error: RuntimeError) -> bool:
    """Whether torch says that there is no memory left: itself, the driver, cuBLAS and cuDNN, or the CPU."""
    signs = ("out of memory", "_ALLOC_FAILED", "can't allocate memory")
    return any(sign in str(error) for sign in signs)
