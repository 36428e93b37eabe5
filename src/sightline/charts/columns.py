"""Distributions over whole numbers or a few levels: a column for each, one chart below the other on one scale."""

from collections.abc import Mapping

from markupsafe import Markup

from sightline.charts.writing import clean, number

HEIGHT = 72
EVERY = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
MOST_TICKS = 14


def columns(
    groups: Mapping[str, Mapping[float, int]], *, label: str, most: int = 40, means: bool = True
) -> Markup:
    """For each group the share of its values that each number has. What lies past `most` columns is the last one's.

    Groups share both axes, so that columns can be compared from one to the next.
    """
    filled = {name: times for name, times in groups.items() if sum(times.values())}
    if not filled:
        return Markup('<p class="quiet">{}: nothing to draw.</p>').format(clean(label))
    levels = sorted({value for times in filled.values() for value in times})
    whole = all(float(level).is_integer() for level in levels)
    if whole:
        first, last = int(min(levels)), int(min(max(levels), min(levels) + most - 1))
        levels = [float(level) for level in range(first, last + 1)]
    elif len(levels) > most:
        levels = levels[:most]
    cut = {name: _cut(times, levels) for name, times in filled.items()}
    top = max(n / sum(times.values()) for times in cut.values() for n in times.values())
    beyond = max(value for times in filled.values() for value in times) > levels[-1]
    charts = [
        _chart(name, cut[name], filled[name], levels, top, place, beyond=beyond, mean=means)
        for place, name in enumerate(filled)
    ]
    return Markup('<figure class="chart columns" role="group" aria-label="{}">{}</figure>').format(
        clean(label), Markup("").join(charts)
    )


def _cut(times: Mapping[float, int], levels: list[float]) -> dict[float, int]:
    """Counts by level; what is larger than the last level counts there."""
    found = dict.fromkeys(levels, 0)
    for value, n in times.items():
        found[float(value) if value <= levels[-1] else levels[-1]] += n
    return found


def _chart(
    name: str,
    times: Mapping[float, int],
    exact: Mapping[float, int],
    levels: list[float],
    top: float,
    place: int,
    *,
    beyond: bool,
    mean: bool,
) -> Markup:
    total = sum(times.values())
    wide = 100 / len(levels)
    average = sum(value * n for value, n in exact.items()) / total
    bars = Markup("").join(
        Markup(
            '<rect class="bar" x="{:.3f}%" width="{:.3f}%" y="{:.2f}" height="{:.2f}">'
            "<title>{}: {} ({} %)</title></rect>"
        ).format(
            number_of * wide + wide * 0.08, wide * 0.84, HEIGHT - tall, tall, _level(level, levels, beyond), number(n),
            number(100 * n / total, 1),
        )
        for number_of, level in enumerate(levels)
        if (n := times[level]) and (tall := max(1.0, (HEIGHT - 4) * n / total / top))
    )  # fmt: skip
    every = next((step for step in EVERY if len(levels) / step <= MOST_TICKS), EVERY[-1])
    shown = [at for at, level in enumerate(levels) if len(levels) <= MOST_TICKS or level % every == 0]
    ticks = Markup("").join(
        Markup('<text x="{:.3f}%" y="{}" text-anchor="middle">{}</text>').format(
            (at + 0.5) * wide, HEIGHT + 15, _level(levels[at], levels, beyond)
        )
        for at in shown
    )
    told = f"{name}: {number(total)} values, mean {number(average, 2)}"
    value = Markup('<span class="value">mean {}</span>').format(number(average, 2)) if mean else Markup("")
    return Markup(
        '<div class="columns-of series-{}"><div class="columns-head"><span class="name" dir="auto">{}</span>{}</div>'
        '<svg height="{}" role="img" aria-label="{}">{}'
        '<line class="axis" x1="0" x2="100%" y1="{}" y2="{}"/>{}</svg></div>'
    ).format(
        place % 6 + 1, clean(name), value, HEIGHT + 20, clean(told), bars, HEIGHT + 0.5, HEIGHT + 0.5, ticks
    )


def _level(level: float, levels: list[float], beyond: bool) -> str:
    text = f"{level:g}"
    return f"{text}+" if beyond and level == levels[-1] else text
