"""Made-up responses from known parameters: for recovery studies, tests and planning a design."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.psychometrics.model.responses import Floats


def simulate(
    abilities: Floats, thresholds: list[Floats], rng: np.random.Generator, missing: float = 0.0
) -> Floats:
    """Levels by the partial credit model, person x item; a share `missing` of the answers is NaN."""
    values = np.empty((len(abilities), len(thresholds)))
    for i, tau in enumerate(thresholds):
        logits = np.arange(len(tau) + 1) * abilities[:, None] - np.r_[0, np.cumsum(tau)]
        values[:, i] = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    values[rng.random(values.shape) < missing] = np.nan
    return values


def erm_centred(thresholds: list[Floats]) -> list[Floats]:
    """Thresholds shifted so that the category parameters sum to zero, as eRm and Sightline centre them."""
    total = sum(float(np.cumsum(tau).sum()) for tau in thresholds)
    weight = sum(len(tau) * (len(tau) + 1) / 2 for tau in thresholds)
    return [tau - total / weight for tau in thresholds]


@dataclass(frozen=True)
class RaterStudy:
    """Made-up raters whose ways are known."""

    ratings: Floats
    """rater x item, levels 1 to 5"""
    names: list[str]
    gold: list[str]
    random: NDArray[np.bool_]
    """Raters who click at random half of the time or more."""
    quality: Floats


def simulate_raters(rng: np.random.Generator, items: int = 40, per_kind: int = 10) -> RaterStudy:
    """Four gold annotators, and careful, severe or lenient, and randomly clicking workers in equal
    numbers."""
    kinds = ["gold"] * 4 + ["careful"] * per_kind + ["severe"] * per_kind + ["random"] * per_kind
    quality = rng.normal(size=items)
    tau = np.array([-1.5, -0.5, 0.5, 1.5])
    ratings = np.empty((len(kinds), items))
    for j, kind in enumerate(kinds):
        severity = rng.choice([-1, 1]) * rng.uniform(1.0, 1.8) if kind == "severe" else rng.normal(scale=0.15)
        slope = 2.0 if kind == "gold" else 1.6
        logits = slope * (np.arange(5) * (quality[:, None] - severity) - np.r_[0, np.cumsum(tau)])
        ratings[j] = 1 + (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
        if kind == "random":
            lazy = rng.random(items) < rng.uniform(0.5, 1.0)
            ratings[j, lazy] = rng.integers(1, 6, int(lazy.sum()))
    names = [f"{kind}{n + 1}" for n, kind in enumerate(kinds)]
    random = np.array([kind == "random" for kind in kinds])
    return RaterStudy(ratings, names, names[:4], random, quality)


@dataclass(frozen=True)
class FacetStudy:
    """Ratings from the many-facet model: raters around their mean severity, on the mean rater's scale."""

    ratings: Floats
    """rater x item, levels 1 to 5"""
    names: list[str]
    quality: Floats
    severity: Floats
    log_consistency: Floats


def simulate_facets(
    rng: np.random.Generator, raters: int, items: int, *, spread: float = 1.5, consistency: float = 0.2
) -> FacetStudy:
    """Every rater rates every item; `spread` is that of the qualities, `consistency` that of its logarithm."""
    quality = rng.normal(0, spread, items)
    severity, log_consistency = rng.normal(size=raters), rng.normal(0, consistency, raters)
    severity -= severity.mean()
    log_consistency -= log_consistency.mean()
    steps = np.array([0, -1.5, -2.0, -1.5, 0])  # summed: -1.5, -0.5, 0.5, 1.5
    distance = np.arange(5) * (quality[None, :, None] - severity[:, None, None]) - steps
    logits = np.exp(log_consistency)[:, None, None] * distance
    levels = 1.0 + (logits + rng.gumbel(size=logits.shape)).argmax(axis=2)
    return FacetStudy(levels, [f"rater {n + 1}" for n in range(raters)], quality, severity, log_consistency)
