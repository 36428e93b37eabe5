"""Points on two axes."""

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from sightline.charts.marks import axis, dot, drawing, figure, nothing
from sightline.charts.scale import decimals, place, span_of, ticks
from sightline.charts.writing import number


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
        return nothing(label)
    shown = there[np.linspace(0, len(there) - 1, min(len(there), 2000)).astype(int)]
    x_span, y_span = span_of(across[there]), span_of(up[there])
    dots = [
        dot(
            place(float(across[i]), x_span),
            height * (1 - place(float(up[i]), y_span) / 100),
            3,
            names[i] if names else "",
        )
        for i in shown
    ]
    levels = [
        Markup(
            '<text x="0" y="{:.1f}" dx="4" dy="-3">{}</text>'
            '<line class="axis" x1="0" x2="100%" y1="{:.1f}" y2="{:.1f}"/>'
        ).format(spot, number(tick, decimals(y_span, 4)), spot, spot)
        for tick in ticks(y_span, 4)
        if (spot := height * (1 - place(tick, y_span) / 100)) is not None
    ]
    told = f"{label}: {number(len(there))} points, {x_label} across, {y_label} upward"
    caption = f"{x_label} →  ·  ↑ {y_label}"
    if len(shown) < len(there):
        caption += f"  ·  {number(len(shown))} of {number(len(there))} points drawn"
    return figure(
        [drawing([*levels, *dots, *axis(x_span, height)], height + 20, told)], series=series, caption=caption
    )
