"""The application's figures, each drawn on a sheet: no script, no style attribute, readable by a screen reader."""

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from sightline.charts import Sheet
from sightline.people.words import Say, english

WIDTH, HEIGHT, FOOT = 480, 180, 26
PARTS = (("good", "paper"), ("series-1", "paper"), ("line", "ink"))
"""Colours of a bar's parts, and of the numbers on them."""


def bars(values: Sequence[tuple[str, float]], title: str, say: Say = english) -> Markup:
    """One upright bar per name."""
    top = max((value for _, value in values), default=0)
    if not top:
        return _empty(title, say)
    sheet, step = Sheet(WIDTH, HEIGHT), WIDTH / len(values)
    for place, (name, value) in enumerate(values):
        high, middle = (HEIGHT - FOOT - 22) * value / top, (place + 0.5) * step
        y = HEIGHT - FOOT - high
        sheet.box(middle - step * 0.35, y, step * 0.7, high, colour="series-1", told=f"{name}: {value:g}")
        sheet.text(middle, y - 5, f"{value:g}", size=12, colour="ink")
        sheet.text(middle, HEIGHT - 8, name, size=12)
    return _drawn(sheet, title, values)


def spark(counts: Sequence[int], low: int) -> Markup:
    """Ratings per level as five or so small bars with their numbers, for a table's cell."""
    sheet, top = Sheet(16 * len(counts), 46), max([*counts, 1])
    for place, count in enumerate(counts):
        high, middle = max(22 * count / top, 2), place * 16 + 6.5
        sheet.box(place * 16, 34 - high, 13, high, colour="series-1" if count else "line")
        if count:
            sheet.text(middle, 31 - high, str(count), size=8, colour="ink")
        sheet.text(middle, 44, str(low + place), size=8)
    return sheet.inline(
        "ratings per level: " + _listed((str(low + n), count) for n, count in enumerate(counts)), "spark"
    )


def line(values: Sequence[float], title: str, say: Say = english) -> Markup:
    """A line through values in order, with its last value written."""
    if len(values) < 2:
        return _empty(title, say)
    low, high, right = min(0.0, *values), max(values), WIDTH - 46
    sheet, span = Sheet(WIDTH, HEIGHT), (high - low) or 1

    def spot(place: int, value: float) -> tuple[float, float]:
        return right * place / (len(values) - 1), 12 + (HEIGHT - 30) * (1 - (value - low) / span)

    sheet.line(spot(0, 0), spot(len(values) - 1, 0), width=1.5)
    sheet.line(*(spot(place, value) for place, value in enumerate(values)), colour="series-1", width=2.5)
    x, y = spot(len(values) - 1, values[-1])
    sheet.dot(x, y, colour="series-1", radius=4)
    sheet.text(x + 9, y + 4, f"{values[-1]:g}", size=12, colour="ink", anchor="start")
    return _drawn(sheet, title, [("start", f"{values[0]:g}"), ("end", f"{values[-1]:g}")])


def progress(parts: Sequence[tuple[str, int]], title: str, say: Say = english) -> Markup:
    """One bar that is cut into named parts."""
    whole = sum(count for _, count in parts)
    if not whole:
        return _empty(title, say)
    sheet, left, x = Sheet(WIDTH, 46), 0.0, 0.0
    for (name, count), (colour, letters) in zip(parts, PARTS, strict=False):
        wide = WIDTH * count / whole
        sheet.box(left, 0, wide, 18, colour=colour)
        if wide > 34:
            sheet.text(left + wide / 2, 13, str(count), size=12, colour=letters)
        left += wide
        sheet.box(x, 30, 10, 10, colour=colour)
        sheet.text(x + 15, 39, f"{name} {count}", size=12, anchor="start")
        x += 30 + 7 * len(f"{name} {count}")
    return _drawn(sheet, title, parts)


def scatter(
    dots: Sequence[tuple[float, float, str, bool]],
    title: str,
    across: str,
    upward: str,
    most_across: float,
    say: Say = english,
) -> Markup:
    """Dots (x, y in 0-1, name, marked or not)."""
    if not dots:
        return _empty(title, say)
    sheet, foot = Sheet(WIDTH, HEIGHT), HEIGHT - FOOT
    sheet.line((34, 6), (34, foot), (WIDTH, foot), width=1.5)
    sheet.text(WIDTH, HEIGHT - 8, across, size=12, anchor="end")
    sheet.text(40, 14, upward, size=12, anchor="start")
    sheet.text(28, 16, "1", size=12, anchor="end")
    sheet.text(28, foot, "0", size=12, anchor="end")
    for x, y, name, marked in dots:
        at = 40 + (WIDTH - 52) * min(x / (most_across or 1), 1)
        colour = "bad" if marked else "series-1"
        sheet.dot(at, foot - (foot - 12) * y, colour=colour, radius=5, told=name)
    return _drawn(sheet, title, [(name, f"{across} {x:.1f}, {upward} {y:.2f}") for x, y, name, _ in dots])


def _empty(title: str, say: Say) -> Markup:
    sheet = Sheet(WIDTH, HEIGHT)
    sheet.text(WIDTH / 2, HEIGHT / 2, say("Nothing to show yet"), size=12)
    return _drawn(sheet, title, ())


def _drawn(sheet: Sheet, title: str, table: Iterable[tuple[str, object]]) -> Markup:
    return sheet.inline(f"{title}. {_listed(table)}", "chart")


def _listed(table: Iterable[tuple[str, object]]) -> str:
    return "; ".join(f"{name}: {value}" for name, value in table)
