"""An experiment in words and cells: what the terminal, Markdown and the page have in common."""

from collections.abc import Mapping

from sightline.meta.correlation import NAMES
from sightline.meta.experiments.base import Cell, ExperimentTable
from sightline.meta.findings.words import TITLES, Value
from sightline.report.page import number


def cell(value: Cell) -> str:
    """An experiment's cell as text."""
    if value is None:
        return "–"
    return number(value, 4) if isinstance(value, float) else str(value)


def titled(column: str) -> str:
    """A column's name as people read it."""
    name = next((name for name in TITLES if column == name or column.startswith(f"{name} ")), None)
    return column.replace(name, TITLES[name]) if name else column


def compact(found: ExperimentTable, brief: bool = False) -> tuple[list[str], list[list[Value]]]:
    """An experiment's table with each interval in its value's cell, and reasons only where there are any.

    For a screen, `brief` leaves out coefficients that are not plotted.
    """
    ends = {plot.column: plot.interval for plot in found.plots if plot.interval}
    hidden = {name for pair in ends.values() for name in pair}
    if brief:
        hidden |= set(NAMES) - {plot.column for plot in found.plots}
    rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
    if not any(row.get("why") for row in rows):
        hidden.add("why")
    shown = [column for column in found.columns if column not in hidden]
    return [titled(column) for column in shown], [
        [_value(row, c, ends.get(c)) for c in shown] for row in rows
    ]


def _value(row: Mapping[str, Cell], column: str, ends: tuple[str, str] | None) -> Value:
    low, high = (row[name] for name in ends) if ends else (None, None)
    text = row[column] or "" if column == "why" else cell(row[column])
    return str(text), "" if low is None else f"[{cell(low)}, {cell(high)}]"
