"""Admitting workers by how well they agree with gold annotators (HL, equation 1)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UsageError
from sightline.people.study import Qualification
from sightline.psychometrics.agreement.gate import Passing, simulate_gate
from sightline.psychometrics.agreement.workers import select_workers

WORKER = "worker"


def admits(gold: Sequence[Sequence[float]], worker: Sequence[float], asked: Qualification) -> bool:
    """Whether r = alpha_w / alpha_gold exceeds the threshold.

    `gold` holds each question's annotators' values, `worker` the worker's value for the same question.
    Without agreement among the gold annotators there is nothing to compare with: nobody is admitted.
    """
    annotators = _table(gold)
    names = [f"gold {number}" for number in range(len(annotators))]
    table = np.vstack([annotators, np.array(worker, float).reshape(1, len(gold))])
    try:
        found = select_workers(table, [*names, WORKER], names, threshold=asked.threshold, gate=asked.gate)
    except UsageError:
        return False
    return any(one.name == WORKER and one.keep for one in found.workers)


def outlook(
    gold: Sequence[Sequence[float]], levels: Sequence[float], asked: Qualification, questions: int
) -> Passing | None:
    """Which share of careless and careful workers these gold answers would admit; None for too few of them.

    `gold` holds each question's annotators' values, `levels` the levels of the scale, `questions` how many of them
    a worker answers.
    """
    table = _table(gold)
    if len(table) < 2 or table.shape[1] < 2:
        return None
    return simulate_gate(table, levels, gate=asked.gate, threshold=asked.threshold, questions=questions)


def _table(gold: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    """Annotator x question, NaN where there is no value."""
    table = np.full((max(map(len, gold), default=0), len(gold)), np.nan)
    for question, values in enumerate(gold):
        table[: len(values), question] = values
    return table
