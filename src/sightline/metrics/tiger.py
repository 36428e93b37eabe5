"""TIGEr: does a text speak of the same parts of the picture as the references? (Jiang et al., EMNLP-IJCNLP 2019)."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sightline.features.base import Feature, Features, Fitted
from sightline.features.relevance import RegionRelevance
from sightline.features.vision import Regions, region_notes
from sightline.items import Evidence
from sightline.metrics.base import Floats, Metric, metric

TAU = 1.5
"""Steepness of the sigmoid that brings the distance of the weights to [0, 1]."""


def region_rank_similarity(text: Floats, references: Floats) -> float:
    """RRS: normalised discounted cumulative gain of the regions in the text's order, their gains the references'."""
    span = np.ptp(references)
    if span == 0:
        return 1.0  # the references put no region before another
    gain = (references - references.min()) / span
    discount = 1 / np.log2(np.arange(len(gain)) + 2)

    def dcg(order: Floats) -> float:
        return float(gain[np.argsort(-order, kind="stable")] @ discount)

    return dcg(text) / dcg(references)


def weight_distribution_similarity(text: Floats, references: Floats) -> float:
    """WDS: how near the weights are, by the divergence of their softmax and the ratio of their lengths."""
    log_r, log_c = (row - np.log(np.exp(row).sum()) for row in (references, text))
    divergence = float(np.exp(log_r) @ (log_r - log_c))
    lengths = np.linalg.norm(references), np.linalg.norm(text)
    ratio = float(np.log(lengths[0] / lengths[1])) if min(lengths) > 0 else 0.0
    return float(1 / (1 + np.exp(TAU * (divergence + ratio))))


def tiger(text: Floats, references: Floats) -> float:
    """Half of both. `text` holds how much of each region the text says, `references` a row for each reference."""
    mean = references.mean(axis=0)
    return (region_rank_similarity(text, mean) + weight_distribution_similarity(text, mean)) / 2


@metric("tiger")
@dataclass(frozen=True)
class Tiger(Metric):
    """Whether the text speaks of the same regions, and as much, as the references do."""

    words: Literal["whole", "attended"] = "whole"

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Regions(), RegionRelevance(self.words))

    def score(self, got: Features, fitted: Fitted) -> tuple[float, Evidence]:
        found = got[RegionRelevance(self.words)]
        mean = found.references.mean(axis=0)
        parts = {
            "region rank similarity": region_rank_similarity(found.text, mean),
            "weight distribution similarity": weight_distribution_similarity(found.text, mean),
        }
        evidence = Evidence(
            sentences=got.item.sentences or (got.item.text,), parts=parts, notes=region_notes(got.item)
        )
        return tiger(found.text, found.references), evidence
