"""What a gate lets through: simulated workers on the very items and gold annotators that are given."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sightline.psychometrics.agreement.alpha import Scale
from sightline.psychometrics.agreement.workers import Gate, agreement, yardstick
from sightline.psychometrics.model.responses import Floats

WORKERS = 200
"""Simulated of each kind."""


@dataclass(frozen=True)
class Passing:
    """Which share of each kind of worker would be kept."""

    random: float
    """Any level, whatever the item."""
    same: float
    """Always the same level, each level as often."""
    shifted: float
    """As good as the gold annotators, but always one level too high or too low."""
    good: float
    """As far from the other gold annotators' mean as the gold annotators are."""

    def __str__(self) -> str:
        return (
            f"{self.random:.0%} of simulated workers who answer at random would pass, {self.same:.0%} of those "
            f"who always give the same level, {self.shifted:.0%} of those who are one level too strict or too lenient, "
            f"{self.good:.0%} of those as good as the gold annotators"
        )


def simulate_gate(
    reference: Floats,
    levels: Sequence[float],
    *,
    gate: Gate,
    threshold: float,
    scale: Scale = "ordinal",
    questions: int | None = None,
    workers: int = WORKERS,
    seed: int = 0,
) -> Passing:
    """Pass simulated workers through the gate.

    `reference` holds the gold annotators' levels (annotator x item, NaN where there is none), `levels` all
    levels of the scale. With `questions` each worker answers so many items, drawn anew.
    """
    rng = np.random.default_rng(seed)
    known = np.array(sorted(levels), float)
    rated = reference[:, ~np.isnan(reference).all(axis=0)]
    asked = min(questions or rated.shape[1], rated.shape[1])
    spread = _residuals(rated)
    kept = np.zeros(4)
    for number in range(workers):
        chosen = rng.choice(rated.shape[1], asked, replace=False)
        part = rated[:, chosen]
        good = _nearest(known, np.nanmean(part, axis=0) + rng.choice(spread, asked))
        shift = (1 if number % 2 else -1) * (known[1] - known[0])
        four = (
            rng.choice(known, asked),
            np.full(asked, known[number % len(known)]),
            np.clip(good + shift, known[0], known[-1]),
            good,
        )
        own = yardstick(part, gate, scale)
        if own > 0:
            kept += [agreement(part, worker, gate, scale) / own > threshold for worker in four]
    return Passing(*(kept / workers).tolist())


def _residuals(reference: Floats) -> Floats:
    """Each gold rating minus the mean of the others on the same item."""
    given = ~np.isnan(reference)
    count, total = given.sum(axis=0), np.where(given, reference, 0).sum(axis=0)
    others = np.where(count > 1, (total - reference) / np.maximum(count - 1, 1), np.nan)
    found = (reference - others)[given & (count > 1)]
    return found if len(found) else np.zeros(1)


def _nearest(known: Floats, values: Floats) -> Floats:
    return np.asarray(known[np.abs(values[:, None] - known[None, :]).argmin(axis=1)])
