"""BookNLP's output for any number of books."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .. import booknlp
from ..conversion_report import ConversionReport
from .reading import DEFAULT_SPLIT, Found, Tokenise, files_below


def read(path: Path, report: ConversionReport, tokenise: Tokenise) -> Iterator[Found]:
    """Each book of which there is a `.tokens` file; the others have no tokens and are left out."""
    for file in files_below(path, ".tokens"):
        for record in booknlp.read(file, report=report):
            yield Found(DEFAULT_SPLIT, record)
