"""Word Mover's Distance (Kusner et al. 2015) as a similarity, exp(-distance), with the nearest reference."""

from dataclasses import dataclass
from math import exp
from typing import Any

from sightline.features.base import Feature, Features, Fitted
from sightline.features.word_distance import WordMovers
from sightline.items import Evidence
from sightline.metrics.base import Metric, Scored, metric


@metric("wmd")
@dataclass(frozen=True)
class Wmd(Metric):
    """How little the text's words must move, in meaning, to become the nearest reference's (1: same)."""

    def needs(self) -> tuple[Feature[Any], ...]:
        return (WordMovers(),)

    def score(self, got: Features, fitted: Fitted) -> Scored:
        nearest = min(got[WordMovers()].distance)
        return exp(-nearest), Evidence(parts={"distance": nearest})
