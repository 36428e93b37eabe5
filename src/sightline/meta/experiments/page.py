"""The page of an experiment: its plots, then its table."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from sightline import charts
from sightline.charts import COLOURS, lines
from sightline.meta.correlation import NAMES
from sightline.meta.experiments.base import ExperimentTable, Plot
from sightline.meta.experiments.words import compact, titled
from sightline.meta.findings.page import STYLE, bar, figures, unit_span
from sightline.report import page


def experiment_page(found: ExperimentTable) -> str:
    """An experiment's plots, then its table."""
    rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
    sections = [
        page.Section(plot.title or _plot_title(plot.column), _panels(plot, rows, found.columns))
        for plot in found.plots
    ]
    intro = " ".join(f"{note}." for note in found.notes)
    sections.append(page.Section("Table", figures(*compact(found)), intro=intro, wide=True))
    return page.render(found.title, sections, style=STYLE)


def _plot_title(column: str) -> str:
    named = {"difference": "Original less best random", "win rate": "Win rate"}
    return named.get(column) or titled(column)


def _panels(plot: Plot, rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> Markup:
    """One drawing a criterion where there are several."""
    if plot.once or columns[0] == "criterion" or "criterion" not in columns:
        return _drawn(plot, rows, columns[0])
    found = list(dict.fromkeys(row["criterion"] for row in rows))
    body = Markup("")
    for criterion in found:
        own = [row for row in rows if row["criterion"] == criterion]
        if len(found) > 1:
            body += Markup('<h3 class="panel-title">{}</h3>').format(page.clean(str(criterion)))
        body += _drawn(plot, own, columns[0])
    return body


def _drawn(plot: Plot, rows: Sequence[Mapping[str, Any]], first: str) -> Markup:
    if plot.across and plot.colour:
        return _lines(plot, rows, plot.across, plot.colour)
    return _rows_of_bars(plot, rows, first)


def _lines(plot: Plot, rows: Sequence[Mapping[str, Any]], across: str, colour: str) -> Markup:
    """Lines over a column of numbers, no more in one drawing than there are colours."""
    series: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        if (value := row[plot.column]) is not None:
            series.setdefault(str(row[colour]), []).append((float(row[across]), float(value)))
    title, names = titled(plot.column), list(series)
    parts = [names[start : start + COLOURS] for start in range(0, max(len(names), 1), COLOURS)]
    return Markup("").join(
        lines({name: series[name] for name in part}, label=title, x_label=across, y_label=title)
        for part in parts
    )


def _rows_of_bars(plot: Plot, rows: Sequence[Mapping[str, Any]], first: str) -> Markup:
    """Bars with whiskers, those of one name together; what is not defined keeps its row."""
    colours = list(dict.fromkeys(row[plot.colour] for row in rows)) if plot.colour else []
    names = plot.named or (first,)
    order = list(dict.fromkeys(row[names[0]] for row in rows))
    bars: dict[str, charts.Bar] = {}
    for row in sorted(rows, key=lambda row: order.index(row[names[0]])):
        ends = tuple(row[name] for name in plot.interval) if plot.interval else ()
        said = ", ".join(str(row[n]) if isinstance(row[n], str) else f"{n} {row[n]}" for n in names)
        series = colours.index(row[plot.colour]) % COLOURS + 1 if plot.colour else 1
        bars[said] = bar(said, row[plot.column], ends if None not in ends else None, series=series)
    drawn = list(bars.values())
    span = plot.span or _span(plot.column, drawn)
    caption = (
        f"{_plot_title(plot.column)}, on an axis from {page.number(span[0], 2)} to {page.number(span[1], 2)}"
    )
    if any(bar.low is not None for bar in drawn):
        caption += "; whiskers: 95 % intervals"
    if plot.mark is not None:
        caption += f"; dashed: {plot.mark:g}"
    label = _plot_title(plot.column)
    return charts.bars(drawn, label=label, domain=span, caption=caption, mark=plot.mark)


def _span(column: str, bars: Sequence[charts.Bar]) -> tuple[float, float]:
    """To one for a coefficient; else a quarter beyond the largest, so that one bar alone is still a bar."""
    values = [v for bar in bars for v in (bar.value, bar.low, bar.high) if v is not None and math.isfinite(v)]
    if column in NAMES:
        return unit_span(values, 1.0)
    low, high = min([0.0, *values]), max([0.0, *values])
    return 1.25 * low, 1.25 * high if high > low else low + 1.0
