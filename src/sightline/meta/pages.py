"""The pages of `sightline meta`: a study's report, and an experiment's with its plots."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from sightline import charts
from sightline.charts import COLOURS, lines
from sightline.meta.correlation import NAMES
from sightline.meta.evaluate import Evaluation
from sightline.meta.experiment import Plot
from sightline.meta.experiment import Table as Experimented
from sightline.meta.texts import (
    PEOPLE,
    TITLES,
    Study,
    Value,
    compact,
    comparison_table,
    criteria,
    method,
    numeric,
    reasons,
    table_of,
    titled,
)
from sightline.report import page

STYLE = """
.chart { margin: 0 0 1.6rem; }
.figures td, .figures thead th:not(:first-child) { text-align: right; }
.figures td { white-space: nowrap; }
.figures td:not(.number) { min-width: 0; }
.figures td small { display: block; color: var(--muted); }
.figures + .figures { margin-top: 1.6rem; }
.panel-title { margin: 0.4rem 0 0.6rem; }
""" + "".join(
    f".figures.words-{place} tr > :nth-child({place}) {{ text-align: left; white-space: normal; }}\n"
    for place in range(2, 20)
)


def study_page(study: Study) -> str:
    """One section a criterion, and how it was measured."""
    found = study.evaluation
    sections = []
    for criterion in criteria(found):
        body = _study_chart(study, criterion) + figures(*table_of(study, criterion))
        heads, pairs = comparison_table(study, criterion)
        if pairs:
            body += figures(heads, pairs)
        why = "".join(f"{reason}. " for reason in reasons(found, criterion))
        sections.append(page.Section(f"Against people: {criterion}", body, intro=why.strip()))
    about = [
        ("protocol", study.protocol.name),
        ("source", study.protocol.source),
        ("rows kept", study.protocol.keeps),
        ("method", method(study)),
        *((f"note {number}", note) for number, note in enumerate(found.notes, 1)),
        *study.signatures.items(),
    ]
    sections.append(page.Section("How this was measured", page.definitions(about)))
    return page.render(f"Metrics against people: {study.protocol.name}", sections, style=STYLE)


def figures(heads: Sequence[str], rows: Sequence[Sequence[Value]]) -> Markup:
    """A table of numbers, each with its interval below it."""
    cells = [[_breakable(row[0][0]), *map(_stacked, row[1:])] for row in rows]
    words = " ".join(f"words-{place + 1}" for place in range(1, len(heads)) if not numeric(rows, place))
    return Markup('<div class="figures {}">{}</div>').format(words, page.table(heads, cells))


def _breakable(name: str) -> Markup:
    """A metric with options may go over to the next line after a colon or a comma."""
    return Markup("<wbr>").join(re.split(r"(?<=[:,])", page.clean(name)))


def _stacked(value: Value) -> Markup:
    text, ends = (page.clean(part) for part in value)
    return Markup("{}<small>{}</small>").format(text, ends) if ends else Markup("{}").format(text)


def _study_chart(study: Study, criterion: str) -> Markup:
    """The headline coefficient as bars, on the table's scale."""
    name = study.protocol.headline
    bars = _bars(study.evaluation, criterion, name)
    span = _unit_span([v for bar in bars for v in (bar.value, bar.low, bar.high) if v is not None], 100)
    ends = f"on an axis from {page.number(span[0], 0)} to {page.number(span[1], 0)}"
    whiskers = "; whiskers: 95 % intervals" if any(bar.low is not None for bar in bars) else ""
    caption = f"{TITLES[name]} with {criterion}, times 100, {ends}{whiskers}"
    label = f"{TITLES[name]} with {criterion}"
    return charts.bars(bars, label=label, domain=span, digits=1, caption=caption)


def _bars(found: Evaluation, criterion: str, name: str) -> list[charts.Bar]:
    bars = [
        _bar(row.metric, row.correlation.values[name], row.ci.get(name), 100)
        for row in found.rows
        if row.criterion == criterion
    ]
    people = found.agreement.get(criterion)
    return bars if people is None else [*bars, _bar(PEOPLE, people.values[name], None, 100, series=2)]


def _bar(
    name: str, value: float | None, ends: tuple[float, float] | None, times: float = 1, series: int = 1
) -> charts.Bar:
    if value is None:
        return charts.Bar(name, math.nan, series=series, text="not defined")
    low, high = (times * ends[0], times * ends[1]) if ends else (None, None)
    return charts.Bar(name, times * value, low, high, series=series)


def _unit_span(values: Sequence[float], one: float) -> tuple[float, float]:
    """From zero, or from a round number below what is negative, to one."""
    low = min((value for value in values if math.isfinite(value)), default=0.0)
    return (0.0 if low >= 0 else math.floor(low * 10 / one) / 10 * one), one


def experiment_page(found: Experimented) -> str:
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
        bars[said] = _bar(said, row[plot.column], ends if None not in ends else None, series=series)
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
        return _unit_span(values, 1.0)
    low, high = min([0.0, *values]), max([0.0, *values])
    return 1.25 * low, 1.25 * high if high > low else low + 1.0
