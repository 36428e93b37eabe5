"""Pictures of a fitted model: the Wright map (people and items on one logit axis) and characteristic curves."""

import math
from collections.abc import Sequence

import numpy as np

from sightline.charts import Sheet, decimals, fitted, number, ticks
from sightline.psychometrics.model.design import category_probabilities
from sightline.psychometrics.model.fit import ModelFit
from sightline.psychometrics.model.regression import Prediction
from sightline.psychometrics.model.responses import Floats

NAMES_FIT = 40
"""Up to so many items keep their order and all their names; more are sorted by location, some are named."""
MOST_NAMES = 220
MOST_CURVES = 30
STEPS = tuple(f"series-{n}" for n in (2, 4, 3, 5, 1, 6))
"""Colours of the levels above the lowest."""
LEFT, TOP, TALL, GAP = 56, 48, 430, 14
PEOPLE, MEANS, TICKS = 150, 96, 10
"""Pixels: margins, the height of the axis, the widths of the panels beside the items; about so many
ticks."""


class _Axis:
    """Logits upward."""

    def __init__(self, values: Floats) -> None:
        known = values[np.isfinite(values)]
        pad = 0.06 * (known.max() - known.min()) + 0.1
        self.span = (float(known.min() - pad), float(known.max() + pad))

    def __call__(self, logit: float) -> float:
        return TOP + TALL * (self.span[1] - logit) / (self.span[1] - self.span[0])

    def panel(self, sheet: Sheet, left: float, width: float) -> None:
        for tick in ticks(self.span, TICKS):
            sheet.line((left, self(tick)), (left + width, self(tick)))
        sheet.line((left, TOP), (left, TOP + TALL), (left + width, TOP + TALL))


def wright_map(fit: ModelFit, abilities: Floats, predictions: Sequence[Prediction] = ()) -> Sheet:
    """Predicted means, a histogram of people, and each item's Thurstonian thresholds, on one axis of logits.

    A person beside a threshold is as likely to reach that level as not; above it, more likely.
    """
    thresholds, _ = fit.thurstone()
    count = len(fit.design.steps)
    many = count > NAMES_FIT
    means = [p for p in predictions if p.covariate == predictions[0].covariate]
    axis = _Axis(
        np.concatenate([np.quantile(abilities, [0.001, 0.999]), thresholds, [p.mean for p in predictions]])
    )
    step = 9 if many else max(27, 360 / count)
    names = [fitted(name, 22) for name in fit.responses.items]
    size, longest = 8 if many else 11, max(map(len, names))
    flat = not many and longest * 6 < step
    left = LEFT + (MEANS + GAP) * bool(means)
    right = left + PEOPLE + GAP
    sheet = Sheet(
        right + max(step * count, 300) + 16,
        TOP + TALL + (24 if flat else 16 + size * 0.62 * longest) + 18 * many,
    )
    for tick in ticks(axis.span, TICKS):
        sheet.text(LEFT - 6, axis(tick) + 4, number(tick, decimals(axis.span, TICKS)), anchor="end")
    sheet.text(13, TOP + TALL / 2, "logits (harder items, abler people upward)", turned=True)
    if means:
        _draw_means(sheet, means, axis)
    _draw_people(sheet, abilities, axis, left)
    _draw_items(sheet, fit, thresholds, axis, right, step)
    place = _places(fit, many)
    order = np.argsort(place)
    for n in order[:: math.ceil(count / MOST_NAMES)]:
        x = right + step * (place[n] + 0.5)
        sheet.text(x if flat else x + 4, TOP + TALL + (16 if flat else 8), names[n],
                   size=size, anchor="middle" if flat else "end", turned=not flat)  # fmt: skip
    if many:
        sheet.text((right + sheet.width) / 2, sheet.height - 6, f"{count} items, easiest first")
    return sheet


def _places(fit: ModelFit, by_location: bool) -> Floats:
    """Where each item stands from left to right."""
    place = np.arange(len(fit.design.steps), dtype=float)
    if by_location:
        place[np.argsort(fit.locations()[0], kind="stable")] = np.arange(len(place))
    return place


def _draw_means(sheet: Sheet, means: Sequence[Prediction], axis: _Axis) -> None:
    """The first covariate's predicted means with 95 % intervals."""
    axis.panel(sheet, LEFT, MEANS)
    x = LEFT + MEANS * 0.3
    for p in means:
        low, high = (axis(p.mean + side * 1.96 * p.se) for side in (-1, 1))
        sheet.line((x, low), (x, high), colour="muted")
        told = f"{p.covariate} {p.value:.3g}: {number(p.mean, 2)}"
        sheet.dot(x, axis(p.mean), colour="ink", told=told)
        sheet.text(x + 9, axis(p.mean) + 4, f"{p.value:.3g}".replace("-", "−"), colour="ink", anchor="start")
    sheet.text(LEFT + MEANS / 2, TOP - 24, "mean at", colour="ink")
    sheet.text(LEFT + MEANS / 2, TOP - 10, fitted(means[0].covariate, 16), colour="ink")


def _draw_people(sheet: Sheet, abilities: Floats, axis: _Axis, left: float) -> None:
    axis.panel(sheet, left, PEOPLE)
    counts, edges = np.histogram(np.clip(abilities, *axis.span), 35, axis.span)
    for n, low, high in zip(counts.tolist(), edges, edges[1:], strict=False):
        if n:
            wide = max(PEOPLE * 0.95 * n / counts.max(), 1)
            top, told = axis(high), f"{number(float(low), 2)} to {number(float(high), 2)}: {n:,}"
            sheet.box(left + PEOPLE - wide, top + 0.5, wide, axis(low) - top - 1,
                      colour="series-1", told=told, opacity=0.55)  # fmt: skip
    middle = axis(float(np.median(abilities)))
    sheet.line((left, middle), (left + PEOPLE, middle), colour="ink", width=1.2, dashed=True)
    sheet.text(left + PEOPLE / 2, TOP - 10, f"people (n = {len(abilities):,})", colour="ink")


def _draw_items(
    sheet: Sheet, fit: ModelFit, thresholds: Floats, axis: _Axis, left: float, step: float
) -> None:
    """Each item's thresholds, joined, with the level that lies above each."""
    item, level = fit.design.item, fit.design.level
    many = len(fit.design.steps) > NAMES_FIT
    x = left + step * (_places(fit, many) + 0.5)
    axis.panel(sheet, left, sheet.width - left - 16)
    for i in range(len(x)):
        mine = thresholds[item == i]
        sheet.line((x[i], axis(mine.min())), (x[i], axis(mine.max())), width=1.4)
    reached = [fit.responses.labels[i][k] for i, k in zip(item, level, strict=True)]
    shades = {label: STEPS[n % len(STEPS)] for n, label in enumerate(np.unique(np.array(reached)).tolist())}
    for i, label, where in zip(item, reached, thresholds.tolist(), strict=True):
        told = f"{fit.responses.items[i]}, reaches {label}: {number(where, 2)}"
        sheet.dot(x[i], axis(where), colour=shades[label], radius=2.4 if many else 4, told=told)
    _key(sheet, left, TOP - 10, {f"reaches {label}": shade for label, shade in shades.items()})


def _key(sheet: Sheet, x: float, y: float, named: dict[str, str]) -> None:
    """What the colours stand for, from left to right, as far as there is room."""
    for name, shade in named.items():
        wide = 24 + 6.2 * len(name)
        if x + wide > sheet.width:
            break
        sheet.dot(x + 5, y - 4, colour=shade, radius=3.5)
        sheet.text(x + 13, y, name, anchor="start")
        x += wide


def characteristic_curves(fit: ModelFit) -> Sheet:
    """For each item, the probability of every level along the ability; up to the first 30 items."""
    shown = min(len(fit.design.steps), MOST_CURVES)
    columns = min(5, shown)
    wide, tall, across, down = 168, 104, 186, 142
    rows = math.ceil(shown / columns)
    sheet = Sheet(LEFT + max(across * columns, 260), TOP + down * rows + 22)
    thresholds, _ = fit.thresholds()
    span = (float(min(-4, thresholds.min() - 2)), float(max(4, thresholds.max() + 2)))
    theta = np.linspace(*span, 101)
    probability, _ = category_probabilities(fit.table[:shown], theta)
    colours = ("muted", *STEPS)
    for i in range(shown):
        left, foot = LEFT + across * (i % columns), TOP + down * (i // columns) + tall
        xs = left + wide * (theta - span[0]) / (span[1] - span[0])
        sheet.line((left, foot - tall), (left, foot), (left + wide, foot))
        sheet.text(left + wide / 2, foot - tall - 5, fitted(fit.responses.items[i], 26), colour="ink")
        for tick in (0, 0.5, 1) if i % columns == 0 else ():
            sheet.text(left - 5, foot - tall * tick + 4, f"{tick:g}", size=10, anchor="end")
        for tick in ticks(span, 6) if i + columns >= shown else ():
            x = left + wide * (tick - span[0]) / (span[1] - span[0])
            sheet.text(x, foot + 14, number(tick, decimals(span, 6)), size=10)
        for k in range(len(fit.responses.labels[i])):
            points = zip(xs.tolist(), (foot - tall * probability[i, k]).tolist(), strict=True)
            sheet.line(*points, colour=colours[k % len(colours)], width=1.6)
    labels = max((fit.responses.labels[i] for i in range(shown)), key=len)
    _key(sheet, LEFT, 16, {f"level {label}": colours[k % len(colours)] for k, label in enumerate(labels)})
    sheet.text(LEFT + across * columns / 2, sheet.height - 6, "ability (logits)")
    sheet.text(13, TOP + down * rows / 2, "probability", turned=True)
    return sheet
