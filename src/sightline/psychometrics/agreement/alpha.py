"""Krippendorff's alpha: agreement beyond chance for any number of raters, any scale, and missing ratings.

alpha = 1 - D_o / D_e (Krippendorff 2011): observed over expected disagreement, from the coincidences of
values within units. Ratings come as a rater x item table with NaN where there is none.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy.stats import norm as normal
from scipy.stats import t as student

from sightline.errors import unknown
from sightline.psychometrics.model.responses import Floats, Ints, distinct

Scale = Literal["nominal", "ordinal", "interval", "ratio"]
SCALES: tuple[Scale, ...] = get_args(Scale)
FEW = 20
"""Below so many items a percentile interval is too narrow."""


@dataclass(frozen=True)
class Interval:
    """An estimate with a bootstrap interval over items; NaN where it is not defined."""

    value: float
    low: float
    high: float
    items: int | None = None
    """The items, or clusters of them, that it rests on."""

    @property
    def rough(self) -> bool:
        """Whether it rests on so few items that its interval is a guide only."""
        return self.items is not None and self.items < FEW


def alpha(ratings: Floats, scale: Scale = "ordinal") -> float:
    """Krippendorff's alpha; NaN where nothing varies or no item has two ratings."""
    counts, values = value_counts(ratings)
    return alpha_of_counts(counts, values, scale)


def alpha_of_counts(counts: Floats, values: Floats, scale: Scale = "ordinal") -> float:
    """Alpha from how often each item got each value (item x value)."""
    if scale not in SCALES:
        raise unknown("scale", scale, SCALES)
    weights = np.ones((1, len(counts)))
    return float(_alphas(counts, values, scale, weights)[0])


def bootstrap_alpha(
    ratings: Floats,
    scale: Scale = "ordinal",
    *,
    samples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    clusters: Ints | None = None,
) -> Interval:
    """Alpha with a percentile interval; items are resampled, since raters' errors on one item belong
    together. Units that belong together, such as the words of one text, share a number in `clusters`.

    Below 20 units it is widened to t levels and corrected for bias and skewness (BCa, Efron 1987), which covers
    better, if still too seldom with few items on which raters agree badly.
    """
    counts, values = all_counts(ratings)
    shared = counts.sum(axis=1) >= 2
    counts = counts[shared]
    group = (
        np.arange(len(counts)) if clusters is None else np.unique(clusters[shared], return_inverse=True)[1]
    )
    groups = int(group.max()) + 1 if len(group) else 0
    value = alpha_of_counts(counts, values, scale)
    if not groups:  # nothing was judged twice
        return Interval(value, np.nan, np.nan, 0)
    rng = np.random.default_rng(seed)
    drawn = []
    for size in _shares(samples, max(1, 2_000_000 // max(len(counts), 1))):
        weights = rng.multinomial(groups, np.full(groups, 1 / max(groups, 1)), size)[:, group]
        drawn.append(_alphas(counts, values, scale, weights.astype(float)))
    found = np.concatenate(drawn)
    found = found[~np.isnan(found)]
    if not len(found):
        return Interval(value, np.nan, np.nan, groups)
    ends = np.array([(1 - level) / 2, (1 + level) / 2])
    if 2 < groups < FEW:
        left_out = _alphas(counts, values, scale, (1 - np.eye(groups))[:, group])
        ends = _corrected(found, value, left_out, ends)
    low, high = np.quantile(found, ends)
    return Interval(value, float(low), float(high), groups)


def _corrected(drawn: Floats, value: float, left_out: Floats, ends: Floats) -> Floats:
    """Levels of the quantiles, from the share of samples below the estimate and from leaving each item out."""
    n = len(left_out)
    z = np.sqrt(n / (n - 1)) * student.ppf(ends, n - 1)
    bias = normal.ppf(np.clip(((drawn < value).mean() + (drawn <= value).mean()) / 2, 0.02, 0.98))
    away = np.nanmean(left_out) - left_out
    cubed, squared = np.nansum(away**3), np.nansum(away**2)
    skew = cubed / (6 * squared**1.5) if squared > 0 else 0.0
    bottom = np.maximum(1 - skew * (bias + z), 0.1)
    return np.asarray(normal.cdf(bias + (bias + z) / bottom), np.float64)


def value_counts(ratings: Floats) -> tuple[Floats, Floats]:
    """How often each item got each value, for items with at least two ratings, and the values."""
    counts, values = all_counts(ratings)
    return counts[counts.sum(axis=1) >= 2], values


def all_counts(ratings: Floats) -> tuple[Floats, Floats]:
    """How often each item got each value, and the values."""
    values = distinct(ratings[~np.isnan(ratings)])
    counts = np.zeros((ratings.shape[1], len(values)))
    if len(ratings) > ratings.shape[1]:
        for i, item in enumerate(ratings.T):
            counts[i] = np.bincount(np.searchsorted(values, item[~np.isnan(item)]), minlength=len(values))
    else:
        for rater in ratings:
            given = np.flatnonzero(~np.isnan(rater))
            counts[given, np.searchsorted(values, rater[given])] += 1
    return counts, values


def _alphas(counts: Floats, values: Floats, scale: Scale, weights: Floats) -> Floats:
    """Alpha for each row of item weights (1, or how often a bootstrap sample holds the item)."""
    if not len(counts):
        return np.full(len(weights), np.nan)
    size = counts.sum(axis=1)
    share = weights / (size - 1)
    totals = weights @ counts
    if scale == "ordinal":
        pairs = [_ordinal(total) for total in totals]
        observed = np.array([_observed(counts, s, pair) for s, pair in zip(share, pairs, strict=True)])
        expected = np.array([total @ pair @ total for total, pair in zip(totals, pairs, strict=True)])
    else:
        pair = _difference(values, scale)
        within = np.einsum("uv,uv->u", counts @ pair, counts)
        observed, expected = share @ within, np.einsum("bv,bv->b", totals @ pair, totals)
    n = totals.sum(axis=1)
    some = expected > 0
    return np.where(some, 1 - (n - 1) * observed / np.where(some, expected, 1), np.nan)


def _observed(counts: Floats, share: Floats, pair: Floats) -> float:
    together = (counts * share[:, None]).T @ counts
    return float((together * pair).sum())


def _difference(values: Floats, scale: Scale) -> Floats:
    """Squared difference of two values; a value with itself is 0, so no pair of a rating with itself
    counts."""
    a, b = values[:, None], values[None, :]
    if scale == "nominal":
        return np.asarray(a != b, np.float64)
    if scale == "interval":
        return np.asarray((a - b) ** 2)
    total = np.abs(a + b)
    return np.where(total > 0, (a - b) / np.where(total > 0, total, 1), 0) ** 2


def _ordinal(total: Floats) -> Floats:
    """How many ratings lie between two values, the ends counted half, squared."""
    up = np.cumsum(total) - total / 2
    return np.asarray((up[:, None] - up[None, :]) ** 2)


def _shares(samples: int, most: int) -> list[int]:
    whole, rest = divmod(samples, min(most, samples))
    return [min(most, samples)] * whole + ([rest] if rest else [])
