"""A table as a value: what a person reads, before anybody decides how to print it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A title, column heads and rows of cells (text, numbers or None)."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[Sequence[Any], ...]
