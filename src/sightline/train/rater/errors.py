"""Error analysis as in the paper's Figures 6 and 7: absolute errors of a rater and of linearly rescaled `clipscore`."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
EDGES = np.linspace(0, 1, 21)
"""Bins of the histograms: the scale has length 1 there, as in the paper."""
FEWEST = 10
"""Pairs a sub-range needs to be drawn and counted."""
MOST_LEVELS = 10


def rescale(score: Floats, rating: Floats) -> tuple[float, float]:
    """Slope and intercept of the straight line that brings a score nearest to ratings, by least squares."""
    if len(score) < 2 or float(np.ptp(score)) == 0:
        return 0.0, float(np.mean(rating))
    slope, intercept = np.polyfit(score, rating, 1)
    return float(slope), float(intercept)


@dataclass(frozen=True)
class Range:
    """The pairs whose mean rating lies in a part of the scale: each model's mean absolute error and histogram."""

    name: str
    n: int
    error: Mapping[str, float]
    histogram: Mapping[str, Floats]


def ranges(
    truth: Floats, predictions: Mapping[str, Floats], scale: tuple[float, float], parts: int | None = None
) -> list[Range]:
    """The whole scale first, then sub-ranges of the mean rating; errors in units of the scale's length.

    A scale of whole levels is cut between them (level 2 is 1.5 to 2.5), another, or with `parts`, into equal parts.
    """
    length = scale[1] - scale[0]
    error = {name: np.abs(np.clip(p, *scale) - truth) / length for name, p in predictions.items()}
    if parts is None and float(length).is_integer() and length <= MOST_LEVELS:
        cuts = np.array([scale[0], *(np.arange(scale[0], scale[1]) + 0.5), scale[1]])
    else:
        cuts = np.linspace(*scale, (parts or 6) + 1)
    found = [_range("all", np.ones(len(truth), bool), error)]
    for number, (low, high) in enumerate(pairwise(cuts)):
        last = number + 2 == len(cuts)
        inside = (truth >= low) & ((truth <= high) if last else (truth < high))
        found.append(_range(f"{low:.3g} to {high:.3g}", inside, error))
    return found


def _range(name: str, inside: NDArray[np.bool_], error: Mapping[str, Floats]) -> Range:
    n = int(inside.sum())
    return Range(
        name,
        n,
        {model: float(values[inside].mean()) if n else float("nan") for model, values in error.items()},
        {model: np.histogram(values[inside], EDGES)[0].astype(np.float64) for model, values in error.items()},
    )
