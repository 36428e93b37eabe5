"""ROUGE-L as COCO's caption evaluation computes it (Lin 2004), with beta = 1.2."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rapidfuzz.distance import LCSseq

from sightline.errors import Unscorable
from sightline.features.base import Feature, Features, Fitted
from sightline.features.reference import TokenKind, Tokens, TokensValue
from sightline.items import Evidence
from sightline.metrics.base import Floats, Metric, Scored, metric

BETA = 1.2


def rouge_l(candidate: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """F-score of the best precision and the best recall over the references; 0 for a text without words."""
    if not candidate:
        return 0.0
    common = [LCSseq.similarity(candidate, reference) for reference in references]
    precision = max(common) / len(candidate)
    recall = max(length / len(reference) for length, reference in zip(common, references, strict=True))
    if precision == 0 or recall == 0:
        return 0.0
    return (1 + BETA**2) * precision * recall / (recall + BETA**2 * precision)


@metric("rouge-l")
@dataclass(frozen=True)
class RougeL(Metric):
    """Longest common subsequence with the references, as COCO computes it."""

    tokens: TokenKind = "ptb"

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Tokens(self.tokens),)

    def score_batch(self, batch: Sequence[Features], fitted: Fitted) -> list[Scored | Unscorable]:
        tokens = Tokens(self.tokens)
        return [got.failure(tokens) or self._scored(got[tokens]) for got in batch]

    def _scored(self, found: TokensValue) -> Scored:
        score = rouge_l(found.candidate, found.references)
        return score, Evidence(counts={"score": (score,)}, notes=found.notes)

    def addends(self, evidence: Evidence) -> Sequence[float]:
        return (*evidence.counts["score"], 1.0)

    def pooled(self, totals: Floats) -> Floats:
        """The mean, as COCO's evaluation takes it."""
        return totals[:, 0] / totals[:, 1]
