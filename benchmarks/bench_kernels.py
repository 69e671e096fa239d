"""Both matrix kernels of the parse on whole books: is the annotation the same, and what does each cost?

    python -m benchmarks.bench_kernels MIRROR [--books 10]

The shortest books of a Gutenberg mirror are annotated with casts proposed from them, with blis and with numpy
in turns. The digest is of all mentions, drops, quotes and scores. Exit code 1 where one differs.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from pathlib import Path

import bookcoref_data as bc
from bookcoref_data.annotation.embedded import parsing
from bookcoref_data.workflows.annotate_many import release_backends

KERNELS = ("blis", "numpy")


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("mirror", type=Path)
    options.add_argument("--books", type=int, default=10)
    given = options.parse_args()
    texts = sorted(given.mirror.glob("cache/epub/*/pg*.txt"), key=lambda path: path.stat().st_size)
    chosen, same = parsing.kernel(), True
    print("| book | tokens | blis, CPU s | numpy, CPU s | annotation |\n|---|---|---|---|---|")
    total = dict.fromkeys(KERNELS, 0.0)
    for text in texts[: given.books]:
        made = {name: annotated(text, name) for name in KERNELS}
        digests = {digest for _, _, digest in made.values()}
        same &= len(digests) == 1
        for name in KERNELS:
            total[name] += made[name][1]
        told = f"the same ({min(digests)[:8]})" if len(digests) == 1 else "differs"
        times = " | ".join(f"{made[name][1]:.1f}" for name in KERNELS)
        print(f"| {text.stem} | {made['blis'][0]:,} | {times} | {told} |", flush=True)
    print(f"\nAll books: blis {total['blis']:.0f} CPU s, numpy {total['numpy']:.0f}: numpy is "
          f"{total['blis'] / total['numpy']:.2f} times as fast. This machine chooses {chosen}.")  # fmt: skip
    return 0 if same else 1


def annotated(text: Path, kernel: str) -> tuple[int, float, str]:
    """(tokens, CPU seconds, digest of the annotation) with one kernel; the model is loaded before."""
    release_backends()
    parsing.load_model.cache_clear()
    parsing.kernel = lambda: kernel
    parsing.load_model()
    start = time.process_time()
    done = bc.annotate(text, "auto")
    taken = time.process_time() - start
    digest = hashlib.sha256(repr(done.annotation).encode())
    return len(done.tokens), taken, digest.hexdigest()


if __name__ == "__main__":
    sys.exit(main())
