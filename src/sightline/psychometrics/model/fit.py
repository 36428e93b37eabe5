"""Fit a Rasch-family model to responses, and what follows for the items."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.stats import norm
from threadpoolctl import threadpool_limits

from sightline.errors import UsageError, unknown
from sightline.psychometrics.model.conditional import Conditional, fit_conditional
from sightline.psychometrics.model.design import Design, category_probabilities, design_for, padded
from sightline.psychometrics.model.groups import Groups, group
from sightline.psychometrics.model.marginal import Marginal, fit_marginal, fit_smooth
from sightline.psychometrics.model.population import Normal, Smooth
from sightline.psychometrics.model.responses import Floats, Ints, Responses, linked

ESTIMATORS = ("mml", "cml")
POPULATIONS = ("auto", "normal")


@dataclass(frozen=True)
class Coefficient:
    """One number of the regression with its uncertainty."""

    name: str
    estimate: float
    se: float

    @property
    def z(self) -> float:
        return self.estimate / self.se if self.se else float("nan")

    @property
    def p(self) -> float:
        return float(2 * norm.sf(abs(self.z)))


@dataclass(frozen=True)
class ModelFit:
    """A fitted model: items on the logit scale, and the population they were answered by."""

    responses: Responses
    design: Design
    groups: Groups
    model: str
    estimator: str
    marginal: Marginal
    """Items and population by marginal ML; with conditional ML, the population around the conditional
    items."""
    conditional: Conditional | None

    @property
    def items(self) -> Conditional | Marginal:
        """The part that estimated the items."""
        return self.conditional or self.marginal

    @cached_property
    def table(self) -> Floats:
        """Category parameters, item x level."""
        return padded(self.design, self.design.weights @ self.items.free)

    @property
    def log_likelihood(self) -> float:
        return self.items.log_likelihood

    @property
    def parameters(self) -> int:
        return len(self.items.free) + (0 if self.conditional else self.marginal.population.size)

    @property
    def aic(self) -> float:
        return 2 * self.parameters - 2 * self.log_likelihood

    @property
    def bic(self) -> float:
        return float(np.log(len(self.responses.levels))) * self.parameters - 2 * self.log_likelihood

    @property
    def converged(self) -> bool:
        return self.items.converged and self.marginal.converged

    @cached_property
    def covariance(self) -> Floats:
        """Of the category parameters: the delta method carries the centring along."""
        free = len(self.items.free)
        return self.design.weights @ self.items.covariance[:free, :free] @ self.design.weights.T

    def thresholds(self) -> tuple[Floats, Floats]:
        """Step parameters and their standard errors, one after the other over items."""
        matrix = self.design.to_thresholds
        return matrix @ self.design.weights @ self.items.free, _errors(matrix @ self.covariance @ matrix.T)

    def locations(self) -> tuple[Floats, Floats]:
        """Each item's mean threshold: how hard it is on the whole."""
        mean = (np.arange(len(self.design.steps))[:, None] == self.design.item) / self.design.steps[:, None]
        matrix = mean @ self.design.to_thresholds
        return matrix @ self.design.weights @ self.items.free, _errors(matrix @ self.covariance @ matrix.T)

    def thurstone(self) -> tuple[Floats, Floats]:
        """Abilities at which level k or more is as likely as less, and their standard errors."""
        item, level = self.design.item, self.design.level
        at = thurstone_thresholds(self.table, item, level)
        errors = np.zeros(len(at))
        for n, (i, k) in enumerate(zip(item, level, strict=True)):
            p = category_probabilities(self.table[i : i + 1], at[n : n + 1])[0][0, :, 0]
            levels = np.arange(len(p))
            above = p[k:].sum()
            slope = (p[k:] * (levels[k:] - p @ levels)).sum()
            mine = np.flatnonzero(item == i)
            by_eta = -p[level[mine]] * ((level[mine] >= k) - above) / slope
            errors[n] = np.sqrt(max(0.0, by_eta @ self.covariance[np.ix_(mine, mine)] @ by_eta))
        return at, errors

    @cached_property
    def spread(self) -> tuple[Coefficient, Coefficient]:
        """Mean and standard deviation of abilities (of the residuals, where there are covariates)."""
        found, size = self.marginal, self.marginal.population.size
        covariance = found.covariance[-size:, -size:]
        if isinstance(found.population, Smooth):
            mean, sd, slopes = found.population.moments(found.point)
            errors = _errors(slopes @ covariance @ slopes.T)
        else:
            mean, sd = float(found.point[0]), float(np.exp(found.point[-1]))
            errors = _errors(np.diag([covariance[0, 0], covariance[-1, -1] * sd**2]))
        return Coefficient("mean", mean, float(errors[0])), Coefficient("sd", sd, float(errors[1]))

    @property
    def coefficients(self) -> list[Coefficient]:
        """The latent regression: intercept and covariates, estimated inside the likelihood."""
        names = ("intercept", *self.responses.covariate_names)
        size = self.marginal.population.size
        if size != len(names) + 1:
            return []
        errors = _errors(self.marginal.covariance[-size:, -size:])
        return [
            Coefficient(name, float(b), float(e))
            for name, b, e in zip(names, self.marginal.point, errors, strict=False)
        ]

    def predicted(self, covariates: Floats) -> tuple[Floats, Floats]:
        """Mean ability at given covariates (row x covariate), with standard errors."""
        x = np.hstack([np.ones((len(covariates), 1)), covariates])
        size = self.marginal.population.size
        beta = self.marginal.covariance[-size:-1, -size:-1]
        return x @ self.marginal.point[:-1], _errors(x @ beta @ x.T)


def fit(
    responses: Responses, *, model: str = "pcm", estimator: str = "mml", population: str = "auto"
) -> ModelFit:
    """Fit the partial credit (`pcm`) or rating scale (`rsm`) model by marginal or conditional maximum
    likelihood.

    With `population="auto"` abilities are normal unless the data speak clearly (by BIC) for another shape.
    """
    if estimator not in ESTIMATORS:
        raise unknown("estimator", estimator, ESTIMATORS)
    if population not in POPULATIONS:
        raise unknown("population", population, POPULATIONS)
    responses = linked(responses)
    design, groups = design_for(model, responses.steps), group(responses)
    covariates = groups.covariates.shape[1]
    if np.linalg.matrix_rank(groups.covariates) < covariates:
        raise UsageError(
            "the covariates are constant or copies of each other: leave out what tells nothing new"
        )
    with threadpool_limits(
        1, "blas"
    ):  # the matrices are small, and threads that wait for each other cost more
        marginal = fit_marginal(design, responses, groups, Normal(covariates))
        conditional = None
        if estimator == "cml":
            conditional = fit_conditional(design, responses, groups, marginal.free)
            marginal = fit_marginal(
                design, responses, groups, Normal(covariates), start=conditional.free, fixed_items=True
            )
        elif population == "auto":
            marginal = fit_smooth(design, responses, groups, marginal) or marginal
    notes = responses.notes
    if marginal.at_bound:
        notes = (
            *notes,
            "people do not differ more than chance would have it: their abilities cannot be told apart",
        )
    if isinstance(marginal.population, Smooth):
        notes = (*notes, "abilities are not spread normally; a population of free shape was fitted instead")
    return ModelFit(replace(responses, notes=notes), design, groups, model, estimator, marginal, conditional)


def thurstone_thresholds(table: Floats, item: Ints, level: Ints) -> Floats:
    """Where P(x_i >= k) = 1/2, by bisection: the probability rises with ability."""
    low, high = np.full(len(item), -60.0), np.full(len(item), 60.0)
    for _ in range(60):
        middle = (low + high) / 2
        logits = table[item] + np.arange(table.shape[1]) * middle[:, None]
        raw = np.exp(logits - logits.max(axis=1, keepdims=True))
        above = (
            np.where(np.arange(table.shape[1]) >= level[:, None], raw, 0).sum(axis=1) > raw.sum(axis=1) / 2
        )
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.asarray((low + high) / 2)


def _errors(covariance: Floats) -> Floats:
    return np.asarray(np.sqrt(np.maximum(np.diag(covariance), 0)), np.float64)
