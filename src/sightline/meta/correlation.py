"""Kendall's tau_b and tau_c, Spearman and Pearson with ties handled right, and their bootstrap by clusters.

The bootstrap does not build resampled data: a resample gives every cluster (an image, a story) a weight, and
all four coefficients are computed from weighted counts of (score, rating) cells. With few rating levels that
takes milliseconds a sample.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

OUT_OF_REACH = "the numbers are too far apart to be computed with"
NAMES = ("kendall_b", "kendall_c", "spearman", "pearson")
ACCURACY = "pairwise_accuracy"
"""The share of pairs that a metric orders as people do: what studies of preferences print."""
CELLS = 2_000_000
"""Cells of the (score, rating) table held at once; beyond, a sample is computed alone from sorted data."""


@dataclass(frozen=True)
class Correlation:
    """The four coefficients of one set of observations; None where one is not defined, and why."""

    n: int
    values: dict[str, float | None]
    why: str | None = None


def correlate(scores: Sequence[float] | Floats, ratings: Sequence[float] | Floats) -> Correlation:
    """Correlate observations: one score and one rating each."""
    x, y = np.asarray(scores, np.float64), np.asarray(ratings, np.float64)
    reason = _undefined(x, y)
    if reason:
        return undefined(len(x), reason)
    tau_b, tau_c = kendall(x, y)
    values = (tau_b, tau_c, pearson(ranks(x), ranks(y)), pearson(x, y))
    found = {name: v if math.isfinite(v) else None for name, v in zip(NAMES, values, strict=True)}
    return Correlation(len(x), found, OUT_OF_REACH if None in found.values() else None)


def undefined(n: int, why: str) -> Correlation:
    """No coefficient, and why."""
    return Correlation(n, dict.fromkeys(NAMES), why)


def _undefined(x: Floats, y: Floats) -> str | None:
    if len(x) < 2:
        return "fewer than two observations"
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        return "not every score and rating is a finite number"
    if (x == x[0]).all():
        return "all scores are equal"
    return "all ratings are equal" if (y == y[0]).all() else None


def kendall(x: Floats, y: Floats) -> tuple[float, float]:
    """tau_b and tau_c (Kendall 1945; Stuart 1953), by counting inversions in O(n log^2 n)."""
    n = len(x)
    order = np.lexsort((y, x))
    rank_x, rank_y = _dense(x)[order], _dense(y)[order]
    pairs = n * (n - 1) // 2
    tied_x, tied_y = _tied(rank_x), _tied(rank_y)
    both = _tied(rank_x * (int(rank_y.max()) + 1) + rank_y)
    surplus = pairs - tied_x - tied_y + both - 2 * _inversions(rank_y)
    tau_b = surplus / np.sqrt(float(pairs - tied_x)) / np.sqrt(float(pairs - tied_y))
    classes = min(int(rank_x.max()), int(rank_y.max())) + 1
    tau_c = 2 * surplus / (n**2 * (classes - 1) / classes)
    return float(np.clip(tau_b, -1, 1)), float(tau_c)


def pearson(x: Floats, y: Floats) -> float:
    """Pearson's r."""
    dx, dy = _centred(x), _centred(y)
    r = np.dot(dx / np.linalg.norm(dx), dy / np.linalg.norm(dy))
    return float(np.clip(r, -1, 1))


def _centred(values: Floats) -> Floats:
    """Differences from the mean, scaled so that neither they nor their squares leave the range of numbers."""
    moved = _near_one(values)
    return _near_one(moved - moved.mean())


def _near_one(values: Floats) -> Floats:
    """Values times the power of two that brings the largest near 1: no digit changes."""
    near: Floats = np.ldexp(values, -np.frexp(np.abs(values).max())[1])
    return near


def _dense(values: Floats) -> Ints:
    """0 for the smallest value, 1 for the next, …"""
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def ranks(values: Floats) -> Floats:
    """Ranks, equal values sharing their mean rank."""
    _, number, times = np.unique(values, return_inverse=True, return_counts=True)
    after = np.cumsum(times)
    middle: Floats = after - (times - 1) / 2
    return middle[number]


def _tied(groups: Ints) -> int:
    """Pairs within groups of equal value."""
    times = np.unique(groups, return_counts=True)[1].astype(np.int64)
    return int((times * (times - 1) // 2).sum())


def _inversions(values: Ints) -> int:
    """Pairs in the wrong order, equal ones not counted: a merge sort, all merges of one width at once."""
    size = 1 << max(len(values) - 1, 1).bit_length()
    rows: NDArray[np.int64] = np.full(
        (size, 1), int(values.max()) + 1
    )  # the filling comes last and is largest
    rows[: len(values), 0] = values
    count, width = 0, 1
    while width < size:
        rows = rows.reshape(-1, 2 * width)
        order = np.argsort(rows, axis=1, kind="stable")
        # A right-hand value at place p has p - (its own rank) left-hand values not above it.
        places = np.nonzero(order >= width)[1].sum()
        count += len(rows) * (width * width + width * (width - 1) // 2) - int(places)
        rows = np.take_along_axis(rows, order, axis=1)
        width *= 2
    return count


def bootstrap(
    scores: Floats, ratings: Floats, cluster: Ints, weights: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    """The four coefficients in every resample; NaN where a resample leaves one undefined.

    `cluster` is each observation's image or story, `weights[sample, cluster]` how often the sample drew it.
    """
    levels_x, levels_y = _dense(scores), _dense(ratings)
    shape = (int(levels_x.max()) + 1, int(levels_y.max()) + 1)
    found = {name: np.full(len(weights), np.nan) for name in NAMES}
    found["pearson"] = _pearson_samples(scores, ratings, cluster, weights)
    if shape[0] * shape[1] > CELLS:
        _sample_by_sample(found, levels_x, levels_y, cluster, weights)
        return found
    cells = sparse.csr_matrix(
        (np.ones(len(scores)), (levels_x * shape[1] + levels_y, cluster)),
        shape=(shape[0] * shape[1], weights.shape[1]),
    )
    step = max(1, CELLS // (shape[0] * shape[1]))
    for start in range(0, len(weights), step):
        part = weights[start : start + step]
        table = np.ascontiguousarray((cells @ part.T).T).reshape(len(part), *shape)
        for name, values in _table_coefficients(table).items():
            found[name][start : start + step] = values
    return found


def resample(clusters: int, samples: int, seed: int) -> Floats:
    """How often each of the clusters is drawn in each sample, with replacement."""
    rng = np.random.default_rng(seed)
    return rng.multinomial(clusters, np.full(clusters, 1 / clusters), size=samples).astype(np.float64)


def interval(samples: Floats, level: float = 0.95) -> tuple[float, float] | None:
    """The percentile interval of a bootstrap."""
    finite = samples[np.isfinite(samples)]
    if len(finite) < max(2, len(samples) // 2):
        return None
    low, high = np.quantile(finite, ((1 - level) / 2, (1 + level) / 2))
    return float(low), float(high)


def _table_coefficients(table: Floats) -> dict[str, Floats]:
    """tau_b, tau_c and Spearman from weighted counts [sample, score level, rating level]."""
    per_x, per_y = table.sum(axis=2), table.sum(axis=1)
    n = per_x.sum(axis=1)
    below = np.cumsum(table, axis=1) - table  # observations with a lower score, by rating
    lower = np.cumsum(below, axis=2) - below
    higher = below.sum(axis=2, keepdims=True) - lower - below
    surplus = np.einsum("sxy,sxy->s", table, lower - higher)
    pairs, tied_x, tied_y = (n * (n - 1) / 2, _tied_weights(per_x), _tied_weights(per_y))
    with np.errstate(divide="ignore", invalid="ignore"):
        tau_b = surplus / np.sqrt(pairs - tied_x) / np.sqrt(pairs - tied_y)
        classes = np.minimum((per_x > 0).sum(axis=1), (per_y > 0).sum(axis=1))
        tau_c = 2 * surplus / (n**2 * (classes - 1) / classes)
        rank_x, rank_y = (np.cumsum(per, axis=1) - per / 2 - n[:, None] / 2 for per in (per_x, per_y))
        together = np.einsum("sxy,sx,sy->s", table, rank_x, rank_y, optimize=True)
        alone = np.einsum("sx,sx->s", per_x, rank_x**2) * np.einsum("sy,sy->s", per_y, rank_y**2)
        spearman = together / np.sqrt(alone)
    return {"kendall_b": tau_b, "kendall_c": tau_c, "spearman": spearman}


def _tied_weights(per: Floats) -> Floats:
    tied: Floats = (per * (per - 1) / 2).sum(axis=1)
    return tied


def _pearson_samples(scores: Floats, ratings: Floats, cluster: Ints, weights: Floats) -> Floats:
    """Pearson's r of every sample from each cluster's sums, centred first so that no digits are lost."""
    x, y = _centred(scores), _centred(ratings)
    parts = (np.ones(len(x)), x, y, x * x, y * y, x * y)
    sums = np.column_stack([np.bincount(cluster, part, weights.shape[1]) for part in parts])
    n, sx, sy, sxx, syy, sxy = (weights @ sums).T
    with np.errstate(divide="ignore", invalid="ignore"):
        r: Floats = (n * sxy - sx * sy) / np.sqrt(n * sxx - sx**2) / np.sqrt(n * syy - sy**2)
    constant = _constant(scores, cluster, weights) | _constant(ratings, cluster, weights)
    return np.where(np.isfinite(r) & ~constant, r, np.nan)


def _constant(values: Floats, cluster: Ints, weights: Floats) -> NDArray[np.bool_]:
    """Whether all values that a sample drew are equal: told from each cluster's ends, free of rounding."""
    low, high = np.full(weights.shape[1], np.inf), np.full(weights.shape[1], -np.inf)
    np.minimum.at(low, cluster, values)
    np.maximum.at(high, cluster, values)
    drawn = weights > 0
    smallest, largest = np.where(drawn, low, np.inf), np.where(drawn, high, -np.inf)
    constant: NDArray[np.bool_] = smallest.min(axis=1) >= largest.max(axis=1)
    return constant


def _sample_by_sample(
    found: dict[str, Floats], levels_x: Ints, levels_y: Ints, cluster: Ints, weights: Floats
) -> None:
    for number, weight in enumerate(weights):
        times = weight[cluster].astype(np.int64)
        x, y = np.repeat(levels_x, times).astype(np.float64), np.repeat(levels_y, times).astype(np.float64)
        for name, value in correlate(x, y).values.items():
            if name != "pearson" and value is not None:
                found[name][number] = value
