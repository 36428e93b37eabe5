"""One analysis of one rating file: model, people, fit, regression, competency, agreement, workers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from sightline.errors import UsageError
from sightline.psychometrics.agreement.alpha import SCALES, Interval, Scale, bootstrap_alpha
from sightline.psychometrics.agreement.coefficients import (
    Concordance,
    Intraclass,
    ItemView,
    Pairwise,
    RaterView,
    fleiss_kappa,
    icc,
    item_views,
    kendall_w,
    pairwise,
    rater_views,
)
from sightline.psychometrics.agreement.competency import (
    Competency,
    Factorial,
    KnownAnswers,
    competency,
    competency_scores,
    factorial,
    known_answers,
)
from sightline.psychometrics.agreement.gate import Passing, simulate_gate
from sightline.psychometrics.agreement.workers import THRESHOLD, Gate, Selection, select_workers
from sightline.psychometrics.model.facets import Facets, fit_facets
from sightline.psychometrics.model.fit import Coefficient, ModelFit, fit
from sightline.psychometrics.model.fit_statistics import MeanSquares, mean_squares
from sightline.psychometrics.model.persons import (
    Estimates,
    eap,
    eap_reliability,
    mle,
    separation_reliability,
    wle,
)
from sightline.psychometrics.model.regression import Prediction, explained, predictions, two_step
from sightline.psychometrics.model.responses import Floats, distinct, from_values
from sightline.psychometrics.reading import RatingTable

MOST_RATERS = 1000
"""Beyond so many raters the single raters' agreement is not looked at: each is compared with all others."""


@dataclass(frozen=True)
class PsychSettings:
    """How to analyse."""

    model: str = "pcm"
    estimator: str = "mml"
    population: str = "auto"
    unused: str = "error"
    scale: Scale = "ordinal"
    gold: tuple[str, ...] = ()
    threshold: float = THRESHOLD
    gate: Gate = "pooled"
    samples: int = 1000
    facets: bool = False
    """Whether to model each rater's severity and consistency."""
    expert: Mapping[str, float] | None = None
    """Expert ratings of items: people are then scored 2, 1 or 0 for exact, adjacent or no agreement."""
    images: Mapping[str, str] = field(default_factory=dict)
    """The picture of each item that the expert rated, for factorial designs."""


@dataclass(frozen=True)
class Agreement:
    """How far raters agree, over all and one by one."""

    alpha: dict[Scale, Interval]
    kappa: float
    concordance: Concordance
    icc: Intraclass
    pairs: Pairwise
    raters: list[RaterView]
    items: list[ItemView]


@dataclass(frozen=True)
class Persons:
    """Everything about the people, one entry a person."""

    wle: Estimates
    eap: Estimates
    mle: Estimates
    fit: MeanSquares
    score: Floats
    most: Floats
    answers: Floats


@dataclass(frozen=True)
class Analysis:
    """The results."""

    ratings: RatingTable
    settings: PsychSettings
    fit: ModelFit
    persons: Persons
    item_fit: MeanSquares
    reliability: dict[str, float]
    agreement: Agreement | None
    competency: Competency | None
    design: Factorial | None
    workers: Selection | None
    passing: Passing | None = None
    """Whom the worker selection would let through, by simulation on the very gold ratings."""
    facets: Facets | None = None
    known: KnownAnswers | None = None
    """Raters on the items whose answer the study knows, where the file says which these are."""

    @cached_property
    def two_step(self) -> list[Coefficient]:
        return two_step(self.fit, self.persons.wle.ability) if self.fit.responses.covariate_names else []

    @cached_property
    def predictions(self) -> list[Prediction]:
        return predictions(self.fit) if self.fit.responses.covariate_names else []

    @property
    def explained(self) -> float | None:
        return explained(self.fit) if self.fit.responses.covariate_names else None


def analyse(ratings: RatingTable, settings: PsychSettings) -> Analysis:
    """Fit the model and compute everything beside it."""
    if settings.scale not in SCALES:
        raise UsageError(f"--scale is one of {', '.join(SCALES)}")
    if len(ratings.persons) < 2:
        raise UsageError("only one rater: nothing can be said about items or agreement; give at least two")
    values, unused = ratings.values, settings.unused
    design = None
    if settings.expert is not None:
        values = competency_scores(values, ratings.items, settings.expert)
        unused = "collapse"  # an item on which nobody failed simply has no first threshold
        known = {name: settings.expert[name] for name in ratings.items if name in settings.expert}
        design = factorial(known, settings.images) if known.keys() <= settings.images.keys() else None
    responses = from_values(
        values,
        persons=ratings.persons,
        items=ratings.items,
        covariates=ratings.covariates,
        covariate_names=ratings.covariate_names,
        unused=unused,
        shared_levels=settings.model == "rsm",
    )
    found = fit(responses, model=settings.model, estimator=settings.estimator, population=settings.population)
    people, item_fit, reliability = _persons(found)
    analysis = Analysis(
        ratings,
        settings,
        found,
        people,
        item_fit,
        reliability,
        _agreement(ratings, settings),
        None,
        design,
        None,
    )
    if settings.expert is not None:
        at = [(f"{p.covariate} = {p.value:g}", p.mean) for p in analysis.predictions]
        at = at or [("mean ability", found.spread[0].estimate)]
        analysis = replace(analysis, competency=competency(found, people.wle.ability, at))
    if ratings.known:
        analysis = replace(analysis, known=known_answers(ratings.known))
    if settings.facets:
        analysis = replace(
            analysis, facets=fit_facets(ratings.values, ratings.persons, errors=True, unused=settings.unused)
        )
    if settings.gold:
        chosen = select_workers(
            ratings.values, ratings.persons, settings.gold, threshold=settings.threshold, scale=settings.scale,
            gate=settings.gate,
        )  # fmt: skip
        reference = ratings.values[[name in settings.gold for name in ratings.persons]]
        levels = distinct(ratings.values[~np.isnan(ratings.values)]).tolist()
        passing = simulate_gate(
            reference, levels, gate=settings.gate, threshold=settings.threshold, scale=settings.scale
        )
        analysis = replace(analysis, workers=chosen, passing=passing)
    return analysis


def _persons(found: ModelFit) -> tuple[Persons, MeanSquares, dict[str, float]]:
    """Every person's estimates, the items' fit, which comes from the same residuals, and the
    reliabilities."""
    weighted, expected, likeliest = wle(found), eap(found), mle(found)
    items, persons = mean_squares(found, likeliest)
    group, count = found.groups.of_person, found.groups.count

    def spread(estimates: Estimates) -> Estimates:
        return Estimates(estimates.ability[group], estimates.se[group])

    most = found.groups.masks @ found.design.steps
    return (
        Persons(
            spread(weighted),
            spread(expected),
            spread(likeliest),
            persons,
            found.groups.score[group],
            most[found.groups.mask][group],
            found.groups.masks.sum(axis=1)[found.groups.mask][group],
        ),
        items,
        {
            "eap": eap_reliability(expected, count),
            "wle": separation_reliability(weighted, count),
            "mle": separation_reliability(likeliest, count),
        },
    )


def _agreement(ratings: RatingTable, settings: PsychSettings) -> Agreement | None:
    """Coefficients over the raw ratings; None where no item was rated twice."""
    values = ratings.values
    if not ((~np.isnan(values)).sum(axis=0) > 1).any():
        return None
    few = len(values) <= MOST_RATERS
    return Agreement(
        {scale: bootstrap_alpha(values, scale, samples=settings.samples) for scale in _scales(values)},
        fleiss_kappa(values),
        kendall_w(values),
        icc(values),
        pairwise(values),
        rater_views(values, settings.scale) if few else [],
        item_views(values),
    )


def _scales(values: Floats) -> Sequence[Scale]:
    """The ratio scale has no meaning for negative values."""
    return SCALES if np.nanmin(values) >= 0 else SCALES[:3]
