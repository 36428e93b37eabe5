"""Charts as inline SVG for `page`: they fill the width they are given and take colours from its style sheet.

Each function returns `Markup` for a page's section. Every chart has a text for those who cannot see it.
Horizontal places are percentages, so that a chart stretches while its text does not.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup, escape
from numpy.typing import NDArray

from sightline.report.page import clean, number

Values = NDArray[np.float64]
Span = tuple[float, float]

FEW = 60
"""Up to so many values are drawn as single dots; more as quantiles only."""


def histogram(
    values: Sequence[float],
    *,
    label: str,
    bins: int = 28,
    height: int = 96,
    mean: bool = True,
    series: int = 1,
) -> Markup:
    """How values are distributed. Each bar carries `data-low` and `data-high`, for a script to filter by."""
    finite = _finite(values)
    if not len(finite):
        return _nothing(label)
    counts, edges = np.histogram(finite, bins=bins, range=_span(finite))
    domain = (float(edges[0]), float(edges[-1]))
    top = int(counts.max())
    bars = [
        Markup(
            '<rect class="bar" x="{:.3f}%" width="{:.3f}%" y="{:.2f}" height="{:.2f}"'
            ' data-low="{:.6g}" data-high="{:.6g}">'
            "<title>{} to {}: {}</title></rect>"
        ).format(
            _place(low, domain) + 0.12, _place(high, domain) - _place(low, domain) - 0.24,
            height - tall, tall,
            low, high, number(float(low)), number(float(high)), number(int(count)),
        )
        for low, high, count in zip(edges, edges[1:], counts, strict=False)
        if count and (tall := max(1.5, (height - 6) * count / top))
    ]  # fmt: skip
    average = float(finite.mean())
    marks = [_vertical(_place(average, domain), 0, height, "mark", f"mean {number(average)}")] if mean else []
    low, middle, high = (number(float(q)) for q in np.quantile(finite, (0, 0.5, 1)))
    told = (
        f"{label}: {number(len(finite))} values from {low} to {high}, median {middle}, mean {number(average)}"
    )
    return _figure([_svg([*bars, *marks, *_axis(domain, height)], height + 20, told)], series=series)


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
    found = {name: _finite(values) for name, values in groups.items()}
    everything = np.concatenate([*found.values(), np.zeros(0)])
    if not len(everything):
        return _nothing(label)
    span = domain or _span(everything)
    rows = [_strip(name, values, span) for name, values in found.items()]
    rows.append(_row("", _svg(_axis(span, 0, about=4), 20, ""), "mean"))
    return _rows(rows, label=label, series=series)


def _strip(name: str, values: Values, span: Span) -> Markup:
    if not len(values):
        return _row(name, _svg([], 24, f"{name}: no values"), "–")
    low, first, middle, third, high = (float(q) for q in np.quantile(values, (0.05, 0.25, 0.5, 0.75, 0.95)))
    told = f"{name}: median {number(middle)}, half between {number(first)} and {number(third)}"
    drawn = [
        _horizontal(_place(low, span), _place(high, span), 12, "whisker"),
        Markup('<rect class="box" x="{:.3f}%" width="{:.3f}%" y="5" height="14" rx="2"/>').format(
            _place(first, span), max(0.2, _place(third, span) - _place(first, span))
        ),
    ]
    if len(values) <= FEW:  # sine keeps dots of equal values apart, the same way every time
        drawn += [_dot(_place(float(v), span), 12 + 4 * math.sin(7.0 * n), 2.4) for n, v in enumerate(values)]
    drawn.append(_vertical(_place(middle, span), 3, 21, "median"))
    return _row(name, _svg(drawn, 24, f"{told}, n = {number(len(values))}"), number(float(values.mean())))


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
        return _nothing(label)
    span = domain or _span(np.array([0.0, *numbers]))
    return _rows([_bar(row, span, digits, mark) for row in rows], label=label, caption=caption)


def _bar(row: Bar, span: Span, digits: int, mark: float | None = None) -> Markup:
    told = f"{row.name}: {number(row.value, digits)}"
    drawn: list[Markup] = []
    if math.isfinite(row.value):
        zero = min(max(0.0, span[0]), span[1])
        start, end = sorted((_place(zero, span), _place(row.value, span)))
        bar = '<rect class="bar series-{}" x="{:.3f}%" width="{:.3f}%" y="4" height="14" rx="2"/>'
        drawn.append(Markup(bar).format(row.series, start, max(end - start, 0.3)))
    if row.low is not None and row.high is not None and math.isfinite(row.low + row.high):
        told += f", between {number(row.low, digits)} and {number(row.high, digits)}"
        left, right = _place(row.low, span), _place(row.high, span)
        drawn += [
            _horizontal(left, right, 11, "error"),
            *(_vertical(x, 7, 15, "error") for x in (left, right)),
        ]
    if span[0] < 0 < span[1]:
        drawn.append(_vertical(_place(0.0, span), 0, 22, "axis"))
    if mark is not None:
        drawn.append(_vertical(_place(mark, span), 0, 22, "mark", number(mark)))
    return _row(row.name, _svg(drawn, 22, told), row.text or number(row.value, digits))


def scatter(
    x: Sequence[float],
    y: Sequence[float],
    *,
    label: str,
    x_label: str,
    y_label: str,
    names: Sequence[str] | None = None,
    height: int = 260,
    series: int = 1,
) -> Markup:
    """Points. Many points are thinned to 2,000, evenly over their order, and the caption says so."""
    across, up = np.asarray(x, float), np.asarray(y, float)
    there = np.flatnonzero(np.isfinite(across) & np.isfinite(up))
    if not len(there):
        return _nothing(label)
    shown = there[np.linspace(0, len(there) - 1, min(len(there), 2000)).astype(int)]
    x_span, y_span = _span(across[there]), _span(up[there])
    dots = [
        _dot(
            _place(float(across[i]), x_span),
            height * (1 - _place(float(up[i]), y_span) / 100),
            3,
            names[i] if names else "",
        )
        for i in shown
    ]
    ticks = [
        Markup(
            '<text x="0" y="{:.1f}" dx="4" dy="-3">{}</text>'
            '<line class="axis" x1="0" x2="100%" y1="{:.1f}" y2="{:.1f}"/>'
        ).format(spot, number(tick, _digits(y_span, 4)), spot, spot)
        for tick in _ticks(y_span, 4)
        if (spot := height * (1 - _place(tick, y_span) / 100)) is not None
    ]
    told = f"{label}: {number(len(there))} points, {x_label} across, {y_label} upward"
    caption = f"{x_label} →  ·  ↑ {y_label}"
    if len(shown) < len(there):
        caption += f"  ·  {number(len(shown))} of {number(len(there))} points drawn"
    return _figure(
        [_svg([*ticks, *dots, *_axis(x_span, height)], height + 20, told)], series=series, caption=caption
    )


def _finite(values: Sequence[float]) -> Values:
    found = np.asarray(values, np.float64).reshape(-1)
    return found[np.isfinite(found)]


def _span(values: Values) -> Span:
    low, high = float(values.min()), float(values.max())
    size = max(abs(low), abs(high))
    apart = high - low > max(1e-12 * size, 1e-300)  # further than numbers of this size can be told apart
    pad = (high - low) * 0.02 if apart else max(size * 0.1, 0.05)
    return low - pad, high + pad


def _place(value: float, span: Span) -> float:
    """Where a value lies, in percent of the width."""
    return 100 * min(max((value - span[0]) / (span[1] - span[0]), 0.0), 1.0)


def _ticks(span: Span, about: int = 5) -> list[float]:
    step = _step(span, about)
    first = math.ceil(span[0] / step)
    return [n * step for n in range(first, math.floor(span[1] / step) + 1)]


def _step(span: Span, about: int) -> float:
    """A round distance between ticks."""
    rough = (span[1] - span[0]) / about
    size = 10.0 ** math.floor(math.log10(rough))
    return next(size * k for k in (1, 2, 5, 10) if size * k >= rough * 0.999)


def _digits(span: Span, about: int = 5) -> int:
    """Decimals that tell neighbouring ticks apart."""
    return max(0, min(6, -math.floor(math.log10(_step(span, about) * 1.001))))


def _axis(span: Span, y: float, about: int = 5) -> list[Markup]:
    line = Markup('<line class="axis" x1="0" x2="100%" y1="{:.1f}" y2="{:.1f}"/>').format(y + 0.5, y + 0.5)
    digits = _digits(span, about)
    texts = [
        Markup('<text x="{:.3f}%" y="{:.1f}" text-anchor="{}">{}</text>').format(
            spot, y + 15, "start" if spot < 6 else "end" if spot > 94 else "middle", number(tick, digits)
        )
        for tick in _ticks(span, about)
        if (spot := _place(tick, span)) is not None
    ]
    return [line, *texts]


def _vertical(x: float, top: float, bottom: float, kind: str, title: str = "") -> Markup:
    inner = Markup("<title>{}</title>").format(title) if title else Markup("")
    return Markup('<line class="{}" x1="{:.3f}%" x2="{:.3f}%" y1="{:.1f}" y2="{:.1f}">{}</line>').format(
        kind, x, x, top, bottom, inner
    )


def _horizontal(left: float, right: float, y: float, kind: str) -> Markup:
    return Markup('<line class="{}" x1="{:.3f}%" x2="{:.3f}%" y1="{}" y2="{}"/>').format(
        kind, left, right, y, y
    )


def _dot(x: float, y: float, radius: float, title: str = "") -> Markup:
    inner = Markup("<title>{}</title>").format(clean(title)) if title else Markup("")
    return Markup('<circle class="dot" cx="{:.3f}%" cy="{:.1f}" r="{}">{}</circle>').format(
        x, y, radius, inner
    )


def _svg(parts: Sequence[Markup], height: int, told: str) -> Markup:
    role = Markup('role="img" aria-label="{}"').format(clean(told)) if told else Markup('aria-hidden="true"')
    return Markup('<svg height="{}" {}>{}</svg>').format(height, role, Markup("").join(parts))


def _row(name: str, chart: Markup, value: str) -> Markup:
    return Markup('<span class="name" dir="auto">{}</span>{}<span class="value">{}</span>').format(
        clean(name), chart, clean(value)
    )


def _rows(rows: Sequence[Markup], *, label: str, series: int = 1, caption: str = "") -> Markup:
    grid = Markup('<div class="rows">{}</div>').format(Markup("").join(rows))
    return _figure([grid], series=series, label=label, caption=caption)


def _figure(parts: Sequence[Markup], *, series: int = 1, caption: str = "", label: str = "") -> Markup:
    below = Markup("<figcaption>{}</figcaption>").format(clean(caption)) if caption else Markup("")
    named = Markup(' role="group" aria-label="{}"').format(clean(label)) if label else Markup("")
    return Markup('<figure class="chart series-{}"{}>{}{}</figure>').format(
        series, named, Markup("").join(parts), below
    )


def _nothing(label: str) -> Markup:
    return Markup('<p class="quiet">{}: nothing to draw.</p>').format(escape(clean(label)))
