"""The marks that figures are made of, and the frame around them."""

from collections.abc import Sequence

from markupsafe import Markup, escape

from sightline.charts.scale import Span, decimals, place, ticks
from sightline.charts.writing import clean, number


def axis(span: Span, y: float, about: int = 5) -> list[Markup]:
    line = Markup('<line class="axis" x1="0" x2="100%" y1="{:.1f}" y2="{:.1f}"/>').format(y + 0.5, y + 0.5)
    digits = decimals(span, about)
    texts = [
        Markup('<text x="{:.3f}%" y="{:.1f}" text-anchor="{}">{}</text>').format(
            spot, y + 15, "start" if spot < 6 else "end" if spot > 94 else "middle", number(tick, digits)
        )
        for tick in ticks(span, about)
        if (spot := place(tick, span)) is not None
    ]
    return [line, *texts]


def vertical(x: float, top: float, bottom: float, kind: str, title: str = "") -> Markup:
    inner = Markup("<title>{}</title>").format(title) if title else Markup("")
    return Markup('<line class="{}" x1="{:.3f}%" x2="{:.3f}%" y1="{:.1f}" y2="{:.1f}">{}</line>').format(
        kind, x, x, top, bottom, inner
    )


def horizontal(left: float, right: float, y: float, kind: str) -> Markup:
    return Markup('<line class="{}" x1="{:.3f}%" x2="{:.3f}%" y1="{}" y2="{}"/>').format(
        kind, left, right, y, y
    )


def dot(x: float, y: float, radius: float, title: str = "") -> Markup:
    inner = Markup("<title>{}</title>").format(clean(title)) if title else Markup("")
    return Markup('<circle class="dot" cx="{:.3f}%" cy="{:.1f}" r="{}">{}</circle>').format(
        x, y, radius, inner
    )


def drawing(parts: Sequence[Markup], height: int, told: str) -> Markup:
    role = Markup('role="img" aria-label="{}"').format(clean(told)) if told else Markup('aria-hidden="true"')
    return Markup('<svg height="{}" {}>{}</svg>').format(height, role, Markup("").join(parts))


def named_row(name: str, chart: Markup, value: str) -> Markup:
    return Markup('<span class="name" dir="auto">{}</span>{}<span class="value">{}</span>').format(
        clean(name), chart, clean(value)
    )


def row_grid(rows: Sequence[Markup], *, label: str, series: int = 1, caption: str = "") -> Markup:
    grid = Markup('<div class="rows">{}</div>').format(Markup("").join(rows))
    return figure([grid], series=series, label=label, caption=caption)


def figure(parts: Sequence[Markup], *, series: int = 1, caption: str = "", label: str = "") -> Markup:
    below = Markup("<figcaption>{}</figcaption>").format(clean(caption)) if caption else Markup("")
    named = Markup(' role="group" aria-label="{}"').format(clean(label)) if label else Markup("")
    return Markup('<figure class="chart series-{}"{}>{}{}</figure>').format(
        series, named, Markup("").join(parts), below
    )


def nothing(label: str) -> Markup:
    return Markup('<p class="quiet">{}: nothing to draw.</p>').format(escape(clean(label)))
