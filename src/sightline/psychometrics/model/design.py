"""Rasch-family models as one linear map: from free parameters to category parameters eta.

P(x = k | theta) is proportional to exp(k theta + eta_ik) with eta_i0 = 0 and eta_ik = -(tau_i1 + … + tau_ik);
tau are the step parameters (Masters 1982, eq. 6). The partial credit model leaves every tau free, the rating
scale model has tau_ih = delta_i + kappa_h, and with two levels both are the Rasch model.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.errors import unknown
from sightline.psychometrics.model.responses import Floats, Ints

MODELS = ("pcm", "rsm")


@dataclass(frozen=True)
class Design:
    """Which items and levels have a category parameter, and how these come from the free parameters."""

    steps: Ints
    weights: Floats
    """eta = weights @ free; the centring is built in."""

    @property
    def item(self) -> Ints:
        """The item of each category parameter."""
        return np.repeat(np.arange(len(self.steps)), self.steps)

    @property
    def level(self) -> Ints:
        """The level (1, 2, …) of each category parameter."""
        return np.concatenate([np.arange(1, count + 1) for count in self.steps])

    @property
    def to_thresholds(self) -> Floats:
        """tau_ik = eta_i(k-1) - eta_ik, as a matrix."""
        size = int(self.steps.sum())
        matrix = -np.eye(size)
        inner = np.flatnonzero(self.level > 1)
        matrix[inner, inner - 1] = 1
        return matrix


def design_for(model: str, steps: Ints) -> Design:
    """The design of a model, centred as eRm does: the category parameters of all items sum to zero."""
    if model not in MODELS:
        raise unknown("model", model, MODELS)
    size = int(steps.sum())
    if model == "pcm":
        return Design(steps, basis(np.ones((1, size))))
    bare = Design(steps, np.eye(size))
    delta = np.where(bare.item[:, None] == np.arange(len(steps)), -bare.level[:, None], 0)
    kappa = np.where(bare.level[:, None] >= np.arange(1, steps.max() + 1), -1, 0)
    full = np.hstack([delta, kappa])
    sums = np.vstack([full.sum(axis=0), np.r_[np.zeros(len(steps)), np.ones(steps.max())]])
    return Design(steps, full @ basis(sums))


def basis(constraints: Floats) -> Floats:
    """A basis of the vectors v with constraints @ v = 0: all but the pivots are free, the pivots follow from
    them."""
    count, size = constraints.shape
    pivots = [size - 1]
    for row in range(1, count):  # a second constraint takes a pivot that keeps the pivot block invertible
        for candidate in range(size - 2, -1, -1):
            block = constraints[: row + 1][:, [*pivots, candidate]]
            if candidate not in pivots and abs(np.linalg.det(block)) > 1e-9:
                pivots.append(candidate)
                break
    free = np.setdiff1d(np.arange(size), pivots)
    found = np.zeros((size, len(free)))
    found[free, np.arange(len(free))] = 1
    found[pivots] = -np.linalg.solve(constraints[:, pivots], constraints[:, free])
    return found


def padded(design: Design, eta: Floats) -> Floats:
    """eta as item x level with eta_i0 = 0, and -inf for levels an item does not have."""
    table = np.full((len(design.steps), int(design.steps.max()) + 1), -np.inf)
    table[:, 0] = 0
    table[design.item, design.level] = eta
    return table


def category_probabilities(table: Floats, theta: Floats) -> tuple[Floats, Floats]:
    """P(x_i = k | theta_q) as item x level x q, and log of the normaliser, item x q."""
    level = np.arange(table.shape[1])
    logits = table[:, :, None] + level[None, :, None] * theta[None, None, :]
    top = logits.max(axis=1)
    raw = np.exp(logits - top[:, None, :])
    total = raw.sum(axis=1)
    return raw / total[:, None, :], top + np.log(total)


def moments(table: Floats, theta: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean, variance and third central moment of each item's level, item x q."""
    probability, _ = category_probabilities(table, theta)
    level = np.arange(table.shape[1], dtype=float)
    mean = np.einsum("ikq,k->iq", probability, level)
    away = level[None, :, None] - mean[:, None, :]
    return mean, (probability * away**2).sum(axis=1), (probability * away**3).sum(axis=1)


def starting_values(design: Design, counts: Floats) -> Floats:
    """Free parameters from the levels' frequencies (item x level): tau = log(n_(k-1) / n_k), widened for the
    spread."""
    item, level = design.item, design.level
    tau = 1.2 * np.log((counts[item, level - 1] + 0.5) / (counts[item, level] + 0.5))
    eta = np.linalg.solve(design.to_thresholds, tau)
    eta -= level * eta.sum() / level.sum()
    return np.asarray(np.linalg.lstsq(design.weights, eta, rcond=None)[0])


def level_counts(levels: NDArray[np.int8], most: int) -> Floats:
    """How often each item got each level, item x level."""
    return np.stack([(levels == k).sum(axis=0) for k in range(most + 1)], axis=1).astype(float)
