"""Annotate a folder of texts with Ray Data: a function that takes paths is sent to the workers.

    pip install ray
    python examples/annotate_with_ray.py texts annotated

Each worker loads the parser once. A book that fails stops the run, and finished books are not kept in the
cache: `annotate texts/ --engine datatrove` does both. Tried with Ray 2.60.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any


def annotate(batch: dict[str, Any], out: str) -> dict[str, Any]:
    """Write `out`/<name>.jsonl for each text of a batch, with the cast that the book itself proposes."""
    import bookcoref_data as bc

    for path in batch["path"]:
        bc.annotate(path, "auto").save(f"{out}/{Path(path).stem}.jsonl", replace=True)
    return {"path": batch["path"]}


def main(folder: str, out: str) -> None:
    import ray

    Path(out).mkdir(exist_ok=True)
    texts = ray.data.from_items([{"path": str(path.absolute())} for path in Path(folder).glob("*.txt")])
    texts.map_batches(partial(annotate, out=str(Path(out).absolute())), batch_size=1).materialize()


if __name__ == "__main__":
    main(*sys.argv[1:])
