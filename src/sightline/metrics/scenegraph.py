"""An F-score over objects, attributes and relations: SPICE's idea (Anderson et al. 2016), our parser."""

from dataclasses import dataclass

from sightline.features.base import Features, Fitted
from sightline.features.scenegraph import SceneGraphs
from sightline.items import Evidence
from sightline.metrics.base import Metric, Scored, metric


@metric("scenegraph")
@dataclass(frozen=True)
class SceneGraph(Metric):
    """Objects, attributes and relations shared with the references, found by the English pipeline."""

    def needs(self) -> tuple[SceneGraphs]:
        return (SceneGraphs(),)

    def score(self, got: Features, fitted: Fitted) -> Scored:
        found = got[SceneGraphs()]
        precision, recall = found.precise / found.candidate, found.recalled / found.reference
        score = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        return score, Evidence(
            parts={"precision": precision, "recall": recall, "facts": float(found.candidate)}
        )
