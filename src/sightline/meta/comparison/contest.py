"""Two systems in one metric: the difference with its interval, whether chance could have made it, and who wins."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from sightline.meta.significance import holm
from sightline.pipeline.resampling import (
    Floats,
    Ints,
    drawn_sums,
    expanded_interval,
    group_sums,
    swapped_sums,
)

SAMPLES = 1000
POWER = 0.8
"""How surely a difference of the size called detectable is found at p < .05."""
ROUNDING = 1e-10
"""Differences nearer than this, in parts of the values, are the same but for rounding."""


@dataclass(frozen=True)
class Together:
    """A value of many items together, from numbers of each item that add up: what a bootstrap resamples."""

    rows: Floats
    """[item, number]"""
    of: Callable[[Floats], Floats]
    """From sums of rows [sample, number] to the value of each sample."""

    @classmethod
    def mean(cls, scores: Sequence[float] | Floats) -> "Together":
        """The plain mean, of metrics that have no corpus-level value of their own."""
        values = np.asarray(scores, np.float64)
        return cls(np.column_stack([values, np.ones(len(values))]), lambda sums: sums[:, 0] / sums[:, 1])

    @property
    def value(self) -> float:
        return float(self.of(self.rows.sum(axis=0, keepdims=True))[0])


@dataclass(frozen=True)
class Side:
    """What one system got, item by item; the items are those that the other has too."""

    scores: Floats
    together: Together
    """What its value over many items is made of: the metric's corpus-level value, or the mean."""


@dataclass(frozen=True)
class Contest:
    """System a beside system b in one metric, over the items both have a score for."""

    a: float
    b: float
    difference: float
    """a minus b, of the corpus-level values where the metric has them."""
    low: float | None
    high: float | None
    """The 95 % interval; None where a single group leaves nothing to resample."""
    p: float
    """Two-sided, by approximate randomisation."""
    wins: int
    """Items that a scores higher in."""
    ties: int
    losses: int
    n: int
    groups: int
    """Pictures or stories, which are resampled whole."""
    detectable: float | None
    """The smallest true difference that so many items would show at p < .05 in four cases of five."""
    p_holm: float | None = None


def contests(
    pairs: Sequence[tuple[Side, Side]],
    group: Ints,
    *,
    samples: int = SAMPLES,
    rounds: int = SAMPLES,
    seed: int = 0,
) -> list[Contest]:
    """Every pair over the same items; `group` is each item's picture or story, counted from 0."""
    sides = {id(side): side for pair in pairs for side in pair}
    drawn = _each(sides, {key: side.together.rows for key, side in sides.items()}, group, samples, seed)
    swaps, exact = _swaps(pairs, group, rounds, seed)
    return [
        _contest(a, b, drawn[id(a)], drawn[id(b)], swap, exact, group)
        for (a, b), swap in zip(pairs, swaps, strict=True)
    ]


def _each(
    sides: dict[int, Side], rows: dict[int, Floats], group: Ints, samples: int, seed: int
) -> dict[int, Floats]:
    """The value of each side in every bootstrap sample."""
    cuts = np.cumsum([part.shape[1] for part in rows.values()])[:-1]
    sums = drawn_sums(group_sums(np.hstack(list(rows.values())), group), samples, seed)
    return {key: sides[key].together.of(part) for key, part in zip(rows, np.hsplit(sums, cuts), strict=True)}


def _swaps(
    pairs: Sequence[tuple[Side, Side]], group: Ints, rounds: int, seed: int
) -> tuple[list[Floats], bool]:
    """The difference of each pair in every round, where a coin decided for each group whose is whose."""
    gaps = [b.together.rows - a.together.rows for a, b in pairs]
    cuts = np.cumsum([gap.shape[1] for gap in gaps])[:-1]
    moved, exact = swapped_sums(group_sums(np.hstack(gaps), group), rounds, seed + 1)
    found = []
    for (a, b), gap in zip(pairs, np.hsplit(moved, cuts), strict=True):
        mine, theirs = a.together.rows.sum(axis=0), b.together.rows.sum(axis=0)
        found.append(a.together.of(mine + gap) - b.together.of(theirs - gap))
    return found, exact


def _contest(
    a: Side, b: Side, drawn_a: Floats, drawn_b: Floats, swap: Floats, exact: bool, group: Ints
) -> Contest:
    groups, same = int(group.max()) + 1, np.array_equal(a.together.rows, b.together.rows)
    value_a, value_b = a.together.value, b.together.value
    difference = value_a - value_b
    spread = np.zeros(len(drawn_a)) if same else drawn_a - drawn_b
    rounding = ROUNDING * max(abs(value_a), abs(value_b))
    reached = int((np.abs(swap) >= abs(difference) - rounding).sum())
    error = float(spread.std(ddof=1))
    low, high = expanded_interval(spread, groups) if groups > 1 else (None, None)
    return Contest(
        value_a,
        value_b,
        difference,
        low,
        high,
        p=reached / len(swap) if exact else (reached + 1) / (len(swap) + 1),
        wins=int((a.scores > b.scores).sum()),
        ties=int((a.scores == b.scores).sum()),
        losses=int((a.scores < b.scores).sum()),
        n=len(a.scores),
        groups=groups,
        detectable=detectable(error if error > rounding else 0.0, groups),
    )


def detectable(error: float, groups: int) -> float | None:
    """The smallest difference found with a power of .8, from its standard error; None where nothing varies."""
    if groups < 2 or error <= 0:
        return None
    t = special.stdtrit(groups - 1, 0.975) + special.stdtrit(groups - 1, POWER)
    return float(t * error * np.sqrt(groups / (groups - 1)))


def corrected(found: Sequence[Contest]) -> list[Contest]:
    """The same with Holm's correction over all of them."""
    return [replace(one, p_holm=p) for one, p in zip(found, holm([one.p for one in found]), strict=True)]


def rounds_for(comparisons: int, samples: int) -> int:
    """How many rounds the randomisation takes, so that Holm's correction of so many leaves room below .01."""
    return max(10 * samples, 200 * comparisons)
