"""The measures of captions, axis by axis and picture by picture, and how they go together (HL, 4.2 and A.3)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.meta.correlation import correlate

Floats = NDArray[np.float64]

MEASURES = ("confidence", "self_bleu", "purity", "published_purity")
BY_PICTURE = (*MEASURES, "diversity")


@dataclass(slots=True)
class MeasureRow:
    """One axis of one picture."""

    place: int
    """Of the picture in the corpus."""
    id: str
    axis: str
    captions: int
    self_bleu: float | None = None
    confidence: float | None = None
    purity: float | None = None
    published_self_bleu: float | None = None
    published_purity: float | None = None

    @property
    def diversity(self) -> float | None:
        return None if self.self_bleu is None else 1 - self.self_bleu / 100


@dataclass(frozen=True)
class Link:
    """Two measures and how they go together."""

    x: str
    y: str
    n: int
    pearson: float | None
    spearman: float | None
    why: str | None = None


def column(rows: Sequence[MeasureRow], measure: str) -> Floats:
    """One measure of all rows; NaN where a row has none."""
    values = (getattr(row, measure) for row in rows)
    return np.array([np.nan if value is None else value for value in values], np.float64)


def links(columns: Mapping[str, Floats]) -> list[Link]:
    """Every two measures that occur (Figure 17)."""
    found = []
    for x, y in combinations([name for name, values in columns.items() if np.isfinite(values).any()], 2):
        both = np.isfinite(columns[x]) & np.isfinite(columns[y])
        one = correlate(columns[x][both], columns[y][both])
        found.append(Link(x, y, one.n, one.values["pearson"], one.values["spearman"], one.why))
    return found


def by_picture(rows: Sequence[MeasureRow], pictures: int) -> dict[str, Floats]:
    """Item-wise measures: means over the axes. With `AXIS.MEASURE` for each axis beside them."""
    places = np.array([row.place for row in rows], np.int64)
    axes = list(dict.fromkeys(row.axis for row in rows))
    of_axis = np.array([axes.index(row.axis) for row in rows], np.int64)
    found: dict[str, Floats] = {}
    for measure in BY_PICTURE:
        values = column(rows, measure)
        there = np.isfinite(values)
        total = np.bincount(places[there], values[there], pictures)
        times = np.bincount(places[there], minlength=pictures)
        found[measure] = np.where(times > 0, total / np.maximum(times, 1), np.nan)
        for number, axis in enumerate(axes):
            own = np.full(pictures, np.nan)
            chosen = there & (of_axis == number)
            own[places[chosen]] = values[chosen]
            found[f"{axis}.{measure}"] = own
    return found


def measure_names(axes: Iterable[str]) -> list[str]:
    """The names that `by_picture` gives."""
    return [*BY_PICTURE, *(f"{axis}.{measure}" for axis in axes for measure in BY_PICTURE)]


def described(values: Floats) -> dict[str, Any] | None:
    """Mean, spread and quantiles; None where there is no value."""
    known = values[np.isfinite(values)]
    if not len(known):
        return None
    low, first, median, third, high = (float(q) for q in np.quantile(known, (0, 0.25, 0.5, 0.75, 1)))
    return {
        "n": len(known),
        "mean": float(known.mean()),
        "sd": float(known.std(ddof=1)) if len(known) > 1 else None,
        "median": median,
        "quartiles": [first, third],
        "min": low,
        "max": high,
    }
