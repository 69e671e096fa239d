"""One way to print the values of a table: for the terminal, cards, notebooks and reports."""

from collections.abc import Iterable


def cell_text(value: object) -> str:
    """A value as text: nothing as "-", two decimals, thousands separated."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.2f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value)


def markdown_row(values: Iterable[object]) -> str:
    """A row of a Markdown table: no bar and no line end in a cell."""
    cells = (cell_text(value).replace("|", "\\|").replace("\n", " ") for value in values)
    return "| " + " | ".join(cells) + " |"
