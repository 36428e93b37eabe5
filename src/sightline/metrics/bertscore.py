"""BERTScore (Zhang et al. 2020): greedy matching of word pieces in context; the best reference counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from sightline.features.base import Features, Fitted
from sightline.features.matched_pieces import ContextualMatches, Matched, PieceIdf
from sightline.items import Evidence
from sightline.metrics.base import Metric, Scored, metric

PUBLISHED_LAYERS: Final = {
    "bert-base-uncased": 9,
    "bert-large-uncased": 18,
    "bert-base-multilingual-cased": 9,
    "roberta-base": 10,
    "roberta-large": 17,
    "roberta-large-mnli": 19,
    "xlm-roberta-base": 9,
    "xlm-roberta-large": 17,
    "distilbert-base-uncased": 5,
    "distilroberta-base": 5,
    "albert-base-v2": 9,
    "albert-xxlarge-v2": 8,
    "electra-base-discriminator": 9,
    "electra-large-discriminator": 14,
    "mpnet-base": 8,
    "deberta-base-mnli": 9,
    "deberta-large-mnli": 18,
    "deberta-xlarge-mnli": 40,
    "deberta-v3-base": 9,
    "deberta-v3-large": 12,
}
"""The layer that agrees best with people on WMT16, by model, as the authors' package bert-score 0.3.13 has them."""


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
    layer: int | None = None
    """None is the published layer where the model has one, else the last."""

    def needs(self) -> tuple[ContextualMatches]:
        layer = (
            PUBLISHED_LAYERS.get(self.model.rstrip("/").rpartition("/")[2], -1)
            if self.layer is None
            else self.layer
        )
        return (ContextualMatches(self.model, layer),)

    def fits(self) -> tuple[PieceIdf, ...]:
        (matches,) = self.needs()
        return (PieceIdf(matches.model, matches.layer),) if self.idf == "on" else ()

    def score(self, got: Features, fitted: Fitted) -> Scored:
        (matches,) = self.needs()
        idf = next((fitted[weights] for weights in self.fits()), None)
        every = (bertscore(pair, idf) for pair in got[matches].references)
        precision, recall, f1 = max(every, key=lambda scores: scores[2])
        return f1, Evidence(parts={"precision": precision, "recall": recall})
