"""How far a system's stories lie from people's: d_HM (Surikuchi et al., 2024).

Machines out-score people on coherence, so "higher is better" misleads. d_HM asks how far each generated
story is from the human story of the same pictures, in grounding, coherence and repetition.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

Scores = Mapping[str, float]
"""A score for each story, by id."""

PARTS = {"groovist": "tanh(GROOViST)", "rovist-c": "RoViST-C", "rovist-nr": "RoViST-NR"}
"""The metrics d_HM is made of, and what is compared of each."""


@dataclass(frozen=True)
class Deviation:
    """Human and generated stories in one metric, over the stories that both have."""

    metric: str
    n: int
    human: float
    generated: float
    deviation: float
    """The mean of |human - generated|."""
    higher: float
    """Share of the stories in which the generated one scores higher; a tie counts half."""


@dataclass(frozen=True)
class Distance:
    """d_HM and its parts; d_HM is None where a part is missing."""

    parts: dict[str, Deviation]
    d_hm: float | None


def squashed(metric: str, score: float) -> float:
    """GROOViST as tanh, which brings it to the scale of the others; everything else as it is."""
    name, _, options = metric.partition(":")
    return math.tanh(score) if name == "groovist" and "tanh=on" not in options.split(",") else score


def deviation(metric: str, human: Scores, generated: Scores) -> Deviation | None:
    """How far the two lie apart in one metric; None where no story has both."""
    shared = [story for story in human if story in generated]
    if not shared:
        return None
    h = np.array([squashed(metric, human[story]) for story in shared])
    g = np.array([squashed(metric, generated[story]) for story in shared])
    higher = float(np.mean((g > h) + 0.5 * (g == h)))
    return Deviation(
        metric, len(shared), float(h.mean()), float(g.mean()), float(np.abs(h - g).mean()), higher
    )


def distance(human: Mapping[str, Scores], generated: Mapping[str, Scores]) -> Distance:
    """The deviation in every metric both have, and d_HM = the mean over its three parts."""
    parts = {
        metric: found
        for metric in human
        if metric in generated and (found := deviation(metric, human[metric], generated[metric])) is not None
    }
    by_name = {metric.partition(":")[0]: part.deviation for metric, part in parts.items()}
    complete = all(name in by_name for name in PARTS)
    return Distance(parts, float(np.mean([by_name[name] for name in PARTS])) if complete else None)
