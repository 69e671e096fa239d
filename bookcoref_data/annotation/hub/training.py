"""Training of the link reader: settings of the public code (relik, reader/conf, "large") where they fit.

Learning rate 1e-4, times 0.9 for every layer of the encoder further from the heads; gradients cut to length
1; names in random order, now and then some of them missing. Ours: eight windows a step, the number of epochs,
a tenth of the steps to warm up.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from ...late import torch
from .lessons import Lesson
from .reader import Reader

RATE, DECAY, WARM_UP, LONGEST_GRADIENT = 1e-4, 0.9, 0.1, 1.0
WINDOWS = 8
"""Windows a step. They run one after the other, so that memory is that of one."""
MISSING = 0.05
"""Share of windows that lose some of their names, whose mentions are then of somebody who is not listed."""
_LAYER = re.compile(r"encoder\.layer\.(\d+)\.")


def train(
    reader: Reader, lessons: Sequence[Lesson], steps: int, seed: int, after_epoch: Callable[[], None],
    heard: Callable[[float], None],
) -> None:  # fmt: skip
    """Train for `steps` steps; `heard` gets the loss of each, `after_epoch` may ask the reader.

    On a GPU matrices are multiplied in bfloat16; the weights stay as they were loaded.
    """
    rng = random.Random(seed)
    torch.manual_seed(seed)
    weights = reader.weights()
    optimizer = torch.optim.AdamW(_groups(weights), weight_decay=0.0)
    warm = max(1, round(WARM_UP * steps))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / warm, max(0.0, (steps - step) / max(1, steps - warm)))
    )
    left: list[Lesson] = []
    reader.learn(True)
    for step in range(steps):
        if not left:
            left = rng.sample(lessons, len(lessons))
        batch, left = left[:WINDOWS], left[WINDOWS:]
        total = 0.0
        for lesson in (varied(lesson, rng) for lesson in batch):
            rows = reader.rows(lesson.words, lesson.names)
            for row in rows:
                with torch.autocast(reader.device.type, torch.bfloat16, enabled=reader.device.type == "cuda"):
                    loss = reader.loss(row, lesson.links) / len(rows) / len(batch)
                loss.backward()
                total += loss.item()
        torch.nn.utils.clip_grad_norm_(weights.values(), LONGEST_GRADIENT)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        heard(total)
        if not left or step + 1 == steps:
            reader.learn(False)
            after_epoch()
            reader.learn(True)
    reader.learn(False)


def varied(lesson: Lesson, rng: random.Random) -> Lesson:
    """A window with its names in another order, sometimes without some of them."""
    order = rng.sample(range(len(lesson.names)), len(lesson.names))
    if rng.random() < MISSING:
        order = order[: rng.randint(1, len(order))]
    place = {name: i for i, name in enumerate(order)}
    links = [(a, b, place.get(name, -1)) for a, b, name in lesson.links]
    return lesson._replace(names=[lesson.names[name] for name in order], links=links)


def _groups(weights: dict[str, torch.Tensor]) -> list[dict[str, object]]:
    """A rate for each depth: heads learn fastest, the embeddings of words slowest."""
    layers = 1 + max((int(found[1]) for name in weights if (found := _LAYER.search(name))), default=-1)
    groups: dict[int, list[torch.Tensor]] = {}
    for name, weight in weights.items():
        layer = _LAYER.search(name)
        depth = layers - int(layer[1]) if layer else layers + 1 if "embeddings." in name else 0
        groups.setdefault(depth, []).append(weight)
    return [{"params": params, "lr": RATE * DECAY**depth} for depth, params in sorted(groups.items())]
