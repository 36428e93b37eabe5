"""A many-facet model of raters: how severe and how consistent each is, apart from how good the items are.

log P(k) / P(k-1) = a_j (theta_n - lambda_j - tau_k): the item's quality theta_n ~ N(0, sigma^2), the rater's
severity lambda_j and consistency a_j (Linacre 1989; with a_j as in Uto and Ueno 2018), and steps tau_k that
all raters share. A rater with a_j near 0 rates whatever the item is like. Severities and log consistencies
have weak normal priors around 0 and 1, so that raters with few ratings stay near the others.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import logsumexp
from threadpoolctl import threadpool_limits

from sightline.errors import UsageError
from sightline.psychometrics.model.responses import Floats, Ints, components, disconnected

NODES = np.linspace(-4.5, 4.5, 46)
SEVERITY_SD, CONSISTENCY_SD = 1.5, 0.8
LEAST = 0.4
"""A rater counts as consistent with at least so much of the median rater's consistency."""


@dataclass(frozen=True)
class Facets:
    """Raters with severity and consistency, items with quality; each with standard errors."""

    raters: tuple[str, ...]
    severity: Floats
    severity_se: Floats
    consistency: Floats
    log_consistency_se: Floats
    quality: Floats
    quality_se: Floats
    thresholds: Floats
    sigma: float
    log_likelihood: float
    converged: bool

    @property
    def keep(self) -> NDArray[np.bool_]:
        """Raters whose consistency is at least `LEAST` of the median one."""
        return np.asarray(self.consistency >= LEAST * np.median(self.consistency))


class _Model:
    """The penalised marginal log-likelihood and its gradient.

    Parameters: severity of each rater, log consistency of each rater, steps, log sigma.
    """

    def __init__(self, levels: Ints) -> None:
        self.raters, self.items = levels.shape
        self.most = int(levels.max())
        rater, item = np.nonzero(levels >= 0)
        column = rater * (self.most + 1) + levels[rater, item]
        shape = (self.items, self.raters * (self.most + 1))
        self.given = csr_array((np.ones(len(rater)), (item, column)), shape=shape)
        weight = np.exp(-(NODES**2) / 2)
        self.log_weight = np.log(weight / weight.sum())

    def split(self, point: Floats) -> tuple[Floats, Floats, Floats, float]:
        j = self.raters
        return point[:j], np.exp(point[j : 2 * j]), point[2 * j : -1], float(np.exp(point[-1]))

    def posterior(self, point: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Level probabilities (rater x level x q), the distances they come from, posteriors, log
        integrals."""
        severity, slope, tau, sigma = self.split(point)
        level = np.arange(self.most + 1)
        steps = np.concatenate([[0.0], np.cumsum(tau)])
        inner = level[None, :, None] * (sigma * NODES[None, None, :] - severity[:, None, None])
        distance = inner - steps[None, :, None]
        logits = slope[:, None, None] * distance
        log_p = logits - logsumexp(logits, axis=1, keepdims=True)
        joint = self.given @ log_p.reshape(-1, len(NODES)) + self.log_weight
        total = logsumexp(joint, axis=1)
        return np.exp(log_p), distance, np.exp(joint - total[:, None]), total

    def __call__(self, point: Floats) -> tuple[float, Floats]:
        """Minus the penalised log-likelihood, and its gradient."""
        severity, slope, _, sigma = self.split(point)
        p, distance, h, total = self.posterior(point)
        seen = (self.given.T @ h).reshape(p.shape)
        gap = seen - seen.sum(axis=1, keepdims=True) * p  # derivative by the logits
        level = np.arange(self.most + 1)[None, :, None]
        by_distance = slope[:, None, None] * gap
        by_step = -by_distance.sum(axis=(0, 2))
        gradient = np.concatenate(
            [
                -(level * by_distance).sum(axis=(1, 2)) - severity / SEVERITY_SD**2,
                (by_distance * distance).sum(axis=(1, 2)) - np.log(slope) / CONSISTENCY_SD**2,
                np.cumsum(by_step[::-1])[::-1][1:],
                [(level * by_distance * sigma * NODES).sum()],
            ]
        )
        penalty = (severity @ severity) / SEVERITY_SD**2 + (np.log(slope) @ np.log(slope)) / CONSISTENCY_SD**2
        return float(penalty / 2 - total.sum()), np.asarray(-gradient, np.float64)

    def information(self, point: Floats, step: float = 1e-4) -> Floats:
        """Second derivatives from differences of the gradient."""
        rows = []
        for n in range(len(point)):
            move = np.zeros(len(point))
            move[n] = step
            rows.append((self(point + move)[1] - self(point - move)[1]) / (2 * step))
        found = np.array(rows)
        return (found + found.T) / 2


def fit_facets(ratings: Floats, raters: Sequence[str], *, errors: bool = False) -> Facets:
    """Fit the model to a rater x item table of whole numbers; `errors` adds the parameters' standard
    errors."""
    answered = ~np.isnan(ratings)
    groups = [group for group in components(answered) if len(group[0])]
    if len(groups) > 1:
        names = [f"item {n + 1}" for n in range(ratings.shape[1])]
        raise UsageError(disconnected(groups, raters, names))
    values = np.unique(ratings[answered])
    if len(values) < 2:
        raise UsageError("the ratings do not vary: nothing can be said about raters")
    levels = np.where(answered, np.searchsorted(values, np.where(answered, ratings, values[0])), -1)
    model = _Model(levels)
    shares = np.array([(levels == k).sum() for k in range(len(values))]) + 0.5
    start = np.concatenate([np.zeros(2 * model.raters), np.log(shares[:-1] / shares[1:]), [0.0]])
    with threadpool_limits(1, "blas"):
        best = minimize(model, start, jac=True, method="L-BFGS-B", options={"maxiter": 500, "gtol": 1e-4})
        spread = np.full(len(start), np.nan)
        if errors:
            covariance = np.linalg.pinv(model.information(best.x), hermitian=True)
            spread = np.sqrt(np.maximum(np.diag(covariance), 0))
        _, _, h, total = model.posterior(best.x)
    severity, slope, tau, sigma = model.split(best.x)
    theta = sigma * NODES
    quality = h @ theta
    return Facets(
        tuple(raters),
        severity,
        spread[: model.raters],
        slope,
        spread[model.raters : 2 * model.raters],
        quality,
        np.sqrt(np.maximum(h @ theta**2 - quality**2, 0)),
        tau,
        sigma,
        float(total.sum()),
        bool(best.success),
    )
