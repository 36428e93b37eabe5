"""The page of a study: each criterion's chart and tables, and how it was measured."""

import math
import re
from collections.abc import Sequence

from markupsafe import Markup

from sightline import charts
from sightline.meta.evaluate import Evaluation
from sightline.meta.findings.words import (
    HEADLINES,
    PEOPLE,
    Findings,
    Value,
    comparison_table,
    criteria,
    method,
    numeric,
    reasons,
    table_of,
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


def findings_page(study: Findings) -> str:
    """One section a criterion, and how it was measured."""
    found = study.evaluation
    sections = []
    for criterion in criteria(found):
        body = _chart(study, criterion) + figures(*table_of(study, criterion))
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


def _chart(study: Findings, criterion: str) -> Markup:
    """The headline coefficient as bars, on the table's scale."""
    name = study.protocol.headline
    bars = _bars(study.evaluation, criterion, name)
    span = unit_span([v for bar in bars for v in (bar.value, bar.low, bar.high) if v is not None], 100)
    ends = f"on an axis from {page.number(span[0], 0)} to {page.number(span[1], 0)}"
    whiskers = "; whiskers: 95 % intervals" if any(bar.low is not None for bar in bars) else ""
    caption = f"{HEADLINES[name]} with {criterion}, times 100, {ends}{whiskers}"
    label = f"{HEADLINES[name]} with {criterion}"
    return charts.bars(bars, label=label, domain=span, digits=1, caption=caption)


def _bars(found: Evaluation, criterion: str, name: str) -> list[charts.Bar]:
    bars = [
        bar(row.metric, row.values[name], row.ci.get(name), 100)
        for row in found.rows
        if row.criterion == criterion
    ]
    people = found.agreement.get(criterion)
    return bars if people is None else [*bars, bar(PEOPLE, people.values.get(name), None, 100, series=2)]


def bar(
    name: str, value: float | None, ends: tuple[float, float] | None, times: float = 1, series: int = 1
) -> charts.Bar:
    if value is None:
        return charts.Bar(name, math.nan, series=series, text="not defined")
    low, high = (times * ends[0], times * ends[1]) if ends else (None, None)
    return charts.Bar(name, times * value, low, high, series=series)


def unit_span(values: Sequence[float], one: float) -> tuple[float, float]:
    """From zero, or from a round number below what is negative, to one."""
    low = min((value for value in values if math.isfinite(value)), default=0.0)
    return (0.0 if low >= 0 else math.floor(low * 10 / one) / 10 * one), one
