"""Marginal maximum likelihood: abilities are integrated out over their population, so the regression is
inside.

The integral is a trapezoid sum over an even grid. For a smooth integrand that dies off at both ends its error
falls as exp(-2 pi^2 s^2 / h^2) with s the narrowest posterior's standard deviation and h the step; Gauss-
Hermite nodes of the prior cannot follow posteriors much narrower than it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from sightline.psychometrics.model.design import (
    Design,
    category_probabilities,
    level_counts,
    moments,
    padded,
    starting_values,
)
from sightline.psychometrics.model.groups import Groups
from sightline.psychometrics.model.newton import Curve, maximise
from sightline.psychometrics.model.population import LEAST_SIGMA, Normal, Population, Prior, Smooth
from sightline.psychometrics.model.responses import Floats, Responses

MANY_MASKS = 2000
"""Beyond so many the grid is made for people who answered everything, without a look at each mask."""
LEAST_PEOPLE = 100
"""Fewer say too little about the shape of a population."""


@dataclass(frozen=True)
class Marginal:
    """The estimates: free item parameters and the population's, with the covariance of both together."""

    free: Floats
    population: Population
    point: Floats
    covariance: Floats
    log_likelihood: float
    iterations: int
    converged: bool

    @property
    def at_bound(self) -> bool:
        """Whether people do not differ more than chance: the spread is as small as it is allowed to be."""
        return isinstance(self.population, Normal) and bool(self.point[-1] <= np.log(LEAST_SIGMA) + 1e-9)


class MarginalLikelihood:
    """The marginal log-likelihood with its gradient and observed information (Louis 1982)."""

    def __init__(self, design: Design, responses: Responses, groups: Groups, population: Population) -> None:
        self.design, self.groups, self.population = design, groups, population
        self.counts = level_counts(responses.levels, int(design.steps.max()))
        self.given = self.counts[design.item, design.level]
        self.free = design.weights.shape[1]
        self.items_move = True
        """Whether derivatives by item parameters are wanted: they are the larger part of the work."""

    def grid(self, eta: Floats, point: Floats) -> Floats:
        """The abilities to integrate over."""
        table = padded(self.design, eta)
        masks = self.groups.masks if len(self.groups.masks) <= MANY_MASKS else np.ones((1, len(table)))

        def information(theta: Floats) -> Floats:
            return np.asarray((masks @ moments(table, theta)[1]).max(axis=0))

        return self.population.grid(point, self.groups.covariates, information)

    def posterior(self, groups: slice, theta: Floats, log_d: Floats, prior: Prior) -> tuple[Floats, Floats]:
        """Weights over the grid (group x q), and the log of each group's integral."""
        masks, which, _ = self.groups.masks_in(groups)
        joint = self.groups.score[groups, None] * theta - (masks @ log_d)[which] + prior.log
        total = logsumexp(joint, axis=1)
        return np.exp(joint - total[:, None]), total

    def __call__(self, point: Floats) -> Curve:
        eta = self.design.weights @ point[: self.free]
        theta = self.grid(eta, point[self.free :])
        table, log_d = category_probabilities(padded(self.design, eta), theta)
        sums = _Sums(self, table[self.design.item, self.design.level])
        for groups in self.groups.chunks():
            prior = self.population.prior(point[self.free :], theta, self.groups.covariates[groups])
            sums.add(groups, *self.posterior(groups, theta, log_d, prior), prior)
        return sums.curve(float(self.given @ eta))


class _Sums:
    """Running sums over groups that make up value, gradient and information."""

    def __init__(self, likelihood: MarginalLikelihood, p: Floats) -> None:
        self.design, self.groups, self.given = likelihood.design, likelihood.groups, likelihood.given
        self.items_move = likelihood.items_move
        self.p = p  # category parameter x q
        categories, size = len(p), likelihood.population.size
        self.value = 0.0
        self.weight = np.zeros((len(self.design.steps), p.shape[1]))  # expected people per item and node
        self.spread = np.zeros((categories, categories))  # covariance of the items' scores within groups
        self.cross = np.zeros((categories, size))
        self.gradient = np.zeros(size)
        self.complete = np.zeros((size, size))
        self.within = np.zeros((size, size))

    def add(self, groups: slice, h: Floats, log_integral: Floats, prior: Prior) -> None:
        count = self.groups.count[groups]
        self.value += float(count @ log_integral)
        people = h * count[:, None]
        means = np.stack([(h * score).sum(axis=1) for score in prior.score])
        for k, score in enumerate(prior.score):
            for j in range(k + 1):
                both = float((people * score * prior.score[j]).sum()) - float((means[k] * means[j]) @ count)
                self.within[k, j] += both
                self.within[j, k] = self.within[k, j]
        self.gradient += means @ count
        if self.items_move:
            self._add_items(groups, h, people, prior, means)
        size = len(self.complete)
        self.complete += np.array(
            [[(people * prior.curvature[k, j]).sum() for j in range(size)] for k in range(size)]
        )

    def _add_items(self, groups: slice, h: Floats, people: Floats, prior: Prior, means: Floats) -> None:
        """Add to the items' expected counts and to the covariances that their scores take part in."""
        masks, which, start = self.groups.masks_in(groups)
        item, count = self.design.item, self.groups.count[groups]
        per_mask = np.add.reduceat(people, start, axis=0)  # groups are ordered by mask
        self.weight += masks.T @ per_mask
        if len(masks) == 1:
            p = self.p * masks[0, item, None]
            self.spread += (p * per_mask[0]) @ p.T
        else:
            for q in range(people.shape[1]):
                both = masks.T @ (masks * per_mask[:, q, None])
                self.spread += both[np.ix_(item, item)] * np.outer(self.p[:, q], self.p[:, q])
        mask = masks[:, item][which]
        expected = (h @ self.p.T) * mask
        self.spread -= (expected * count[:, None]).T @ expected
        for k, score in enumerate(prior.score):
            together = ((people * score) @ self.p.T) * mask
            self.cross[:, k] += together.sum(axis=0) - expected.T @ (count * means[k])

    def curve(self, given: float) -> Curve:
        design, p = self.design, self.p
        weighted = self.weight[design.item] * p
        total = weighted.sum(axis=1)
        same = design.item[:, None] == design.item[None, :]
        complete = np.diag(total) - np.where(same, weighted @ p.T, 0)
        w, k = design.weights, len(self.gradient)
        size = w.shape[1] + k
        information, of_complete = np.zeros((size, size)), np.zeros((size, size))
        information[:-k, :-k] = w.T @ (complete - self.spread) @ w
        # the items' part of the score is minus the probabilities, hence the plus
        information[:-k, -k:] = w.T @ self.cross
        information[-k:, :-k] = information[:-k, -k:].T
        information[-k:, -k:] = self.complete - self.within
        of_complete[:-k, :-k] = w.T @ complete @ w
        of_complete[-k:, -k:] = self.complete
        return Curve(
            given + self.value, np.r_[w.T @ (self.given - total), self.gradient], information, of_complete
        )


def fit_marginal(
    design: Design,
    responses: Responses,
    groups: Groups,
    population: Population,
    *,
    start: Floats | None = None,
    fixed_items: bool = False,
) -> Marginal:
    """Fit item and population parameters together, or with `fixed_items` the population around given
    items."""
    likelihood = MarginalLikelihood(design, responses, groups, population)
    likelihood.items_move = not fixed_items
    items = starting_values(design, likelihood.counts) if start is None else start
    whole = np.r_[items, population.start()]
    moving = np.ones(len(whole), bool)
    moving[: likelihood.free] = not fixed_items
    point, iterations, converged = _climb(likelihood, whole, moving)
    found = Marginal(
        point[: likelihood.free],
        population,
        point[likelihood.free :],
        np.zeros(()),
        0.0,
        iterations,
        converged,
    )
    if found.at_bound:
        moving[-1] = False
        point, iterations, converged = _climb(likelihood, point, moving)
    curve = likelihood(point)
    covariance = np.zeros((len(whole), len(whole)))
    covariance[np.ix_(moving, moving)] = np.linalg.pinv(
        curve.information[np.ix_(moving, moving)], hermitian=True
    )
    return Marginal(
        point[: likelihood.free],
        population,
        point[likelihood.free :],
        covariance,
        curve.value,
        iterations,
        converged,
    )


def _climb(
    likelihood: MarginalLikelihood, start: Floats, moving: NDArray[np.bool_]
) -> tuple[Floats, int, bool]:
    """Maximise over the moving parameters."""

    def whole(part: Floats) -> Floats:
        point = start.copy()
        point[moving] = part
        point[likelihood.free :] = likelihood.population.bounded(point[likelihood.free :])
        return point

    def evaluate(part: Floats) -> Curve:
        curve = likelihood(whole(part))
        keep = np.ix_(moving, moving)
        assert curve.complete is not None
        return Curve(curve.value, curve.gradient[moving], curve.information[keep], curve.complete[keep])

    found = maximise(evaluate, start[moving])
    return whole(found.point), found.iterations, found.converged


def fit_smooth(design: Design, responses: Responses, groups: Groups, normal: Marginal) -> Marginal | None:
    """A population of free shape, where it explains the data better than a normal one (by BIC); else None."""
    if normal.at_bound or groups.covariates.shape[1] > 1 or len(groups.of_person) < LEAST_PEOPLE:
        return None
    theta = MarginalLikelihood(design, responses, groups, normal.population).grid(
        design.weights @ normal.free, normal.point
    )
    shape = Smooth(float(normal.point[0]), float(np.exp(normal.point[1])), float(theta[1] - theta[0]))
    worth = 2 * np.log(len(groups.of_person))  # two more parameters

    def gain(found: Marginal) -> float:
        return 2 * (found.log_likelihood - normal.log_likelihood)

    # a quick look with the items held fast spares the long one where nothing speaks against normal abilities
    if gain(fit_marginal(design, responses, groups, shape, start=normal.free, fixed_items=True)) < worth / 4:
        return None
    smooth = fit_marginal(design, responses, groups, shape, start=normal.free)
    return smooth if smooth.converged and gain(smooth) > worth else None
