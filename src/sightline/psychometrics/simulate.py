"""Made-up responses from known parameters: for recovery studies, tests and planning a design."""

import numpy as np

from sightline.psychometrics.responses import Floats


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
