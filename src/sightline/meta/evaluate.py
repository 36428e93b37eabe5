"""Metrics against people: correlations with intervals, comparisons of metrics, people's own agreement."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UsageError
from sightline.items import Item
from sightline.meta.correlation import NAMES, Correlation, bootstrap, correlate, interval, resample
from sightline.meta.protocols.base import Observations
from sightline.meta.raters import Preferences, leave_one_out, preferences
from sightline.meta.significance import Williams, bootstrap_p, williams

Floats = NDArray[np.float64]
Scores = Mapping[str, Mapping[str, float]]
"""Metric to item id to score."""
SAMPLES = 1000
OVERALL = "overall"
MIXED = 1.9
"""Criteria whose largest ratings differ by this factor are on different scales and are not summed."""


@dataclass(frozen=True)
class Row:
    """One metric against one criterion."""

    metric: str
    criterion: str
    items: int
    correlation: Correlation
    ci: Mapping[str, tuple[float, float] | None]
    preferences: Preferences
    missing: int
    """Rated items that the metric could not score."""
    samples: Mapping[str, Floats] = field(default_factory=dict, repr=False, compare=False)

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
            "pairwise_accuracy": self.preferences.accuracy,
            "pairs": self.preferences.pairs,
            "missing": self.missing,
        }


@dataclass(frozen=True)
class Comparison:
    """The difference between two metrics on the items that both scored."""

    metric: str
    other: str
    criterion: str
    items: int
    difference: Mapping[str, float | None]
    ci: Mapping[str, tuple[float, float] | None]
    p: Mapping[str, float | None]
    williams: Williams | None

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
        }


@dataclass(frozen=True)
class Evaluation:
    """What `evaluate` finds."""

    rows: tuple[Row, ...]
    comparisons: tuple[Comparison, ...]
    agreement: Mapping[str, Correlation]
    """By criterion: each rating against the mean of the others."""
    notes: tuple[str, ...]
    samples: int
    groups: int
    seed: int

    def row(self, metric: str, criterion: str) -> Row:
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


@dataclass(frozen=True)
class Ratings:
    """Every rated item's ratings on every criterion, and its group."""

    by_criterion: Mapping[str, Mapping[str, tuple[float, ...]]]
    group: Mapping[str, str]
    votes: Mapping[str, float]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, items: Iterable[Item]) -> "Ratings":
        found: dict[str, dict[str, tuple[float, ...]]] = {}
        group: dict[str, str] = {}
        votes: dict[str, float] = {}
        for item in items:
            if item.id in group:
                raise UsageError(f"{item.source or 'items'}: two items have the id '{item.id}'")
            group[item.id] = str(item.extra.get("group") or "\x1f".join(map(str, item.images)) or item.id)
            if isinstance(item.extra.get("votes"), int | float):
                votes[item.id] = float(item.extra["votes"])
            for criterion, values in item.ratings.items():
                if not np.isfinite(values).all():
                    raise UsageError(
                        f"{item.source or item.id}: a rating of '{item.id}' is not a finite number"
                    )
                if values:
                    found.setdefault(criterion, {})[item.id] = tuple(map(float, values))
        if not found:
            raise UsageError("no item has ratings")
        by_criterion, notes = _with_overall(found)
        return cls(by_criterion, group, votes, notes)


def _with_overall(
    found: dict[str, dict[str, tuple[float, ...]]],
) -> tuple[dict[str, dict[str, tuple[float, ...]]], tuple[str, ...]]:
    """Several criteria also give `overall`: the sum of an item's means (RoViST, Table 1)."""
    if len(found) < 2 or OVERALL in found:
        return found, ()
    largest = {criterion: max(max(map(abs, v)) for v in rated.values()) for criterion, rated in found.items()}
    high, low = max(largest, key=largest.__getitem__), min(largest, key=largest.__getitem__)
    everywhere = set.intersection(*(set(rated) for rated in found.values()))
    if not everywhere:
        return found, ()
    if largest[high] >= MIXED * largest[low]:
        return found, (
            f"no overall: {high} is rated up to {largest[high]:g} and {low} up to {largest[low]:g}, "
            "and criteria on different scales are not summed",
        )
    first = next(iter(found.values()))
    total: dict[str, tuple[float, ...]] = {
        id: (float(sum(np.mean(rated[id]) for rated in found.values())),) for id in first if id in everywhere
    }
    return {**found, OVERALL: total}, ()


def evaluate(
    items: Sequence[Item],
    scores: Scores,
    *,
    observations: Observations = "mean",
    samples: int = SAMPLES,
    seed: int = 0,
) -> Evaluation:
    """Correlate every metric with every criterion, and compare every two metrics."""
    ratings = Ratings.of(items)
    names = sorted(set(ratings.group.values()))
    number = {name: place for place, name in enumerate(names)}
    weights = resample(len(names), samples, seed) if samples else np.zeros((0, len(names)))
    rows: list[Row] = []
    comparisons: list[Comparison] = []
    for criterion, rated in ratings.by_criterion.items():
        judge = _Judge(criterion, rated, ratings, number, weights, observations)
        own = [judge.row(metric, found) for metric, found in scores.items()]
        rows.extend(own)
        comparisons.extend(judge.compare(one, other, scores) for one, other in combinations(own, 2))
    agreement = {
        criterion: found
        for criterion, rated in ratings.by_criterion.items()
        if (found := leave_one_out(list(rated.values()))) is not None
    }
    return Evaluation(tuple(rows), tuple(comparisons), agreement, ratings.notes, samples, len(names), seed)


@dataclass(frozen=True)
class _Judge:
    """One criterion's ratings, against which metrics are held."""

    criterion: str
    rated: Mapping[str, tuple[float, ...]]
    ratings: Ratings
    number: Mapping[str, int]
    weights: Floats
    observations: Observations

    def observe(
        self, ids: Sequence[str], scores: Mapping[str, float]
    ) -> tuple[Floats, Floats, NDArray[np.int64]]:
        """Scores, ratings and groups, one for each observation."""
        x = np.array([scores[id] for id in ids], np.float64)
        cluster = np.array([self.number[self.ratings.group[id]] for id in ids], np.int64)
        if self.observations == "mean":
            return x, np.array([np.mean(self.rated[id]) for id in ids], np.float64), cluster
        times = [len(self.rated[id]) for id in ids]
        y = np.array([value for id in ids for value in self.rated[id]], np.float64)
        return np.repeat(x, times), y, np.repeat(cluster, times)

    def sampled(self, x: Floats, y: Floats, cluster: NDArray[np.int64]) -> dict[str, Floats]:
        if not len(self.weights) or correlate(x, y).why:
            return {}
        return bootstrap(x, y, cluster, self.weights)

    def row(self, metric: str, scores: Mapping[str, float]) -> Row:
        ids = [id for id in self.rated if id in scores]
        x, y, cluster = self.observe(ids, scores)
        samples = self.sampled(x, y, cluster)
        liking = self.ratings.votes or {id: float(np.mean(values)) for id, values in self.rated.items()}
        return Row(
            metric,
            self.criterion,
            len(ids),
            correlate(x, y),
            {name: interval(samples[name]) if samples else None for name in NAMES},
            preferences({id: scores[id] for id in ids}, liking, self.ratings.group),
            len(self.rated) - len(ids),
            samples,
        )

    def compare(self, one: Row, other: Row, scores: Scores) -> Comparison:
        mine, theirs = scores[one.metric], scores[other.metric]
        ids = [id for id in self.rated if id in mine and id in theirs]
        (x, y, cluster), (z, _, _) = self.observe(ids, mine), self.observe(ids, theirs)
        found, against = correlate(x, y), correlate(z, y)
        same = len(ids) == one.items == other.items
        left = one.samples if same else self.sampled(x, y, cluster)
        right = other.samples if same else self.sampled(z, y, cluster)
        gaps = {name: left[name] - right[name] for name in NAMES} if left and right else {}
        means = np.array([np.mean(self.rated[id]) for id in ids])
        return Comparison(
            one.metric,
            other.metric,
            self.criterion,
            len(ids),
            {name: _minus(found.values[name], against.values[name]) for name in NAMES},
            {name: interval(gaps[name]) if gaps else None for name in NAMES},
            {name: bootstrap_p(gaps[name]) if gaps else None for name in NAMES},
            williams(np.array([mine[id] for id in ids]), np.array([theirs[id] for id in ids]), means),
        )


def _minus(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other
