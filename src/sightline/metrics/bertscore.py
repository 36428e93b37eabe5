"""BERTScore (Zhang et al. 2020): greedy matching of word pieces in context; the best reference counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sightline.features.base import Feature, Features, Fitted, Statistic
from sightline.features.contextual import ContextualMatches, Matched, PieceIdf
from sightline.items import Evidence
from sightline.metrics.base import Metric, Scored, metric


def bertscore(found: Matched, idf: dict[int, float] | None = None) -> tuple[float, float, float]:
    """Precision, recall and F1 (equations 1 to 4), pieces weighted by idf where given."""

    def mean(ids: Sequence[int], best: Sequence[float]) -> float:
        weights = np.array([1.0 if idf is None else idf.get(piece, idf[-1]) for piece in ids])
        return float(np.average(best, weights=weights if weights.sum() > 0 else None))

    precision, recall = mean(found.mine, found.mine_best), mean(found.theirs, found.theirs_best)
    total = precision + recall
    return precision, recall, 2 * precision * recall / total if total else 0.0


@metric("bertscore")
@dataclass(frozen=True)
class BertScore(Metric):
    """Word pieces matched by meaning in context, F1 with the best reference; any transformers encoder."""

    model: str = "roberta-large"
    idf: Literal["off", "on"] = "off"
    layer: int = -1

    def needs(self) -> tuple[Feature[Any], ...]:
        return (ContextualMatches(self.model, self.layer),)

    def fits(self) -> tuple[Statistic[Any], ...]:
        return (PieceIdf(self.model, self.layer),) if self.idf == "on" else ()

    def score(self, got: Features, fitted: Fitted) -> Scored:
        idf = fitted[PieceIdf(self.model, self.layer)] if self.idf == "on" else None
        found = got[ContextualMatches(self.model, self.layer)].references
        precision, recall, f1 = max((bertscore(pair, idf) for pair in found), key=lambda scores: scores[2])
        return f1, Evidence(parts={"precision": precision, "recall": recall})
