"""How abilities are spread: a normal distribution around a regression, or a smooth one of free shape."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import logsumexp

from sightline.psychometrics.model.responses import Floats

REACH = 7.5
"""Standard deviations of the population that the grid covers on each side."""
STEP = 0.85
"""Step of the grid in units of the narrowest posterior's standard deviation: error below 1e-11."""
LEAST_SIGMA = 0.02
Information = Callable[[Floats], Floats]
"""The test's information at some abilities."""


@dataclass(frozen=True)
class Prior:
    """A population seen from some groups, on a grid of abilities."""

    log: Floats
    """Log of the probability of each node (group x q, or 1 x q where all groups share it)."""
    score: Floats
    """Its derivatives by the population's parameters: parameter x group x q, or parameter x 1 x q."""
    curvature: Floats
    """Minus its second derivatives: parameter x parameter x group x q (or x 1 x q)."""


class Population(Protocol):
    """What the likelihood asks of a distribution of abilities."""

    size: int

    def start(self) -> Floats: ...

    def grid(self, point: Floats, covariates: Floats, information: Information) -> Floats:
        """Even nodes that cover the population and resolve the narrowest posterior."""

    def prior(self, point: Floats, theta: Floats, covariates: Floats) -> Prior: ...

    def bounded(self, point: Floats) -> Floats: ...


class Normal:
    """theta ~ N(x'beta, sigma^2); the parameters are beta (intercept first) and log sigma."""

    def __init__(self, coefficients: int) -> None:
        self.size = coefficients + 1

    def start(self) -> Floats:
        return np.zeros(self.size)

    def grid(self, point: Floats, covariates: Floats, information: Information) -> Floats:
        mu, sigma = covariates @ point[:-1], float(np.exp(point[-1]))
        low, high = float(mu.min()) - REACH * sigma, float(mu.max()) + REACH * sigma
        step = STEP / np.sqrt(information(np.linspace(low, high, 60)).max() + 1 / sigma**2)
        return np.linspace(low, high, int(np.ceil((high - low) / step)) + 1)

    def prior(self, point: Floats, theta: Floats, covariates: Floats) -> Prior:
        x = covariates[:1] if self.size == 2 else covariates
        sigma = np.exp(point[-1])
        z = (theta[None, :] - (x @ point[:-1])[:, None]) / sigma
        log = -(z**2) / 2 + np.log((theta[1] - theta[0]) / (sigma * np.sqrt(2 * np.pi)))
        by_beta = x.T[:, :, None] * (z / sigma)
        score = np.concatenate([by_beta, z[None] ** 2 - 1])
        curvature = np.zeros((self.size, *score.shape))
        curvature[:-1, :-1] = (x.T[:, None] * x.T[None, :])[:, :, :, None] / sigma**2
        curvature[:-1, -1] = curvature[-1, :-1] = 2 * by_beta
        curvature[-1, -1] = 2 * z**2
        return Prior(log, score, curvature)

    def bounded(self, point: Floats) -> Floats:
        return np.append(point[:-1], max(point[-1], np.log(LEAST_SIGMA)))


class Smooth:
    """Log probability of node z = lambda_1 z + … + lambda_4 z^4: mean, spread, skew and peak are free.

    Log-linear smoothing of a discrete population (Xu and von Davier 2008). The nodes are fixed, z is their
    place in units of a normal fit.
    """

    size = 4
    reach = 3.5

    def __init__(self, mean: float, sigma: float, step: float) -> None:
        half = int(np.ceil(self.reach * sigma / step))
        z = np.linspace(-self.reach, self.reach, 2 * half + 1)
        self.nodes = mean + sigma * z
        self.powers = z[None, :] ** np.arange(1, 5)[:, None]

    def start(self) -> Floats:
        return np.array([0, -0.5, 0, 0])

    def grid(self, point: Floats, covariates: Floats, information: Information) -> Floats:
        return self.nodes

    def prior(self, point: Floats, theta: Floats, covariates: Floats) -> Prior:
        log = point @ self.powers
        log -= logsumexp(log)
        density = np.exp(log)
        away = self.powers - (self.powers @ density)[:, None]
        spread = (away * density) @ away.T
        return Prior(log[None], away[:, None, :], np.broadcast_to(spread[:, :, None, None], (4, 4, 1, 1)))

    def bounded(self, point: Floats) -> Floats:
        return point

    def moments(self, point: Floats) -> tuple[float, float, Floats]:
        """Mean and standard deviation, and the derivatives of both by the parameters (2 x 4)."""
        prior = self.prior(point, self.nodes, np.ones((1, 1)))
        density = np.exp(prior.log[0])
        mean = float(density @ self.nodes)
        square = (self.nodes - mean) ** 2
        sd = float(np.sqrt(density @ square))
        away = prior.score[:, 0, :] * density
        return mean, sd, np.stack([away @ self.nodes, away @ square / (2 * sd)])
