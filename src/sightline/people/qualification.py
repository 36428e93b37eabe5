"""Admitting workers by how well they agree with gold annotators (HL, equation 1)."""

import importlib
from collections.abc import Sequence

import numpy as np


def agreement_ratio(gold: Sequence[Sequence[float]], worker: Sequence[float]) -> float:
    """r = alpha_w / alpha_gold: with the worker among the gold annotators, over the annotators alone.

    `gold` holds each question's annotators' values, `worker` the worker's value for the same question.
    Without agreement among the gold annotators there is nothing to compare with: nobody is admitted.
    """
    if not gold:
        return 0.0
    annotators = max(map(len, gold))
    table = np.full((annotators + 1, len(gold)), np.nan)
    for question, values in enumerate(gold):
        table[: len(values), question] = values
    table[-1] = worker
    krippendorff_alpha = importlib.import_module("sightline.psychometrics.agreement").krippendorff_alpha
    among_gold = krippendorff_alpha(table[:-1])
    return float(krippendorff_alpha(table) / among_gold) if among_gold > 0 else 0.0
