"""Worker selection by agreement with gold annotators (HL dataset, section 3.2), read in two ways.

`pooled` is the paper's wording: alpha over the gold annotators and the worker, as a share of the gold annotators' own.
One voice among many moves alpha little: with five gold annotators it admits everybody. `consensus` asks the
worker alone: alpha between the worker and the gold annotators' mean, as a share of what the gold annotators
themselves reach with the mean of the others. A mean presupposes that levels are evenly spaced, so ordinal ratings
are compared on an interval scale there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from sightline.errors import UsageError
from sightline.psychometrics.agreement.alpha import Scale, alpha
from sightline.psychometrics.model.responses import Floats

THRESHOLD = 0.5

Gate = Literal["pooled", "consensus"]
GATES: tuple[Gate, ...] = get_args(Gate)


@dataclass(frozen=True)
class Worker:
    """A worker's agreement ratio r = alpha_w / alpha_gold (equation 1), and the verdict r > t."""

    name: str
    alpha: float
    ratio: float
    keep: bool
    shared: int
    """Gold items this worker rated."""


@dataclass(frozen=True)
class Selection:
    alpha_gold: float
    """The yardstick: the gold annotators' alpha (pooled), or their mean alpha with the mean of the others."""
    threshold: float
    workers: tuple[Worker, ...]
    gate: Gate = "pooled"


def select_workers(
    ratings: Floats,
    raters: Sequence[str],
    gold: Sequence[str],
    *,
    threshold: float = THRESHOLD,
    scale: Scale = "ordinal",
    gate: Gate = "pooled",
) -> Selection:
    """Keep the workers whose agreement with the gold annotators is enough of these annotators' own.

    All is asked of the items that gold annotators rated. Raises UsageError where the gold annotators are no
    yardstick: fewer than two, unknown names, or no agreement among themselves.
    """
    unknown_gold = [name for name in gold if name not in raters]
    if unknown_gold:
        raise UsageError(
            f"no rater is called '{unknown_gold[0]}'; name gold annotators as they are in the file"
        )
    if len(set(gold)) < 2:
        raise UsageError(
            "worker selection needs at least two gold annotators: their agreement is the yardstick"
        )
    if gate == "consensus" and scale == "nominal":
        raise UsageError("nominal ratings have no mean: choose the pooled gate")
    rows = [list(raters).index(name) for name in dict.fromkeys(gold)]
    items = ~np.isnan(ratings[rows]).all(axis=0)
    reference = ratings[rows][:, items]
    own_alpha = yardstick(reference, gate, scale)
    if not own_alpha > 0:
        raise UsageError(f"the gold annotators' own alpha is {own_alpha:.3f}: disagreement is no yardstick")
    found = []
    for j, name in enumerate(raters):
        if j not in rows:
            own = ratings[j, items]
            shared = int((~np.isnan(own)).sum())
            reached = agreement(reference, own, gate, scale) if shared else float("nan")
            ratio = reached / own_alpha
            found.append(Worker(name, reached, ratio, bool(ratio > threshold), shared))
    return Selection(own_alpha, threshold, tuple(found), gate)


def yardstick(reference: Floats, gate: Gate, scale: Scale = "ordinal") -> float:
    """How far the gold annotators agree, in the terms in which a worker is measured."""
    if gate == "pooled":
        return alpha(reference, scale)
    alone = [
        agreement(np.delete(reference, row, axis=0), own, gate, scale) for row, own in enumerate(reference)
    ]
    known = [value for value in alone if not np.isnan(value)]
    return float(np.mean(known)) if known else float("nan")


def agreement(reference: Floats, worker: Floats, gate: Gate, scale: Scale = "ordinal") -> float:
    """alpha_w: of the worker among the gold annotators, or with their mean."""
    if gate == "pooled":
        return alpha(np.vstack([reference, worker]), scale)
    given = ~np.isnan(reference)
    count = given.sum(axis=0)
    total = np.where(given, reference, 0).sum(axis=0)
    mean = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return alpha(np.vstack([mean, worker]), "interval" if scale == "ordinal" else scale)
