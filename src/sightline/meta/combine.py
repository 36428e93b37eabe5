"""How much each criterion counts: weights learned from people's rankings or ratings, checked by cross-
validation.

RoViST adds its three criteria up. Here their weights are fitted so that, of two stories about the same
pictures, the one that people prefer gets the higher sum (a logistic model of each comparison).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import kendalltau, pearsonr, spearmanr

from sightline.errors import UsageError

Floats = NDArray[np.float64]
MOST_COMPARISONS = 50_000


@dataclass(frozen=True)
class CriterionAgreement:
    """One row of the paper's Table 2: a criterion against people's judgement."""

    criterion: str
    spearman: float
    pearson: float
    kendall_b: float
    preferred: float
    """Share of people's preferences that the criterion shares; a tie counts half."""


@dataclass(frozen=True)
class Combination:
    """The learned weights (for standardised criteria, adding up to 1 in size) and everything's agreement
    with people.
    """

    weights: dict[str, float]
    scale: dict[str, tuple[float, float]]
    """Mean and standard deviation by which each criterion is standardised."""
    agreement: list[CriterionAgreement]
    """Each criterion, their plain sum, and the combination as cross-validated: no story judges its own
    weights.
    """
    n: int
    folds: int

    def __call__(self, criteria: Mapping[str, float]) -> float:
        return sum(
            weight * (criteria[name] - self.scale[name][0]) / self.scale[name][1]
            for name, weight in self.weights.items()
        )


def combine(
    criteria: Mapping[str, Sequence[float]],
    judgement: Sequence[float],
    groups: Sequence[str] | None = None,
    *,
    folds: int = 5,
    penalty: float = 1.0,
    seed: int = 0,
) -> Combination:
    """Learn weights from `judgement` (higher is better; give a ranking as its negative).

    Stories are compared within their group (the same pictures), or all with all where no groups are given.
    """
    x = np.column_stack([np.asarray(column, np.float64) for column in criteria.values()])
    y = np.asarray(judgement, np.float64)
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise UsageError("every story needs all criteria and a judgement; leave out those without")
    given = np.asarray(groups if groups is not None else [""] * len(y))
    unit = given if groups is not None else np.arange(len(y)).astype(str)
    names, member = np.unique(unit, return_inverse=True)
    if len(names) < 2 * folds:
        raise UsageError(
            f"{len(names)} groups of stories are too few for {folds} folds; at least {2 * folds} are needed"
        )
    rng = np.random.default_rng(seed)
    fold = (rng.permutation(len(names)) % folds)[member]
    predicted = np.zeros(len(y))
    for held in range(folds):
        inside = fold != held
        weights, mean, sd = _fit(x[inside], y[inside], given[inside], penalty, rng)
        predicted[~inside] = (x[~inside] - mean) / sd @ weights
    weights, mean, sd = _fit(x, y, given, penalty, rng)
    pairs = comparisons(y, given, rng)
    columns = [
        *zip(criteria, x.T, strict=True),
        ("sum", x.sum(axis=1)),
        ("learned combination", predicted),
    ]
    return Combination(
        weights=dict(zip(criteria, map(float, weights), strict=True)),
        scale=dict(zip(criteria, zip(map(float, mean), map(float, sd), strict=True), strict=True)),
        agreement=[agreement(name, column, y, pairs) for name, column in columns],
        n=len(y),
        folds=folds,
    )


def comparisons(y: Floats, groups: NDArray[np.str_], rng: np.random.Generator) -> NDArray[np.int64]:
    """Pairs [better, worse] of stories of a group that people did not judge equal."""
    rows = []
    for name in np.unique(groups):
        members = np.flatnonzero(groups == name)
        if len(members) > 1500:  # all pairs of so many would be more than are needed
            left, right = rng.choice(members, (2, MOST_COMPARISONS))
        else:
            left, right = (members[side] for side in np.triu_indices(len(members), 1))
        swap = y[left] < y[right]
        pair = np.column_stack([np.where(swap, right, left), np.where(swap, left, right)])
        rows.append(pair[y[left] != y[right]])
    found: NDArray[np.int64] = np.concatenate(rows)
    if len(found) > MOST_COMPARISONS:
        found = found[rng.choice(len(found), MOST_COMPARISONS, replace=False)]
    if not len(found):
        raise UsageError("people judged all stories of each group equal: there is nothing to learn from")
    return found


def agreement(name: str, score: Floats, y: Floats, pairs: NDArray[np.int64]) -> CriterionAgreement:
    better, worse = score[pairs[:, 0]], score[pairs[:, 1]]
    shared = float(np.mean((better > worse) + 0.5 * (better == worse)))
    if np.ptp(score) == 0:
        return CriterionAgreement(name, float("nan"), float("nan"), float("nan"), shared)
    return CriterionAgreement(
        name,
        float(spearmanr(score, y)[0]),
        float(pearsonr(score, y)[0]),
        float(kendalltau(score, y)[0]),
        shared,
    )


def _fit(
    x: Floats, y: Floats, groups: NDArray[np.str_], penalty: float, rng: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    """Weights, and the mean and deviation of each criterion. P(i before j) = sigmoid(w (x_i - x_j))."""
    mean, sd = x.mean(axis=0), x.std(axis=0)
    sd[sd == 0] = 1.0
    pairs = comparisons(y, groups, rng)
    gap = (x[pairs[:, 0]] - x[pairs[:, 1]]) / sd

    def loss(w: Floats) -> tuple[float, Floats]:
        margin = gap @ w
        value = np.logaddexp(0, -margin).sum() + penalty / 2 * w @ w
        return float(value), -gap.T @ np.exp(-np.logaddexp(0, margin)) + penalty * w

    w: Floats = minimize(loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B").x
    size = np.abs(w).sum()
    return w / size if size else w, mean, sd
