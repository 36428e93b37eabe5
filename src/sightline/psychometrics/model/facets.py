"""A many-facet model of raters: how severe and how consistent each is, apart from how good the items are.

log P(k) / P(k-1) = a_j (theta_n - lambda_j - tau_k): the item's quality theta_n ~ N(0, sigma^2), the rater's
severity lambda_j and consistency a_j (Linacre 1989; with a_j as in Uto and Ueno 2018), and steps tau_k that
all raters share. A rater with a_j near 0 rates whatever the item is like. Severities are told as differences from the
raters' mean and consistencies as multiples of their geometric mean; both have weak normal priors (of the logarithm
for consistencies), so that raters with few ratings stay near the others.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from sightline.errors import UsageError
from sightline.psychometrics.model.facets_likelihood import FacetLikelihood
from sightline.psychometrics.model.newton import maximise
from sightline.psychometrics.model.responses import Floats, components, disconnected

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
    """With what is uncertain about raters and steps in it, where errors were asked for."""
    thresholds: Floats
    sigma: float
    log_likelihood: float
    converged: bool
    levels: tuple[float, ...] = ()
    """The levels that the steps lie between."""

    @property
    def keep(self) -> NDArray[np.bool_]:
        """Raters whose consistency is at least `LEAST` of the median one."""
        return np.asarray(self.consistency >= LEAST * np.median(self.consistency))


def fit_facets(
    ratings: Floats, raters: Sequence[str], *, errors: bool = False, unused: str = "collapse"
) -> Facets:
    """Fit the model to a rater x item table of whole numbers, NaN where there is no rating.

    `errors` adds the raters' standard errors. A step to a level that nobody used cannot be estimated: `unused` says
    whether such gaps are closed (`collapse`) or an error, as in the partial credit model.
    """
    answered = ~np.isnan(ratings)
    groups = [group for group in components(answered) if len(group[0])]
    if len(groups) > 1:
        names = [f"item {n + 1}" for n in range(ratings.shape[1])]
        raise UsageError(disconnected(groups, raters, names))
    values = np.unique(ratings[answered])
    if len(values) < 2:
        raise UsageError("the ratings do not vary: nothing can be said about raters")
    gaps = np.setdiff1d(np.arange(values[0], values[-1]), values)
    if len(gaps) and unused != "collapse":
        raise UsageError(
            f"levels that nobody used: {', '.join(f'{gap:g}' for gap in gaps[:5])}; a step nobody took cannot be "
            "estimated: give --unused collapse to close the gaps"
        )
    levels = np.where(answered, np.searchsorted(values, np.where(answered, ratings, values[0])), -1)
    model = FacetLikelihood(levels)
    with threadpool_limits(1, "blas"):
        found = maximise(model, model.start(), most=60, near=1e-6)
        told = _Told(model, found.point, found.curve.information if errors else None)
    return Facets(
        tuple(raters),
        told.severity,
        told.severity_se,
        told.consistency,
        told.log_consistency_se,
        told.quality,
        told.quality_se,
        told.thresholds,
        told.sigma,
        model.log_likelihood(found.point),
        found.converged,
        tuple(values.tolist()),
    )


class _Told:
    """The parameters as they are told: raters around their mean, on the scale of the mean rater.

    Neither the mean severity nor the mean log consistency can be told from the steps and the items' spread; only the
    priors hold them. So the differences are what is reported, and their errors.
    """

    def __init__(self, model: FacetLikelihood, point: Floats, information: Floats | None) -> None:
        j = model.raters
        severity, slope, tau, sigma = model.split(point)
        scale, middle = float(np.exp(np.log(slope).mean())), float(severity.mean())
        self.severity, self.consistency = scale * (severity - middle), slope / scale
        self.thresholds, self.sigma = scale * (tau + middle), scale * sigma
        mean, spread, moves = model.qualities(point, errors=information is not None)
        self.quality = scale * mean
        self.severity_se = self.log_consistency_se = np.full(j, np.nan)
        self.quality_se = scale * spread
        if information is None:
            return
        covariance = np.asarray(np.linalg.pinv(information, hermitian=True), np.float64)
        by_scale = np.zeros(len(point))
        by_scale[j : 2 * j] = 1 / j
        by_severity = scale * (np.eye(j, len(point)) - np.eye(j, len(point)).mean(axis=0))
        self.severity_se = _errors(by_severity + self.severity[:, None] * by_scale, covariance)
        self.log_consistency_se = _errors(np.eye(j, len(point), k=j) - by_scale, covariance)
        by_quality = scale * moves + self.quality[:, None] * by_scale
        self.quality_se = np.hypot(self.quality_se, _errors(by_quality, covariance))


def _errors(derivatives: Floats, covariance: Floats) -> Floats:
    """Standard errors of functions of the parameters, by their derivatives (function x parameter)."""
    variance: Floats = ((derivatives @ covariance) * derivatives).sum(axis=1)
    found: Floats = np.sqrt(np.maximum(variance, 0))
    return found
