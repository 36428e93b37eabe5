"""Where each person stands: EAP, ML and Warm's weighted likelihood estimates with standard errors."""

from dataclasses import dataclass

import numpy as np

from sightline.psychometrics.model.design import category_probabilities
from sightline.psychometrics.model.fit import ModelFit
from sightline.psychometrics.model.groups import CHUNK
from sightline.psychometrics.model.marginal import MarginalLikelihood
from sightline.psychometrics.model.responses import Floats, Ints

LIMIT = 40.0


@dataclass(frozen=True)
class Estimates:
    """One kind of estimate for every group; NaN where it does not exist."""

    ability: Floats
    se: Floats


def eap(fit: ModelFit) -> Estimates:
    """Mean and standard deviation of each posterior."""
    likelihood = MarginalLikelihood(fit.design, fit.responses, fit.groups, fit.marginal.population)
    theta = likelihood.grid(fit.design.weights @ fit.items.free, fit.marginal.point)
    _, log_d = category_probabilities(fit.table, theta)
    ability, se = np.empty(len(fit.groups.score)), np.empty(len(fit.groups.score))
    for groups in fit.groups.chunks():
        prior = fit.marginal.population.prior(fit.marginal.point, theta, fit.groups.covariates[groups])
        h, _ = likelihood.posterior(groups, theta, log_d, prior)
        ability[groups] = h @ theta
        se[groups] = np.sqrt(np.maximum(h @ theta**2 - ability[groups] ** 2, 0))
    return Estimates(ability, se)


def mle(fit: ModelFit) -> Estimates:
    """Maximum likelihood; the lowest and highest possible scores have none."""
    found = _solve(fit, 0.0)
    extreme = fit.groups.score == 0
    extreme |= fit.groups.score == (fit.groups.masks @ fit.design.steps)[fit.groups.mask]
    return Estimates(np.where(extreme, np.nan, found.ability), np.where(extreme, np.nan, found.se))


def wle(fit: ModelFit) -> Estimates:
    """Warm's weighted likelihood: less biased than ML, and finite for every score."""
    return _solve(fit, 0.5)


def _solve(fit: ModelFit, weight: float) -> Estimates:
    """The root of score - E(theta) + weight * J / I, with J the sum of third central moments and I the
    information."""
    groups = fit.groups
    keys, first, where = np.unique(
        groups.mask * (int(groups.score.max()) + 1) + groups.score.astype(np.int64),
        return_index=True,
        return_inverse=True,
    )
    ability, se = np.empty(len(keys)), np.empty(len(keys))
    for at in range(0, len(keys), CHUNK):
        mine = first[at : at + CHUNK]
        ability[at : at + CHUNK], se[at : at + CHUNK] = _roots(fit, mine, weight)
    return Estimates(ability[where], se[where])


def _roots(fit: ModelFit, which: Ints, weight: float) -> tuple[Floats, Floats]:
    """Fisher scoring inside a bracket that halves when a step would leave it."""
    score, masks = fit.groups.score[which], fit.groups.masks[fit.groups.mask[which]].T
    low, high = np.full(len(which), -LIMIT), np.full(len(which), LIMIT)
    theta = np.zeros(len(which))
    level = np.arange(fit.table.shape[1], dtype=float)
    for _ in range(100):
        p, _ = category_probabilities(fit.table, theta)
        mean = np.einsum("ikq,k->iq", p, level)
        away = level[None, :, None] - mean[:, None, :]
        information = ((p * away**2).sum(axis=1) * masks).sum(axis=0)
        skew = ((p * away**3).sum(axis=1) * masks).sum(axis=0)
        gap = score - (mean * masks).sum(axis=0) + weight * skew / np.maximum(information, 1e-300)
        low, high = np.where(gap > 0, theta, low), np.where(gap > 0, high, theta)
        step = gap / np.maximum(information, 1e-12)
        next_theta = theta + np.clip(step, -2, 2)
        outside = (next_theta <= low) | (next_theta >= high)
        next_theta = np.where(outside, (low + high) / 2, next_theta)
        if np.abs(next_theta - theta).max() < 1e-10:
            break
        theta = next_theta
    return theta, 1 / np.sqrt(np.maximum(information, 1e-300))


def eap_reliability(estimates: Estimates, count: Floats) -> float:
    """Share of the abilities' variance that the estimates carry."""
    explained = _variance(estimates.ability, count)
    return explained / (explained + float(np.average(estimates.se**2, weights=count)))


def separation_reliability(estimates: Estimates, count: Floats) -> float:
    """(observed variance - mean squared error) / observed variance, over people who have the estimate (eRm's
    SepRel)."""
    known = ~np.isnan(estimates.ability)
    if count[known].sum() < 2:
        return float("nan")
    observed = _variance(estimates.ability[known], count[known])
    error = float(np.average(estimates.se[known] ** 2, weights=count[known]))
    return (observed - error) / observed if observed > 0 else float("nan")


def _variance(values: Floats, count: Floats) -> float:
    mean = np.average(values, weights=count)
    return float(count @ (values - mean) ** 2 / (count.sum() - 1))
