"""Could chance have made a difference? p of a paired bootstrap, Holm's correction, Williams' test for Pearson's r."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from sightline.meta.correlation import pearson

Floats = NDArray[np.float64]


def bootstrap_p(differences: Floats) -> float | None:
    """Two-sided p of a bootstrapped difference: how often it falls on the other side of zero.

    One is added to the counts (Davison & Hinkley 1997), so that p is never 0.
    """
    finite = differences[np.isfinite(differences)]
    if len(finite) < max(2, len(differences) // 2):
        return None
    tail = min(int((finite <= 0).sum()), int((finite >= 0).sum()))
    return min(1.0, 2 * (tail + 1) / (len(finite) + 1))


def holm(p: Sequence[float]) -> list[float]:
    """Each p corrected for their number (Holm 1979): the chance of any false difference among all stays below it."""
    order = np.argsort(p, kind="stable")
    steps = np.asarray(p, np.float64)[order] * np.arange(len(p), 0, -1)
    found = np.empty(len(p))
    found[order] = np.minimum(np.maximum.accumulate(steps), 1.0) if len(p) else steps
    return [float(value) for value in found]


@dataclass(frozen=True)
class Williams:
    """Williams' test: do two metrics differ in Pearson's r with the same ratings?"""

    t: float
    p: float
    n: int


def williams(one: Floats, other: Floats, ratings: Floats) -> Williams | None:
    """Two-sided test of r(one, ratings) = r(other, ratings), dependent correlations (Williams 1959).

    One value per item, since observations must be independent. None where a correlation is undefined or the
    metrics agree in full.
    """
    n = len(ratings)
    if n < 4 or any(not np.isfinite(v).all() or (v == v[0]).all() for v in (one, other, ratings)):
        return None
    r12, r13, r23 = pearson(ratings, one), pearson(ratings, other), pearson(one, other)
    determinant = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    below = 2 * determinant * (n - 1) / (n - 3) + ((r12 + r13) / 2) ** 2 * (1 - r23) ** 3
    if below <= 1e-15:
        return None
    t = (r12 - r13) * np.sqrt((n - 1) * (1 + r23) / below)
    return Williams(float(t), float(2 * special.stdtr(n - 3, -abs(t))), n)
