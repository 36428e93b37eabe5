"""METEOR 1.5 (Denkowski & Lavie 2014) with its English parameters."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sightline.features.base import WORDLESS, Feature, Features, Fitted, Statistic
from sightline.features.meteor import JavaMeteor, MeteorMatches, MeteorTask, Task
from sightline.features.reference import TokenKind
from sightline.items import Evidence
from sightline.metrics.base import Floats, Metric, Scored, metric
from sightline.text.alignment import STAGES

PARAMETERS = {
    "rank": (0.85, 0.2, 0.6, 0.75, (1.0, 0.6, 0.8, 0.6)),
    "hter": (0.4, 1.5, 0.35, 0.55, (1.0, 0.2, 0.6, 0.8)),
}
"""METEOR 1.5's alpha, beta, gamma, delta and weights of exact, stem, synonym and paraphrase matches, by the
task it was tuned for: COCO's caption evaluation uses `rank`, the evaluation of VIST stories `hter`."""


def meteor(counts: Sequence[float], task: Task = "rank") -> float:
    """The score from sufficient statistics, of one text or summed over many.

    Lengths and function words of text and reference, chunks, then matches by stage: content and function
    words of the text, content and function words of the reference.
    """
    alpha, beta, gamma, delta, weights = PARAMETERS[task]
    length, function, reference_length, reference_function, chunks = counts[:5]
    content1, function1, content2, function2 = counts[5:9], counts[9:13], counts[13:17], counts[17:21]
    matched, reference_matched = sum(content1) + sum(function1), sum(content2) + sum(function2)
    if not matched or not reference_matched:
        return 0.0
    found = delta * _weighed(weights, content1) + (1 - delta) * _weighed(weights, function1)
    covered = delta * _weighed(weights, content2) + (1 - delta) * _weighed(weights, function2)
    precision = found / (delta * (length - function) + (1 - delta) * function)
    recall = covered / (delta * (reference_length - reference_function) + (1 - delta) * reference_function)
    f_mean = 1 / ((1 - alpha) / precision + alpha / recall)
    whole = matched == length and reference_matched == reference_length and chunks == 1
    fragmentation = 0.0 if whole else chunks / ((matched + reference_matched) / 2)
    return float(max(f_mean * (1 - gamma * fragmentation**beta), 0.0))


def _weighed(weights: Sequence[float], matches: Sequence[float]) -> float:
    """The matches of all stages, in plain Python: of four numbers arrays would cost more than they count."""
    exact, stem, synonym, paraphrase = weights
    return exact * matches[0] + stem * matches[1] + synonym * matches[2] + paraphrase * matches[3]


@metric("meteor")
@dataclass(frozen=True)
class Meteor(Metric):
    """Words aligned with the best reference: exact, by stem, and by synonym where a WordNet is installed."""

    tokens: TokenKind = "ptb"
    task: Literal["auto", "rank", "hter"] = "auto"
    """`auto`: `rank` where the run is of captions, as COCO's evaluation; `hter` where it is of stories, as VIST's."""
    engine: Literal["python", "java"] = "python"

    def fits(self) -> tuple[Statistic[Any], ...]:
        return (MeteorTask(),) if self.task == "auto" else ()

    def needs(self) -> tuple[Feature[Any], ...]:
        return (MeteorMatches(self.tokens) if self.engine == "python" else JavaMeteor(self.tokens),)

    def score(self, got: Features, fitted: Fitted) -> Scored:
        (feature,) = self.needs()
        task: Task = fitted[MeteorTask()] if self.task == "auto" else self.task
        every = got[feature].counts
        scores = [meteor(counts, task) for counts in every]
        score = max(scores)
        best = every[scores.index(score)]
        parts = {name: float(best[5 + n] + best[9 + n]) for n, name in enumerate(STAGES)}
        evidence = Evidence(
            parts={**parts, "chunks": best[4]},
            counts={task: best},
            notes=() if best[0] else (WORDLESS,),
        )
        return score, evidence

    def addends(self, evidence: Evidence) -> Sequence[float]:
        """The statistics, and behind them whether they are weighted as a story's."""
        ((task, counts),) = evidence.counts.items()
        return (*counts, float(task == "hter"))

    def pooled(self, totals: Floats) -> Floats:
        """From the summed statistics, as METEOR's own program."""
        return np.array([meteor(row[:-1], "hter" if row[-1] else "rank") for row in totals.tolist()])
