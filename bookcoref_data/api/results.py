"""What the verbs return: a short line to look at, a table, and the document that `--json` prints."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from .tables import Table

if TYPE_CHECKING:
    import pandas
    import polars


class Result(ABC):
    """What a verb found or did. Printing it shows one line, a notebook its table."""

    @property
    @abstractmethod
    def table(self) -> Table:
        """The result as a table."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """The same document as the command line prints with `--json`."""

    @abstractmethod
    def _line(self) -> str:
        """What `repr` says of it."""

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a data frame of pandas (which must be installed)."""
        return self.table.to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """The table as a data frame of polars (which must be installed)."""
        return self.table.to_polars()

    def to_markdown(self) -> str:
        """The table in Markdown."""
        return self.table.to_markdown()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._line()}>"

    def _repr_html_(self) -> str:
        return self.table._repr_html_()
