"""Figures of one row a name: bars, strips and intervals, each with its number at the end."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from sightline.charts.marks import axis, dot, drawing, horizontal, named_row, nothing, row_grid, vertical
from sightline.charts.scale import Span, Values, finite, place, span_of
from sightline.charts.writing import number

FEW = 60
"""Up to so many values are drawn as single dots; more as quantiles only."""


def strips(
    groups: Mapping[str, Sequence[float]],
    *,
    label: str,
    series: int = 1,
    domain: Span | None = None,
) -> Markup:
    """One row per group: 5-95 % as a line, 25-75 % as a box, the median as a tick, dots where values are few.

    The number at the end of a row is the group's mean.
    """
    found = {name: finite(values) for name, values in groups.items()}
    everything = np.concatenate([*found.values(), np.zeros(0)])
    if not len(everything):
        return nothing(label)
    span = domain or span_of(everything)
    rows = [_strip(name, values, span) for name, values in found.items()]
    rows.append(named_row("", drawing(axis(span, 0, about=4), 20, ""), "mean"))
    return row_grid(rows, label=label, series=series)


def _strip(name: str, values: Values, span: Span) -> Markup:
    if not len(values):
        return named_row(name, drawing([], 24, f"{name}: no values"), "–")
    low, first, middle, third, high = (float(q) for q in np.quantile(values, (0.05, 0.25, 0.5, 0.75, 0.95)))
    told = f"{name}: median {number(middle)}, half between {number(first)} and {number(third)}"
    drawn = [
        horizontal(place(low, span), place(high, span), 12, "whisker"),
        Markup('<rect class="box" x="{:.3f}%" width="{:.3f}%" y="5" height="14" rx="2"/>').format(
            place(first, span), max(0.2, place(third, span) - place(first, span))
        ),
    ]
    if len(values) <= FEW:  # sine keeps dots of equal values apart, the same way every time
        drawn += [dot(place(float(v), span), 12 + 4 * math.sin(7.0 * n), 2.4) for n, v in enumerate(values)]
    drawn.append(vertical(place(middle, span), 3, 21, "median"))
    return named_row(
        name, drawing(drawn, 24, f"{told}, n = {number(len(values))}"), number(float(values.mean()))
    )


@dataclass(frozen=True)
class Bar:
    """One row of a bar chart; `low` and `high` draw an interval around the value."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    series: int = 1
    text: str | None = None
    """What stands at the end of the row instead of the number."""


def bars(
    rows: Sequence[Bar],
    *,
    label: str,
    domain: Span | None = None,
    digits: int = 3,
    caption: str = "",
    mark: float | None = None,
) -> Markup:
    """A horizontal bar per row from zero, with intervals where given; `mark` is a value to hold them against."""
    numbers = [
        v for row in rows for v in (row.value, row.low, row.high) if v is not None and math.isfinite(v)
    ]
    if not numbers:
        return nothing(label)
    span = domain or span_of(np.array([0.0, *numbers]))
    return row_grid([_bar(row, span, digits, mark) for row in rows], label=label, caption=caption)


def _bar(row: Bar, span: Span, digits: int, mark: float | None = None) -> Markup:
    told = f"{row.name}: {number(row.value, digits)}"
    drawn: list[Markup] = []
    if math.isfinite(row.value):
        zero = min(max(0.0, span[0]), span[1])
        start, end = sorted((place(zero, span), place(row.value, span)))
        bar = '<rect class="bar series-{}" x="{:.3f}%" width="{:.3f}%" y="4" height="14" rx="2"/>'
        drawn.append(Markup(bar).format(row.series, start, max(end - start, 0.3)))
    if row.low is not None and row.high is not None and math.isfinite(row.low + row.high):
        told += f", between {number(row.low, digits)} and {number(row.high, digits)}"
        left, right = place(row.low, span), place(row.high, span)
        drawn += [
            horizontal(left, right, 11, "error"),
            *(vertical(x, 7, 15, "error") for x in (left, right)),
        ]
    if span[0] < 0 < span[1]:
        drawn.append(vertical(place(0.0, span), 0, 22, "axis"))
    if mark is not None:
        drawn.append(vertical(place(mark, span), 0, 22, "mark", number(mark)))
    return named_row(row.name, drawing(drawn, 22, told), row.text or number(row.value, digits))


def forest(
    rows: Sequence[Bar],
    *,
    label: str,
    domain: Span | None = None,
    digits: int = 3,
    caption: str = "",
    zero: float = 0.0,
) -> Markup:
    """A point with its interval per row, and an axis below; the line at `zero` is what no difference would be."""
    numbers = [
        v for row in rows for v in (row.value, row.low, row.high) if v is not None and math.isfinite(v)
    ]
    if not numbers:
        return nothing(label)
    span = domain or span_of(np.array([zero, *numbers]))
    drawn = [_point(row, span, digits, zero) for row in rows]
    drawn.append(named_row("", drawing(axis(span, 0, about=4), 20, ""), ""))
    return row_grid(drawn, label=label, caption=caption)


def _point(row: Bar, span: Span, digits: int, zero: float) -> Markup:
    told = f"{row.name}: {number(row.value, digits)}"
    drawn = [vertical(place(zero, span), 0, 22, "axis")]
    if row.low is not None and row.high is not None and math.isfinite(row.low + row.high):
        told += f", between {number(row.low, digits)} and {number(row.high, digits)}"
        drawn.append(horizontal(place(row.low, span), place(row.high, span), 11, "interval"))
    if math.isfinite(row.value):
        drawn.append(dot(place(row.value, span), 11, 4.5, told))
    colored = Markup('<g class="series-{}">{}</g>').format(row.series, Markup("").join(drawn))
    return named_row(row.name, drawing([colored], 22, told), row.text or number(row.value, digits))
