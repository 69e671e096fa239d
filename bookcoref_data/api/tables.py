"""What the verbs return: a table (pyarrow, pandas, polars, dicts, Markdown, HTML one call away), or a result
with a short line to look at, a table, and the document that `--json` prints."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, overload

from ..formats.cells import cell_text, markdown_row
from ..late import pa, pl

if TYPE_CHECKING:
    import pandas
    from typing_extensions import TypeVar

    R = TypeVar("R", bound=Mapping[str, Any], default=Mapping[str, Any])
else:
    from typing import TypeVar

    R = TypeVar("R")

_SHOWN = 10


class Table(Generic[R]):
    """Columns of equal length, by name. Iterating gives one dict per row, or an object of the class `row`.

    Rows are found by number (`table[0]`, `table[:5]` is a table), columns by name (`table["text"]`, a list).
    """

    def __init__(self, columns: Mapping[str, Sequence[Any]], row: Callable[..., R] | None = None) -> None:
        self._row_of: Callable[..., Any] = row or dict
        self._columns = {name: list(values) for name, values in columns.items()}
        lengths = {len(values) for values in self._columns.values()}
        if len(lengths) > 1:
            raise ValueError(f"columns of different lengths: {sorted(lengths)}")
        self._length = lengths.pop() if lengths else 0

    @classmethod
    def of_rows(
        cls, columns: Sequence[str], rows: Sequence[Sequence[Any]], row: Callable[..., R] | None = None
    ) -> Table[R]:
        """A table from its rows."""
        return cls({name: [values[i] for values in rows] for i, name in enumerate(columns)}, row)

    @staticmethod
    def of_dicts(rows: Iterable[Mapping[str, Any]]) -> Table:
        """A table from dicts; a row that lacks a column has None there."""
        rows = list(rows)
        columns = dict.fromkeys(name for row in rows for name in row)
        return Table({name: [row.get(name) for row in rows] for name in columns})

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._columns)

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[R]:
        return (self[i] for i in range(self._length))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and self._columns == other._columns

    __hash__ = None  # type: ignore[assignment]

    @overload
    def __getitem__(self, key: int) -> R: ...
    @overload
    def __getitem__(self, key: str) -> list[Any]: ...
    @overload
    def __getitem__(self, key: slice) -> Table[R]: ...
    def __getitem__(self, key: int | str | slice) -> Any:
        if isinstance(key, str):
            return list(self._columns[key])
        if isinstance(key, slice):
            return Table({name: values[key] for name, values in self._columns.items()}, self._row_of)
        if not -self._length <= key < self._length:
            raise IndexError(f"row {key} of a table of {self._length}")
        return self._row_of(**self._values(key))

    def where(self, column: str, value: object) -> Table[R]:
        """The rows in which a column has this value."""
        places = [i for i, found in enumerate(self._columns[column]) if found == value]
        kept = {name: [values[i] for i in places] for name, values in self._columns.items()}
        return Table(kept, self._row_of)

    def _values(self, number: int) -> dict[str, Any]:
        return {name: values[number] for name, values in self._columns.items()}

    def to_arrow(self) -> pa.Table:
        """The table for pyarrow."""
        return pa.table(self._columns)

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a data frame of pandas (which must be installed)."""
        frame: pandas.DataFrame = self.to_arrow().to_pandas()
        return frame

    def to_polars(self) -> pl.DataFrame:
        """The table as a data frame of polars (which must be installed)."""
        return pl.DataFrame(self.to_arrow())

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict per row."""
        return [self._values(i) for i in range(self._length)]

    def to_dict(self) -> dict[str, list[Any]]:
        """One list per column."""
        return {name: list(values) for name, values in self._columns.items()}

    def to_markdown(self) -> str:
        """The whole table in Markdown."""
        lines = ["| " + " | ".join(self._columns) + " |", "|" + "---|" * len(self._columns)]
        for row in self:
            lines.append(markdown_row(row.values()))
        return "\n".join(lines)

    def __repr__(self) -> str:
        names = list(self._columns)
        more = f" and {len(names) - _SHOWN} more columns" if len(names) > _SHOWN else ""
        return f"<Table of {self._length:,} rows: {', '.join(names[:_SHOWN])}{more}>"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self._columns)
        shown = (self._values(i).values() for i in range(min(self._length, _SHOWN)))
        cells = ("".join(f"<td>{escape(cell_text(value))}</td>" for value in row) for row in shown)
        rows = "".join(f"<tr>{row}</tr>" for row in cells)
        more = f"<p>{self._length:,} rows, the first {_SHOWN} shown</p>" if self._length > _SHOWN else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}"


class TypedRow(Mapping[str, Any]):
    """A row whose columns are attributes as well: `row.text` and `row["text"]` are the same."""

    __slots__ = ()

    def __getitem__(self, name: str) -> Any:
        if name not in vars(type(self))["__dataclass_fields__"]:
            raise KeyError(name)
        return getattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(vars(type(self))["__dataclass_fields__"])

    def __len__(self) -> int:
        return len(vars(type(self))["__dataclass_fields__"])

    def __hash__(self) -> int:
        return hash(tuple(self.values()))


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

    def to_polars(self) -> pl.DataFrame:
        """The table as a data frame of polars (which must be installed)."""
        return self.table.to_polars()

    def to_markdown(self) -> str:
        """The table in Markdown."""
        return self.table.to_markdown()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._line()}>"

    def _repr_html_(self) -> str:
        return self.table._repr_html_()


class Reported(Result):
    """A result with the whole report of the run: `report`."""

    def __init__(self, report: Any) -> None:
        self.report = report

    @property
    def out(self) -> Path:
        """The folder or file that was written."""
        return Path(self.report.out)

    @property
    def failed(self) -> dict[str, str]:
        """Books that could not be made, with the reason."""
        return {key: str(error) for key, error in self.report.failed.items()}

    @property
    def problems(self) -> list[tuple[str, str]]:
        """What could not be read, and why."""
        return list(self.report.problems)

    def to_dict(self) -> dict[str, Any]:
        return dict(self.report.to_dict())
