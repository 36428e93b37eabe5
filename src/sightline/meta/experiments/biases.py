"""Biases of metrics: whether longer texts get higher scores than people give them, and whether the first text wins."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UsageError
from sightline.items import Key
from sightline.meta.correlation import interval, ranks, resample
from sightline.meta.evaluate import ONE_GROUP
from sightline.meta.experiments.base import Cell, Cells, ExperimentTable, ExperimentTask, Plot, experiments
from sightline.meta.experiments.pairings import failed, mean_intervals
from sightline.meta.ratings import Ratings, mean

Floats = NDArray[np.float64]
FEWEST = 3
"""Texts that a correlation given a third thing needs at least."""
FIRST, AGREE = "first preferred", "both orders agree"
"""What the evidence of a metric that compares two texts says of their order."""


@experiments.add("length")
def length(given: ExperimentTask) -> ExperimentTable:
    """Does a metric like long texts more than people do? Rank correlations of scores and ratings with the words."""
    scored = given.score(given.items, given.metrics)
    ratings = Ratings.of(given.items, given.scale, given.overall)
    words = {item.key: float(len(item.whole_text.split())) for item in given.items}
    rows: list[Cells] = []
    for criterion, rated in ratings.by_criterion.items():
        people = {key: mean(values) for key, values in rated.items()}
        for metric, scores in scored.scores.items():
            keys = [key for key in people if key in scores]
            columns = [np.array([of[key] for key in keys], np.float64) for of in (scores, words, people)]
            groups = [ratings.group[key] for key in keys]
            rows.append((metric, criterion, len(keys), *_of_length(columns, groups, given)))
    return ExperimentTable(
        "Length: do longer texts get more than people give them?",
        (
            *("metric", "criterion", "n", "score with length", "rating with length"),
            *("score with length, given the rating", "low", "high", "why"),
        ),
        tuple(rows),
        (Plot("score with length, given the rating", interval=("low", "high"), span=(-1.0, 1.0), mark=0.0),),
        (
            "Spearman's rank correlation; length is counted in words",
            "The last one is what is left of a metric's liking for length where people's rating is held fixed: above 0 "
            "it favours long texts, below 0 short ones",
            *scored.notes,
        ),
        failed(scored),
    )


def _of_length(columns: Sequence[Floats], groups: Sequence[str], given: ExperimentTask) -> tuple[Cell, ...]:
    """Three correlations, the last with its interval; or why there are none."""
    if len(groups) < FEWEST:
        return None, None, None, None, None, f"fewer than {FEWEST} texts"
    if fixed := [
        name
        for name, column in zip(("score", "length", "rating"), columns, strict=True)
        if np.ptp(column) == 0
    ]:
        return None, None, None, None, None, f"every {fixed[0]} is the same"
    ranked = np.column_stack([ranks(column) for column in columns])
    names, cluster = np.unique(np.array(groups), return_inverse=True)
    found = _correlations(np.ones((1, len(names))), ranked, cluster)[0]
    if not given.samples or len(names) < 2:
        return *map(float, found), None, None, ONE_GROUP if given.samples else None
    drawn = _correlations(resample(len(names), given.samples, given.seed), ranked, cluster)
    ends = interval(drawn[:, 2]) or (None, None)
    return *map(float, found), *ends, None


def _correlations(weights: Floats, ranked: Floats, cluster: NDArray[np.int64]) -> Floats:
    """[sample, 3]: score with length, rating with length, and score with length given the rating; on the ranks that the
    whole sample gave, each text counted as often as its group was drawn."""
    moved = ranked - ranked.mean(axis=0)
    parts = [
        np.ones(len(moved)),
        *moved.T,
        *(moved[:, i] * moved[:, j] for i in range(3) for j in range(i, 3)),
    ]
    sums = weights @ np.column_stack([np.bincount(cluster, part, weights.shape[1]) for part in parts])
    n, means, products = sums[:, 0], sums[:, 1:4], sums[:, 4:]
    place = {(0, 0): 0, (0, 1): 1, (0, 2): 2, (1, 1): 3, (1, 2): 4, (2, 2): 5}

    def r(i: int, j: int) -> Floats:
        def spread(a: int, b: int) -> Floats:
            found: Floats = products[:, place[a, b]] - means[:, a] * means[:, b] / n
            return found

        with np.errstate(divide="ignore", invalid="ignore"):
            found: Floats = spread(i, j) / np.sqrt(spread(i, i) * spread(j, j))
        return found

    score_length, score_rating, length_rating = r(0, 1), r(0, 2), r(1, 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        left = np.sqrt((1 - score_rating**2) * (1 - length_rating**2))
        given = (score_length - score_rating * length_rating) / left
    return np.column_stack([score_length, length_rating, np.where(np.isfinite(given), given, 0.0)])


@experiments.add("order")
def order(given: ExperimentTask) -> ExperimentTable:
    """Does the text that stands first win? For metrics that hold two texts against each other, asked in both orders."""
    scored = given.score(given.items, given.metrics)
    groups = {item.key: item.group for item in given.items}
    rows: list[Cells] = []
    for metric, evidence in scored.evidence.items():
        parts = {key: found.parts for key, found in evidence.items() if FIRST in found.parts}
        if evidence and not parts:
            raise UsageError(f"{metric} compares no two texts; the order is asked of judge-pair:model=NAME")
        rows.append((metric, len(parts), *_of_order(parts, groups, given)))
    return ExperimentTable(
        "Order: does the text that stands first win?",
        ("metric", "texts", FIRST, "low", "high", AGREE, "agree low", "agree high", "why"),
        tuple(rows),
        (
            Plot(
                FIRST,
                interval=("low", "high"),
                span=(0.0, 1.0),
                mark=0.5,
                title="How surely the first text is preferred",
            ),
            Plot(
                AGREE,
                interval=("agree low", "agree high"),
                span=(0.0, 1.0),
                title="Pairs on which both orders agree",
            ),
        ),
        (
            "Every pair is asked about in both orders; 0.5 means that the first place brings nothing",
            "judge-pair counts both orders alike, so that a liking for the first place makes ties, not winners",
            *scored.notes,
        ),
        failed(scored),
    )


def _of_order(
    parts: Mapping[Key, Mapping[str, float]], groups: Mapping[Key, str], given: ExperimentTask
) -> tuple[Cell, ...]:
    if not parts:
        return None, None, None, None, None, None, "no two texts on the same pictures have an answer"
    columns = [np.array([found[name] for found in parts.values()]) for name in (FIRST, AGREE)]
    ends = mean_intervals(columns, [groups[key] for key in parts], given.samples, given.seed)
    (low, high), (agree_low, agree_high) = (found or (None, None) for found in ends)
    why = ONE_GROUP if given.samples and low is None else None
    first, agree = (float(column.mean()) for column in columns)
    return first, low, high, agree, agree_low, agree_high, why
