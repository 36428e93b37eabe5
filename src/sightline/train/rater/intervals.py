"""Intervals around predictions that hold a wanted share of single people's ratings (split conformal prediction).

Ratings are whole levels but predictions are not, so a rating's distance from its prediction has hardly any ties. A
rating counts as held when it lies between the ends of the interval, ends included, before they are rounded in any way.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sightline.encoders.rater import COVERAGE, half_width_at

Floats = NDArray[np.float64]
BINS = 8
FEWEST = 50
"""Ratings a bin needs for a width of its own."""


def half_widths(
    prediction: Floats, ratings: Sequence[Sequence[float]], coverage: float = COVERAGE, bins: int = BINS
) -> tuple[Floats, Floats]:
    """Edges between bins of predictions and the half width in each bin, from pairs that the model did not learn from.

    Bins hold about equally many ratings. In each the half width is the ceil((n + 1) coverage)-th smallest distance, so
    new pairs that fall into it keep the promise there; nothing is drawn between bins, which would undo that.
    """
    x, miss = observed(prediction, ratings)
    count = max(1, min(bins, len(x) // FEWEST))
    edges = np.unique([part[-1] for part in np.array_split(np.sort(x), count)])
    edges = edges[edges < x.max()]
    place = np.searchsorted(edges, x)
    half = np.array([_quantile(miss[place == number], coverage) for number in range(len(edges) + 1)])
    return edges, half


def _quantile(distance: Floats, coverage: float) -> float:
    place = min(int(np.ceil((len(distance) + 1) * coverage)), len(distance))
    return float(np.sort(distance)[place - 1])


def observed(prediction: Floats, ratings: Sequence[Sequence[float]]) -> tuple[Floats, Floats]:
    """For every single rating: its pair's prediction, and how far off that is."""
    times = [len(values) for values in ratings]
    x = np.repeat(np.asarray(prediction, np.float64), times)
    return x, np.abs(np.concatenate([np.asarray(values, np.float64) for values in ratings]) - x)


def coverage_of(
    prediction: Floats, ratings: Sequence[Sequence[float]], edges: Floats, half: Floats
) -> Floats:
    """For every single rating, whether its interval holds it (1 or 0)."""
    x, miss = observed(prediction, ratings)
    return (miss <= half_width_at(x, edges, half)).astype(np.float64)
