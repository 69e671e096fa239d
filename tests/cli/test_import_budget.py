"""What small commands may import: a package that they do not need costs more than their work."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {
    "asyncio", "bibtexparser", "datasets", "huggingface_hub", "multiprocessing", "numpy.ma", "numpy.random",
    "pandas", "pyarrow", "pyarrow.compute", "pydantic", "requests", "rich", "scipy", "spacy", "ssl", "thinc",
    "torch", "yaml",
}  # fmt: skip
LIST = "import sys; sys.argv = ['bookcoref-data', *{words!r}]\n" \
       "from bookcoref_data.cli import main\n" \
       "try: main()\n" \
       "finally: print(*sorted(sys.modules), file=sys.stderr)"  # fmt: skip
PARQUET = {"pyarrow", "ssl"}
"""pyarrow imports ssl, by way of cloudpickle and its file systems."""


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "needed"),
    [
        (["list"], set()),
        (["cite"], set()),
        (["show", "lamp"], PARQUET),
        (["evaluate", "-k", "s.jsonl", "-r", "s.jsonl"], set()),
        (["evaluate", "-k", "bookcoref", "-r", "bookcoref"], PARQUET),
        (["stats", "s.jsonl"], set()),
        (["convert", "s.jsonl", "s.conll"], set()),
        (["show", "--help"], set()),
        (["verify", "bookcoref"], PARQUET),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_small_command_imports_what_it_needs(built, words, needed):
    if not (built.cwd / "s.jsonl").exists():
        assert built.run("convert", "bookcoref", "s.jsonl").code == 0
    done = subprocess.run(
        [sys.executable, "-c", LIST.format(words=words)], cwd=built.cwd, env=built.env,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    imported = set(done.stderr.split())
    assert "bookcoref_data" in imported
    assert imported & HEAVY <= needed
