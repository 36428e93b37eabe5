"""Histograms: of values, and of several series side by side on one scale."""

from collections.abc import Mapping, Sequence

import numpy as np
from markupsafe import Markup

from sightline.charts.marks import axis, drawing, figure, nothing, vertical
from sightline.charts.scale import finite, place, span_of
from sightline.charts.writing import clean, number


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
    found = finite(values)
    if not len(found):
        return nothing(label)
    counts, edges = np.histogram(found, bins=bins, range=span_of(found))
    domain = (float(edges[0]), float(edges[-1]))
    top = int(counts.max())
    bars = [
        Markup(
            '<rect class="bar" x="{:.3f}%" width="{:.3f}%" y="{:.2f}" height="{:.2f}"'
            ' data-low="{:.6g}" data-high="{:.6g}">'
            "<title>{} to {}: {}</title></rect>"
        ).format(
            place(low, domain) + 0.12, place(high, domain) - place(low, domain) - 0.24,
            height - tall, tall,
            low, high, number(float(low)), number(float(high)), number(int(count)),
        )
        for low, high, count in zip(edges, edges[1:], counts, strict=False)
        if count and (tall := max(1.5, (height - 6) * count / top))
    ]  # fmt: skip
    average = float(found.mean())
    marks = [vertical(place(average, domain), 0, height, "mark", f"mean {number(average)}")] if mean else []
    low, middle, high = (number(float(q)) for q in np.quantile(found, (0, 0.5, 1)))
    told = (
        f"{label}: {number(len(found))} values from {low} to {high}, median {middle}, mean {number(average)}"
    )
    return figure([drawing([*bars, *marks, *axis(domain, height)], height + 20, told)], series=series)


def grouped(
    counts: Mapping[str, Sequence[float]], names: Sequence[str], *, label: str, height: int = 120
) -> Markup:
    """For each bin a bar of every series, all of one height scale; `names` are the bins' texts below them."""
    top = max((value for series in counts.values() for value in series), default=0)
    if not top or not names:
        return Markup('<p class="quiet">{}: nothing to draw.</p>').format(clean(label))
    room, series = 100 / len(names), list(counts)
    wide = room * 0.84 / len(series)
    drawn: list[Markup] = []
    for at, name in enumerate(names):
        for order, one in enumerate(series):
            value = float(counts[one][at])
            tall = (height - 6) * value / top
            drawn.append(
                Markup(
                    '<rect class="bar series-{}" x="{:.3f}%" width="{:.3f}%" y="{:.2f}" height="{:.2f}">'
                    "<title>{}, {}: {}</title></rect>"
                ).format(
                    order + 1, at * room + room * 0.08 + order * wide, wide * 0.94, height - tall, tall,
                    clean(one), clean(name), number(value, 0),
                )
            )  # fmt: skip
        if len(names) <= 10 or at % 4 == 0:
            drawn.append(
                Markup('<text x="{:.3f}%" y="{}" text-anchor="middle">{}</text>').format(
                    (at + 0.5) * room, height + 15, clean(name)
                )
            )
    axis = Markup('<line class="axis" x1="0" x2="100%" y1="{0}" y2="{0}"/>').format(height + 0.5)
    told = f"{label}: " + "; ".join(
        f"{one}: {', '.join(f'{name} {number(float(v), 0)}' for name, v in zip(names, counts[one], strict=True))}"
        for one in series
    )
    svg = Markup('<svg height="{}" role="img" aria-label="{}">{}{}</svg>').format(
        height + 20, clean(told), Markup("").join(drawn), axis
    )
    key = Markup(" · ").join(
        Markup('<span class="key series-{}">{}</span>').format(order + 1, clean(one))
        for order, one in enumerate(series)
    )
    return Markup('<figure class="chart">{}<figcaption>{}</figcaption></figure>').format(svg, key)
