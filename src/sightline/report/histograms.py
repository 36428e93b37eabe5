"""Histograms of several series side by side, on one scale, for `page`."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from sightline.report.page import clean, number


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
    for place, name in enumerate(names):
        for order, one in enumerate(series):
            value = float(counts[one][place])
            tall = (height - 6) * value / top
            drawn.append(
                Markup(
                    '<rect class="bar series-{}" x="{:.3f}%" width="{:.3f}%" y="{:.2f}" height="{:.2f}">'
                    "<title>{}, {}: {}</title></rect>"
                ).format(
                    order + 1, place * room + room * 0.08 + order * wide, wide * 0.94, height - tall, tall,
                    clean(one), clean(name), number(value, 0),
                )
            )  # fmt: skip
        if len(names) <= 10 or place % 4 == 0:
            drawn.append(
                Markup('<text x="{:.3f}%" y="{}" text-anchor="middle">{}</text>').format(
                    (place + 0.5) * room, height + 15, clean(name)
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
