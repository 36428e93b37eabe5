"""Resampled sums of what systems are compared on, whole groups at a time: a picture with all its captions, a story.

Nothing is resampled item by item: a sample is a row of weights, and all its sums are one product of matrices.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import special

from sightline.pipeline.engines import same_bits

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CELLS = 4_000_000
"""Weights held at once."""


def group_sums(rows: Floats, group: Ints) -> Floats:
    """[group, number]: the rows of each group added up."""
    size = int(group.max()) + 1
    if size == len(rows) and (group == np.arange(size)).all():
        return rows
    return np.column_stack([np.bincount(group, column, size) for column in rows.T])


@same_bits()
def drawn_sums(sums: Floats, samples: int, seed: int) -> Floats:
    """[sample, number]: sums over as many groups as there are, drawn with replacement (a bootstrap)."""
    groups, rng = len(sums), np.random.default_rng(seed)
    found = []
    for size in _steps(samples, groups):
        drawn = rng.integers(groups, size=(size, groups), dtype=np.int32) + np.arange(size)[:, None] * groups
        weights = np.bincount(drawn.ravel(), minlength=size * groups).reshape(size, groups)
        found.append(weights.astype(np.float64) @ sums)
    return np.concatenate(found)


@same_bits()
def swapped_sums(sums: Floats, rounds: int, seed: int) -> tuple[Floats, bool]:
    """[round, number]: sums over the groups that a fair coin chose; and whether these are all ways there are.

    Few groups have few ways to be chosen: then each comes once, and no chance is left in the outcome.
    """
    groups = len(sums)
    if groups < 63 and 1 << groups <= rounds:
        every = np.arange(1 << groups)[:, None] >> np.arange(groups) & 1
        return every.astype(np.float64) @ sums, True
    rng = np.random.default_rng(seed)
    found = []
    for size in _steps(rounds, groups):
        coins = np.frombuffer(rng.bytes(size * (groups + 7 >> 3)), np.uint8).reshape(size, -1)
        chosen = np.unpackbits(coins, axis=1, count=groups)
        found.append(chosen.astype(np.float64) @ sums)
    return np.concatenate(found), False


def expanded_interval(samples: Floats, groups: int, level: float = 0.95) -> tuple[float, float]:
    """The percentile interval, widened as Student's t widens the normal (Hesterberg 2015, section 3.3).

    Percentiles alone are too narrow by what a sample's spread falls short of the population's; with 20 groups the
    tails are then .018 instead of .025, with 1,000 there is no difference to see.
    """
    t = special.stdtrit(groups - 1, (1 + level) / 2)
    tail = float(special.ndtr(-np.sqrt(groups / (groups - 1)) * t))
    low, high = np.quantile(samples, (tail, 1 - tail))
    return float(low), float(high)


def _steps(samples: int, groups: int) -> Iterator[int]:
    step = max(1, CELLS // groups)
    for start in range(0, samples, step):
        yield min(step, samples - start)
