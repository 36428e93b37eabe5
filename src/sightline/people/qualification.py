"""Admitting workers by how well they agree with gold annotators (HL, equation 1)."""

from collections.abc import Sequence

import numpy as np

from sightline.errors import UsageError
from sightline.psychometrics.agreement.workers import select_workers

WORKER = "worker"


def admits(gold: Sequence[Sequence[float]], worker: Sequence[float], threshold: float) -> bool:
    """Whether r = alpha_w / alpha_gold exceeds the threshold.

    `gold` holds each question's annotators' values, `worker` the worker's value for the same question.
    Without agreement among the gold annotators there is nothing to compare with: nobody is admitted.
    """
    annotators = [f"gold {number}" for number in range(max(map(len, gold), default=0))]
    table = np.full((len(annotators) + 1, len(gold)), np.nan)
    for question, values in enumerate(gold):
        table[: len(values), question] = values
    if gold:
        table[-1] = worker
    try:
        found = select_workers(table, [*annotators, WORKER], annotators, threshold=threshold)
    except UsageError:
        return False
    return any(one.name == WORKER and one.keep for one in found.workers)
