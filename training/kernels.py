"""The same numbers on every x86 processor with AVX2 (all since 2013)."""

import os
import sys

KERNELS = {
    "OPENBLAS_CORETYPE": "Haswell",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    # The names of numpy 2.4, then those of before; what a version does not know it passes over.
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR "
    "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL",
}
"""numpy picks kernels by the processor and the number of threads. They sum in another order, and four rounds
of training make a difference in the last bit large."""


def start_again_with(module: str) -> None:
    """Replace this process by one that runs `module` with `KERNELS`, which numpy reads when it is loaded;
    does nothing where they are in force."""
    if any(os.environ.get(name) != value for name, value in KERNELS.items()):
        os.execve(sys.executable, [sys.executable, "-m", module, *sys.argv[1:]], {**os.environ, **KERNELS})
