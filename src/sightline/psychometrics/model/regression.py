"""Latent regression: what the fitted model predicts, and the two-step way beside it."""

from dataclasses import dataclass

import numpy as np

from sightline.psychometrics.model.fit import Coefficient, ModelFit
from sightline.psychometrics.model.responses import Floats

MOST_POINTS = 11


@dataclass(frozen=True)
class Prediction:
    """Mean ability at one value of a covariate, the others at their means."""

    covariate: str
    value: float
    mean: float
    se: float


def two_step(fit: ModelFit, abilities: Floats) -> list[Coefficient]:
    """Least squares of estimated abilities on covariates, for comparison.

    The estimates' errors are taken for differences between people, so standard errors are off, and with
    shrunken estimates (EAP without covariates) coefficients are too small: the regression belongs inside the
    likelihood.
    """
    x = np.hstack([np.ones((len(abilities), 1)), fit.responses.covariates])
    beta, *_ = np.linalg.lstsq(x, abilities, rcond=None)
    residual = abilities - x @ beta
    variance = float(residual @ residual) / (len(x) - x.shape[1])
    errors = np.sqrt(np.diag(np.linalg.inv(x.T @ x)) * variance)
    names = ("intercept", *fit.responses.covariate_names)
    return [Coefficient(n, float(b), float(e)) for n, b, e in zip(names, beta, errors, strict=True)]


def predictions(fit: ModelFit) -> list[Prediction]:
    """Predicted means over the range of each covariate: every value where these are few, else evenly
    spaced."""
    known = fit.responses.covariates
    found = []
    for n, name in enumerate(fit.responses.covariate_names):
        values = np.unique(known[:, n])
        if len(values) > MOST_POINTS:
            values = np.linspace(values[0], values[-1], 7)
        rows = np.tile(known.mean(axis=0), (len(values), 1))
        rows[:, n] = values
        means, errors = fit.predicted(rows)
        found += [
            Prediction(name, float(v), float(m), float(e))
            for v, m, e in zip(values, means, errors, strict=True)
        ]
    return found


def explained(fit: ModelFit) -> float:
    """Share of the abilities' variance that the covariates explain (latent R squared)."""
    means, _ = fit.predicted(fit.responses.covariates)
    between = float(means.var())
    return between / (between + fit.spread[1].estimate ** 2)
