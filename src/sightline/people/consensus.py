"""What people agree on, how surely, and what a rating earns (VICR, Section 3.2; `con`, `c` and `p` there)."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from sightline.people.scales import Scale

SEEDS = 2
"""A model's rating counts as two agreeing ones until people replace them one by one."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How many people chose each level of a scale, and the model's rating that stands in until two have."""

    scale: Scale
    counts: tuple[int, ...]
    seed: int | None = None

    @classmethod
    def empty(cls, scale: Scale, seed: int | None = None) -> "Tally":
        return cls(scale, (0,) * len(scale.levels), seed)

    @classmethod
    def of(cls, scale: Scale, ratings: Iterable[int], seed: int | None = None) -> "Tally":
        tally = cls.empty(scale, seed)
        for rating in ratings:
            tally = tally.add(rating)
        return tally

    def add(self, rating: int) -> "Tally":
        at = self.scale.check(rating) - self.scale.low
        return replace(self, counts=(*self.counts[:at], self.counts[at] + 1, *self.counts[at + 1 :]))

    def remove(self, rating: int) -> "Tally":
        at = self.scale.check(rating) - self.scale.low
        return replace(self, counts=(*self.counts[:at], self.counts[at] - 1, *self.counts[at + 1 :]))

    @property
    def people(self) -> int:
        return sum(self.counts)

    @property
    def seeds(self) -> int:
        """How many of the model's ratings still stand."""
        return max(SEEDS - self.people, 0) if self.seed is not None else 0

    @property
    def standing(self) -> tuple[int, ...]:
        """Ratings per level with the seeds that still stand."""
        left = self.seeds
        if not left or self.seed is None:
            return self.counts
        at = self.seed - self.scale.low
        return (*self.counts[:at], self.counts[at] + left, *self.counts[at + 1 :])

    @property
    def n(self) -> int:
        return sum(self.standing)

    def _sums(self) -> tuple[int, int, int]:
        n = total = squares = 0
        for value, count in enumerate(self.standing, self.scale.low):
            n, total, squares = n + count, total + value * count, squares + value * value * count
        return n, total, squares

    @property
    def mean(self) -> float | None:
        n, total, _ = self._sums()
        return total / n if n else None

    @property
    def variance(self) -> float | None:
        """Population variance."""
        n, total, squares = self._sums()
        return (n * squares - total * total) / n**2 if n else None

    @property
    def consensus(self) -> int | None:
        """`con`: the mean rounded half up; none before anyone, or the model, has rated."""
        n, total, _ = self._sums()
        return (2 * total + n) // (2 * n) if n else None

    def _confidence(self) -> tuple[int, int]:
        # c = 1 + (1 + (n - 1) var / Vmax) / n over one denominator, lest a point hang on a rounding error
        n, total, squares = self._sums()
        spread = (len(self.scale.levels) - 1) ** 2  # 4 Vmax: half of the people at each end
        bottom = n**3 * spread
        return bottom + n**2 * spread + 4 * (n - 1) * (n * squares - total * total), bottom

    @property
    def confidence(self) -> float | None:
        """`c` in [1, 2]: 1 is perfect confidence in the consensus, 2 the least."""
        if not self.n:
            return None
        top, bottom = self._confidence()
        return top / bottom

    def points(self, rating: int) -> int | None:
        """p = max(3 - floor(2 |x - con| / c), -1): what a rating earns against the ratings before it."""
        consensus = self.consensus
        if consensus is None:
            return None
        top, bottom = self._confidence()
        return max(3 - (2 * abs(rating - consensus) * bottom) // top, -1)


def expert(scale: Scale, level: int) -> Tally:
    """A gold item's known level stands as two agreeing ratings: a hit earns 3, a miss by one 2."""
    return Tally.empty(scale, seed=level)


def weighted_consensus(scale: Scale, ratings: Iterable[tuple[int, float]]) -> int | None:
    """The weighted mean rounded half up; with equal weights it is `con`."""
    pairs = [(value, weight) for value, weight in ratings if weight > 0]
    mass = sum(weight for _, weight in pairs)
    if not mass:
        return None
    mean = sum(value * weight for value, weight in pairs) / mass
    return min(max(math.floor(mean + 0.5 + 1e-9), scale.low), scale.high)
