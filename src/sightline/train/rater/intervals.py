"""Intervals around predictions that hold a wanted share of single people's ratings (split conformal prediction).

Ratings are whole levels but predictions are not, so a rating's distance from its prediction has hardly any ties. A
rating counts as held when it lies between the ends of the interval, ends included, before they are rounded in any way.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sightline.encoders.rater import COVERAGE

Floats = NDArray[np.float64]
BINS = 8
FEWEST = 50
"""Ratings a bin needs for a width of its own."""


def half_widths(
    prediction: Floats, ratings: Sequence[Sequence[float]], coverage: float = COVERAGE, bins: int = BINS
) -> tuple[Floats, Floats]:
    """Knots along the predictions and the half width at each, from pairs that the model did not learn from.

    Bins hold equally many ratings. Within a bin the half width is the ceil((n + 1) coverage)-th smallest distance.
    """
    x, miss = observed(prediction, ratings)
    order = np.argsort(x, kind="stable")
    count = max(1, min(bins, len(x) // FEWEST))
    parts = np.array_split(order, count)
    knots = np.array([x[part].mean() for part in parts])
    half = np.array([_quantile(miss[part], coverage) for part in parts])
    return knots, half


def _quantile(distance: Floats, coverage: float) -> float:
    place = min(int(np.ceil((len(distance) + 1) * coverage)), len(distance))
    return float(np.sort(distance)[place - 1])


def observed(prediction: Floats, ratings: Sequence[Sequence[float]]) -> tuple[Floats, Floats]:
    """For every single rating: its pair's prediction, and how far off that is."""
    times = [len(values) for values in ratings]
    x = np.repeat(np.asarray(prediction, np.float64), times)
    return x, np.abs(np.concatenate([np.asarray(values, np.float64) for values in ratings]) - x)


def coverage_of(
    prediction: Floats, ratings: Sequence[Sequence[float]], knots: Floats, half: Floats
) -> Floats:
    """For every single rating, whether its interval holds it (1 or 0)."""
    x, miss = observed(prediction, ratings)
    return (miss <= np.interp(x, knots, half)).astype(np.float64)
