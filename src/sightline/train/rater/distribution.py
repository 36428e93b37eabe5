"""How a data set's ratings are distributed (the paper's Figure 5)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sightline.charts import COLOURS, Bar, bars
from sightline.report.page import Markup, clean
from sightline.train.rater.errors import MOST_LEVELS
from sightline.train.rater.pairs import RatedSet

PARTS = 10
"""Equal bins of a scale that is not one of a few whole levels."""


@dataclass(frozen=True)
class Bins:
    """Equal bins side by side, from `start` on; a mean on the border of two belongs to the upper one."""

    names: tuple[str, ...]
    start: float
    width: float

    def counts(self, means: NDArray[np.float64]) -> list[int]:
        place = np.floor((means - self.start) / self.width + 1e-9).astype(np.int64)
        last = len(self.names) - 1
        return [int(n) for n in np.bincount(np.clip(place, 0, last), minlength=last + 1)]


def bins_of(sets: Sequence[RatedSet], scale: tuple[float, float]) -> Bins:
    """Every level of the scale where ratings are a few whole ones, else ten equal parts of it."""
    low, high = scale
    given = [value for one in sets for values in one.ratings for value in values]
    if high - low < MOST_LEVELS and all(float(value).is_integer() for value in (low, high, *given)):
        return Bins(tuple(str(level) for level in range(int(low), int(high) + 1)), low - 0.5, 1.0)
    width = (high - low) / PARTS
    ends = [_shown(low + n * width, width) for n in range(PARTS + 1)]
    return Bins(tuple(f"{a} to {b}" for a, b in pairwise(ends)), low, width)


def _shown(value: float, step: float) -> str:
    """A number with no more decimals than tell steps apart."""
    text = f"{value:,.{max(0, 2 - math.floor(math.log10(step)))}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def distribution(pairs: RatedSet, bins: Bins) -> dict[str, int]:
    """Pairs by their mean rating."""
    return dict(zip(bins.names, bins.counts(pairs.mean), strict=True))


def figure(sets: Sequence[RatedSet], bins: Bins) -> Markup:
    """For each set, and for all together, the share of its pairs in each bin, all on one scale."""
    names, counts = [one.name for one in sets], [bins.counts(one.mean) for one in sets]
    if len(sets) > 1:
        names, counts = [*names, "Combined"], [*counts, np.sum(counts, axis=0).tolist()]
    top = max(n / sum(found) for found in counts for n in found)
    charts = [
        _chart(name, bins, found, top, min(order, COLOURS), titled=len(sets) > 1)
        for order, (name, found) in enumerate(zip(names, counts, strict=True), 1)
    ]
    return Markup('<div class="columns">{}</div>').format(Markup("").join(charts))


def _chart(name: str, bins: Bins, counts: Sequence[int], top: float, series: int, titled: bool) -> Markup:
    total = sum(counts)
    rows = [
        Bar(bin, n / total, series=series, text=f"{100 * n / total:.1f} % ({n:,})")
        for bin, n in zip(bins.names, counts, strict=True)
    ]
    drawn = bars(rows, label=f"{name}: pairs by mean rating", domain=(0, top))
    title = Markup("<h3>{}</h3>").format(clean(name)) if titled else Markup("")
    return Markup("<div>{}{}</div>").format(title, drawn)
