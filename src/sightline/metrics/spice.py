"""SPICE (Anderson et al. 2016), only through its own jar; `scenegraph` is the measure without one."""

from dataclasses import dataclass

from sightline.features.base import Features, Fitted
from sightline.features.scenegraph import SpiceGraphs
from sightline.items import Evidence
from sightline.metrics.base import Metric, Scored, metric


@metric("spice")
@dataclass(frozen=True)
class Spice(Metric):
    """Scene graph F-score by SPICE's own jar, where it is given."""

    def needs(self) -> tuple[SpiceGraphs]:
        return (SpiceGraphs(),)

    def score(self, got: Features, fitted: Fitted) -> Scored:
        found = got[SpiceGraphs()]
        return found.f, Evidence(parts={"precision": found.precision, "recall": found.recall})
