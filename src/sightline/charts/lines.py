"""Lines over a few numbers, one line a series, named at its end."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np
from markupsafe import Markup

from sightline.charts.look import COLOURS
from sightline.charts.marks import dot, drawing, figure, nothing
from sightline.charts.scale import decimals, place, span_of, ticks
from sightline.charts.writing import clean, number

Spot = Callable[[tuple[float, float]], tuple[float, float]]
WIDTH = 82
"""Percent of the width that the lines take; the names stand beside them."""


def lines(
    series: Mapping[str, Sequence[tuple[float, float]]],
    *,
    label: str,
    x_label: str,
    y_label: str,
    height: int = 300,
) -> Markup:
    """Each series' points joined, the value upward."""
    points = np.array([point for some in series.values() for point in some], float).reshape(-1, 2)
    if not len(points):
        return nothing(label)
    x_span, y_span = span_of(points[:, 0]), span_of(points[:, 1])

    def spot(point: tuple[float, float]) -> tuple[float, float]:
        across = 4 + (WIDTH - 4) * place(point[0], x_span) / 100
        return across, height * (1 - place(point[1], y_span) / 100)

    drawn: list[Markup] = []
    for tick in ticks(y_span, 4):
        y = spot((x_span[0], tick))[1]
        drawn.append(
            Markup(
                '<line class="axis" x1="0" x2="{}%" y1="{:.1f}" y2="{:.1f}"/><text x="0" y="{:.1f}" dy="-3">{}</text>'
            ).format(WIDTH, y, y, y, number(tick, decimals(y_span, 4)))
        )
    for value in sorted(set(points[:, 0].tolist())):
        x = spot((value, y_span[0]))[0]
        drawn.append(
            Markup('<text x="{:.2f}%" y="{}" text-anchor="middle">{}</text>').format(
                x, height + 15, f"{value:g}"
            )
        )
    ends = _apart({name: spot(max(some))[1] for name, some in series.items() if some}, height)
    for order, (name, some) in enumerate(series.items()):
        drawn.append(_line(name, sorted(some), order % COLOURS + 1, spot, ends.get(name, 0.0)))
    told = f"{label}: {len(series)} lines, {x_label} across, {y_label} upward"
    caption = f"{x_label} →  ·  ↑ {y_label}"
    return figure([drawing(drawn, height + 20, told)], caption=caption, label=label)


def _line(name: str, some: Sequence[tuple[float, float]], colour: int, spot: Spot, end: float) -> Markup:
    parts = []
    for one, other in pairwise(some):
        (x1, y1), (x2, y2) = spot(one), spot(other)
        parts.append(
            Markup('<line class="line" x1="{:.2f}%" x2="{:.2f}%" y1="{:.1f}" y2="{:.1f}"/>').format(
                x1, x2, y1, y2
            )
        )
    parts += [dot(x, y, 3.5, f"{name}: {number(point[1])}") for point in some for x, y in [spot(point)]]
    parts.append(
        Markup('<text class="named" x="{}%" y="{:.1f}" dx="6" dy="4">{}</text>').format(
            WIDTH, end, clean(name)
        )
    )
    return Markup('<g class="series-{}">{}</g>').format(colour, Markup("").join(parts))


def _apart(ends: Mapping[str, float], height: float, gap: float = 15.0) -> dict[str, float]:
    """Where the names stand: at their line's end, moved so that none covers another."""
    found: dict[str, float] = {}
    last = -gap
    for name, y in sorted(ends.items(), key=lambda one: one[1]):
        last = found[name] = max(y, last + gap)
    below = max(0.0, last - height)
    return {name: y - below for name, y in found.items()}
