"""Worker selection by agreement with gold annotators (HL dataset, section 3.2)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sightline.errors import UsageError
from sightline.psychometrics.agreement.alpha import Scale, alpha
from sightline.psychometrics.model.responses import Floats

THRESHOLD = 0.5


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
    threshold: float
    workers: tuple[Worker, ...]


def select_workers(
    ratings: Floats,
    raters: Sequence[str],
    gold: Sequence[str],
    *,
    threshold: float = THRESHOLD,
    scale: Scale = "ordinal",
) -> Selection:
    """Keep the workers whose ratings, put to those of the gold annotators, leave enough of their agreement.

    alpha_gold is over the gold annotators; alpha_w over them and the worker, on the items the gold annotators
    rated.
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
    rows = [list(raters).index(name) for name in dict.fromkeys(gold)]
    items = ~np.isnan(ratings[rows]).all(axis=0)
    reference = ratings[rows][:, items]
    alpha_gold = alpha(reference, scale)
    if not alpha_gold > 0:
        raise UsageError(f"the gold annotators' own alpha is {alpha_gold:.3f}: disagreement is no yardstick")
    found = []
    for j, name in enumerate(raters):
        if j in rows:
            continue
        own = ratings[j, items]
        shared = int((~np.isnan(own)).sum())
        together = alpha(np.vstack([reference, own]), scale) if shared else float("nan")
        ratio = together / alpha_gold
        found.append(Worker(name, together, ratio, bool(ratio > threshold), shared))
    return Selection(alpha_gold, threshold, tuple(found))
