"""Metrics against people: correlations with intervals, comparisons of metrics, people's own agreement."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.items import Item, Key
from sightline.meta.correlation import ACCURACY, NAMES, Correlation, bootstrap, correlate, interval, resample
from sightline.meta.protocols.base import Observations
from sightline.meta.raters import Preferences, leave_one_out, preferences
from sightline.meta.ratings import Ratings, Scale, mean
from sightline.meta.significance import Williams, bootstrap_p, williams

Floats = NDArray[np.float64]
Scores = Mapping[str, Mapping[Key, float]]
"""Metric to item to score."""
SAMPLES = 1000
ONE_GROUP = "one group cannot be resampled"
SELECTED = "people's agreement is left out: the items were selected for it"
RARE = "not defined in most resamples"


@dataclass(frozen=True)
class MetaRow:
    """One metric against one criterion."""

    metric: str
    criterion: str
    items: int
    correlation: Correlation
    ci: Mapping[str, tuple[float, float] | None]
    ci_why: str | None
    """Why there is no interval where a bootstrap was asked for and the coefficient is defined."""
    groups: int
    """How many images or stories the observations come from: what the bootstrap resamples."""
    preferences: Preferences
    """Pairs that the criterion's ratings order."""
    votes: Preferences
    """Pairs that the votes order, whatever the criterion."""
    missing: int
    """Rated items that the metric could not score."""
    samples: Mapping[str, Floats] = field(default_factory=dict, repr=False, compare=False)

    @property
    def values(self) -> dict[str, float | None]:
        """The coefficients, and the accuracy in pairs."""
        return {**self.correlation.values, ACCURACY: self.preferences.accuracy}

    def to_json(self) -> dict[str, Any]:
        found = {
            "metric": self.metric,
            "criterion": self.criterion,
            "n": self.correlation.n,
            "items": self.items,
        }
        return {
            **found,
            **self.correlation.values,
            "ci": {name: list(ends) if ends else None for name, ends in self.ci.items()},
            "why": self.correlation.why,
            "ci_why": self.ci_why,
            "groups": self.groups,
            ACCURACY: self.preferences.accuracy,
            "pairs": self.preferences.pairs,
            "ties": self.preferences.ties,
            "votes_accuracy": self.votes.accuracy,
            "votes_pairs": self.votes.pairs,
            "missing": self.missing,
        }


@dataclass(frozen=True)
class MetricDifference:
    """The difference between two metrics on the items that both scored."""

    metric: str
    other: str
    criterion: str
    items: int
    difference: Mapping[str, float | None]
    ci: Mapping[str, tuple[float, float] | None]
    p: Mapping[str, float | None]
    williams: Williams | None
    ci_why: str | None = None

    def to_json(self) -> dict[str, Any]:
        test = (
            None
            if self.williams is None
            else {"t": self.williams.t, "p": self.williams.p, "n": self.williams.n}
        )
        return {
            "metric": self.metric,
            "other": self.other,
            "criterion": self.criterion,
            "items": self.items,
            "difference": dict(self.difference),
            "ci": {name: list(ends) if ends else None for name, ends in self.ci.items()},
            "p": dict(self.p),
            "williams": test,
            "ci_why": self.ci_why,
        }


@dataclass(frozen=True)
class Evaluation:
    """What `evaluate` finds."""

    rows: tuple[MetaRow, ...]
    comparisons: tuple[MetricDifference, ...]
    agreement: Mapping[str, Correlation]
    """By criterion: each rating against the mean of the others."""
    notes: tuple[str, ...]
    samples: int
    groups: int
    """The most groups that a row's bootstrap drew from."""
    seed: int

    def row(self, metric: str, criterion: str) -> MetaRow:
        return next(row for row in self.rows if (row.metric, row.criterion) == (metric, criterion))

    def to_json(self) -> dict[str, Any]:
        return {
            "rows": [row.to_json() for row in self.rows],
            "comparisons": [found.to_json() for found in self.comparisons],
            "agreement": {
                criterion: {"n": found.n, **found.values, "why": found.why}
                for criterion, found in self.agreement.items()
            },
            "bootstrap": {"samples": self.samples, "groups": self.groups, "seed": self.seed},
            "notes": list(self.notes),
        }


def evaluate(
    items: Sequence[Item],
    scores: Scores,
    *,
    observations: Observations = "mean",
    scale: Scale | None = None,
    overall: bool = True,
    agreement: bool = True,
    samples: int = SAMPLES,
    seed: int = 0,
) -> Evaluation:
    """Correlate every metric with every criterion, and compare every two metrics.

    `scale` is what the ratings are declared to be on; without `overall`, criteria are not summed; without
    `agreement`, people are not held against each other, since the items were selected for that.
    """
    ratings = Ratings.of(items, scale, overall)
    rows: list[MetaRow] = []
    comparisons: list[MetricDifference] = []
    for criterion, rated in ratings.by_criterion.items():
        judge = _Judge(criterion, rated, ratings, observations, samples, seed)
        own = [judge.row(metric, found) for metric, found in scores.items()]
        rows.extend(own)
        comparisons.extend(judge.compare(one, other, scores) for one, other in combinations(own, 2))
    people = {
        criterion: found
        for criterion, rated in ratings.by_criterion.items()
        if agreement and (found := leave_one_out(list(rated.values()))) is not None
    }
    groups = max((row.groups for row in rows), default=0)
    notes = ratings.notes if agreement else (*ratings.notes, SELECTED)
    return Evaluation(tuple(rows), tuple(comparisons), people, notes, samples, groups, seed)


@dataclass(frozen=True)
class _Judge:
    """One criterion's ratings, against which metrics are held."""

    criterion: str
    rated: Mapping[Key, tuple[float, ...]]
    ratings: Ratings
    observations: Observations
    samples: int
    seed: int

    def observe(
        self, ids: Sequence[Key], scores: Mapping[Key, float]
    ) -> tuple[Floats, Floats, NDArray[np.int64]]:
        """Scores, ratings and the numbers of their groups, one for each observation."""
        x = np.array([scores[id] for id in ids], np.float64)
        names = sorted({self.ratings.group[id] for id in ids})
        number = {name: place for place, name in enumerate(names)}
        cluster = np.array([number[self.ratings.group[id]] for id in ids], np.int64)
        if self.observations == "mean":
            return x, np.array([mean(self.rated[id]) for id in ids], np.float64), cluster
        times = [len(self.rated[id]) for id in ids]
        y = np.array([value for id in ids for value in self.rated[id]], np.float64)
        return np.repeat(x, times), y, np.repeat(cluster, times)

    def sampled(self, ids: Sequence[Key], scores: Mapping[Key, float]) -> dict[str, Floats]:
        """The coefficients in resamples of the groups that have an observation; two at least."""
        x, y, cluster = self.observe(ids, scores)
        groups = _groups(cluster)
        if not self.samples or groups < 2 or set(correlate(x, y).values.values()) == {None}:
            return {}
        weights = resample(groups, self.samples, self.seed)
        found = bootstrap(x, y, cluster, weights)
        ordered = self.ordered(ids, scores)
        if ordered.pairs:
            names = sorted({self.ratings.group[id] for id in ids})
            found[ACCURACY] = ordered.resampled(names, weights)
        return found

    def ordered(self, ids: Sequence[Key], scores: Mapping[Key, float]) -> Preferences:
        """The pairs of these items that the ratings order."""
        return preferences(
            {id: scores[id] for id in ids},
            {id: mean(self.rated[id]) for id in ids},
            self.ratings.group,
            self.ratings.pair,
        )

    def row(self, metric: str, scores: Mapping[Key, float]) -> MetaRow:
        ids = [id for id in self.rated if id in scores]
        x, y, cluster = self.observe(ids, scores)
        samples, found = self.sampled(ids, scores), correlate(x, y)
        ci = {name: interval(samples[name]) if name in samples else None for name in (*NAMES, ACCURACY)}
        return MetaRow(
            metric,
            self.criterion,
            len(ids),
            found,
            ci,
            self.why_not(found.values, ci, cluster),
            _groups(cluster),
            self.ordered(ids, scores),
            preferences(scores, self.ratings.votes, self.ratings.group),
            len(self.rated) - len(ids),
            samples,
        )

    def compare(self, one: MetaRow, other: MetaRow, scores: Scores) -> MetricDifference:
        mine, theirs = scores[one.metric], scores[other.metric]
        ids = [id for id in self.rated if id in mine and id in theirs]
        (x, y, cluster), (z, _, _) = self.observe(ids, mine), self.observe(ids, theirs)
        found, against = correlate(x, y), correlate(z, y)
        same = len(ids) == one.items == other.items
        left = one.samples if same else self.sampled(ids, mine)
        right = other.samples if same else self.sampled(ids, theirs)
        gaps = {name: left[name] - right[name] for name in left if name in right}
        difference = {name: _minus(found.values[name], against.values[name]) for name in NAMES}
        accuracy = (self.ordered(ids, scored).accuracy for scored in (mine, theirs))
        difference[ACCURACY] = _minus(*accuracy)
        ci = {name: interval(gaps[name]) if name in gaps else None for name in difference}
        means = np.array([mean(self.rated[id]) for id in ids])
        return MetricDifference(
            one.metric,
            other.metric,
            self.criterion,
            len(ids),
            difference,
            ci,
            {name: bootstrap_p(gaps[name]) if name in gaps else None for name in difference},
            williams(np.array([mine[id] for id in ids]), np.array([theirs[id] for id in ids]), means),
            self.why_not(difference, ci, cluster),
        )

    def why_not(
        self,
        values: Mapping[str, float | None],
        ci: Mapping[str, tuple[float, float] | None],
        cluster: NDArray[np.int64],
    ) -> str | None:
        """Why a value that is defined has no interval."""
        if not self.samples or all(value is None or ci[name] for name, value in values.items()):
            return None
        return ONE_GROUP if _groups(cluster) < 2 else RARE


def _groups(cluster: NDArray[np.int64]) -> int:
    return int(cluster.max()) + 1 if len(cluster) else 0


def _minus(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other
