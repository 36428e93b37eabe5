"""Small charts as SVG, drawn on the server: no script, no style attribute, readable by a screen reader."""

from collections.abc import Sequence

from markupsafe import Markup, escape

WIDTH, HEIGHT, FOOT = 480, 180, 26


def _svg(title: str, body: str, height: int = HEIGHT, table: Sequence[tuple[str, object]] = ()) -> Markup:
    told = "; ".join(f"{name}: {value}" for name, value in table)
    return Markup(
        f'<svg class="chart" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{escape(title)}. {escape(told)}">{body}</svg>'
    )


def _empty(title: str) -> Markup:
    return _svg(
        title, f'<text class="chart-none" x="{WIDTH / 2}" y="{HEIGHT / 2}">Nothing to show yet</text>'
    )


def bars(values: Sequence[tuple[str, float]], title: str) -> Markup:
    """One upright bar per name."""
    top = max((value for _, value in values), default=0)
    if not top:
        return _empty(title)
    step = WIDTH / len(values)
    room = HEIGHT - FOOT - 22
    parts = []
    for place, (name, value) in enumerate(values):
        high = room * value / top
        x, y = place * step + step * 0.15, HEIGHT - FOOT - high
        middle = place * step + step / 2
        parts.append(
            f'<rect class="bar" x="{x:.1f}" y="{y:.1f}" width="{step * 0.7:.1f}" height="{high:.1f}" rx="3"/>'
        )
        parts.append(f'<text class="bar-value" x="{middle:.1f}" y="{y - 5:.1f}">{value:g}</text>')
        parts.append(f'<text class="bar-name" x="{middle:.1f}" y="{HEIGHT - 8}">{escape(name)}</text>')
    return _svg(title, "".join(parts), table=values)


def spark(counts: Sequence[int], low: int) -> Markup:
    """Ratings per level as five or so small bars with their numbers, for a table's cell."""
    top = max([*counts, 1])
    parts = []
    for place, count in enumerate(counts):
        high = max(22 * count / top, 2)
        kind, middle = ("bar" if count else "bar-none"), place * 16 + 6.5
        parts.append(
            f'<rect class="{kind}" x="{place * 16}" y="{34 - high:.1f}" width="13" height="{high:.1f}" rx="2"/>'
        )
        if count:
            parts.append(f'<text x="{middle}" y="{31 - high:.1f}">{count}</text>')
        parts.append(f'<text class="level" x="{middle}" y="44">{low + place}</text>')
    told = ", ".join(f"{low + place}: {count}" for place, count in enumerate(counts))
    return Markup(
        f'<svg class="spark" viewBox="0 0 {16 * len(counts)} 46" role="img" aria-label="ratings per level: {told}">'
        f"<title>{told}</title>{''.join(parts)}</svg>"
    )


def line(values: Sequence[float], title: str) -> Markup:
    """A line through values in order, with its last value written."""
    if len(values) < 2:
        return _empty(title)
    low, high = min(0.0, *values), max(values)
    span = (high - low) or 1
    right = WIDTH - 46
    points = [
        (right * place / (len(values) - 1), 12 + (HEIGHT - 30) * (1 - (value - low) / span))
        for place, value in enumerate(values)
    ]
    zero = 12 + (HEIGHT - 30) * (1 + low / span)
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    x, y = points[-1]
    body = (
        f'<line class="axis" x1="0" x2="{right}" y1="{zero:.1f}" y2="{zero:.1f}"/>'
        f'<polygon class="area" points="0,{zero:.1f} {path} {right},{zero:.1f}"/>'
        f'<polyline class="line" points="{path}"/><circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
        f'<text class="line-value" x="{x + 9:.1f}" y="{y + 4:.1f}">{values[-1]:g}</text>'
    )
    return _svg(title, body, table=[("start", f"{values[0]:g}"), ("end", f"{values[-1]:g}")])


def progress(parts: Sequence[tuple[str, int]], title: str) -> Markup:
    """One bar that is cut into named parts."""
    whole = sum(count for _, count in parts)
    if not whole:
        return _empty(title)
    left, body = 0.0, []
    for number, (_, count) in enumerate(parts):
        wide = WIDTH * count / whole
        body.append(f'<rect class="part part-{number}" x="{left:.1f}" y="0" width="{wide:.1f}" height="18"/>')
        if wide > 34:
            body.append(
                f'<text class="part-value part-value-{number}" x="{left + wide / 2:.1f}" y="13">{count}</text>'
            )
        left += wide
    x = 0
    for number, (name, count) in enumerate(parts):
        body.append(f'<rect class="part part-{number}" x="{x}" y="30" width="10" height="10" rx="2"/>')
        body.append(f'<text class="key" x="{x + 15}" y="39">{escape(name)} {count}</text>')
        x += 30 + 7 * len(f"{name} {count}")
    return _svg(title, "".join(body), height=46, table=parts)


def scatter(
    dots: Sequence[tuple[float, float, str, bool]], title: str, across: str, upward: str, most_across: float
) -> Markup:
    """Dots (x, y in 0-1, name, marked or not)."""
    if not dots:
        return _empty(title)
    body = [
        f'<line class="axis" x1="34" x2="{WIDTH}" y1="{HEIGHT - FOOT}" y2="{HEIGHT - FOOT}"/>',
        f'<line class="axis" x1="34" x2="34" y1="6" y2="{HEIGHT - FOOT}"/>',
        f'<text class="key" x="{WIDTH}" y="{HEIGHT - 8}" text-anchor="end">{escape(across)}</text>',
        f'<text class="key" x="40" y="14">{escape(upward)}</text>',
        '<text class="key" x="28" y="16" text-anchor="end">1</text>',
        f'<text class="key" x="28" y="{HEIGHT - FOOT}" text-anchor="end">0</text>',
    ]
    for x, y, name, marked in dots:
        at = 40 + (WIDTH - 52) * min(x / (most_across or 1), 1)
        up = HEIGHT - FOOT - (HEIGHT - FOOT - 12) * y
        kind = "dot dot-marked" if marked else "dot"
        body.append(
            f'<circle class="{kind}" cx="{at:.1f}" cy="{up:.1f}" r="5"><title>{escape(name)}</title></circle>'
        )
    return _svg(
        title, "".join(body), table=[(name, f"{across} {x:.1f}, {upward} {y:.2f}") for x, y, name, _ in dots]
    )
