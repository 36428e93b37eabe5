"""RoViST: grounding, coherence and non-redundancy in one number (Wang et al., NAACL 2022)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sightline.features.base import Feature, Features, Fitted, Statistic, Tools
from sightline.features.text import Sentences
from sightline.items import Evidence
from sightline.metrics.base import Metric, metric
from sightline.metrics.rovist_c import RovistC
from sightline.metrics.rovist_nr import RovistNR
from sightline.metrics.rovist_vg import RovistVg


def rovist(vg: float, c: float, nr: float) -> float:
    """The sum of the three criteria (section 6.2, "Overall")."""
    return vg + c + nr


@metric("rovist")
@dataclass(frozen=True)
class Rovist(Metric):
    """Visual grounding, coherence and non-redundancy, added up."""

    vg: Literal["scaled", "raw"] = "scaled"
    nr: Literal["paper", "published"] = "paper"

    def _criteria(self) -> dict[str, Metric]:
        return {"VG": RovistVg(self.vg), "C": RovistC(), "NR": RovistNR(self.nr)}

    def needs(self) -> tuple[Feature[Any], ...]:
        return tuple(
            dict.fromkeys(need for criterion in self._criteria().values() for need in criterion.needs())
        )

    def fits(self) -> tuple[Statistic[Any], ...]:
        return tuple(
            dict.fromkeys(fit for criterion in self._criteria().values() for fit in criterion.fits())
        )

    def signature_parts(self, tools: Tools) -> Mapping[str, str]:
        return {"form": self.vg}  # the grounding model itself signs as `vg`

    def score(self, got: Features, fitted: Fitted) -> tuple[float, Evidence]:
        found = {name: criterion.score(got, fitted) for name, criterion in self._criteria().items()}
        parts = {name: score for name, (score, _) in found.items()}
        grounded = found["VG"][1]
        evidence = Evidence(
            sentences=got[Sentences()].sentences,
            phrases=grounded.phrases,
            threshold=grounded.threshold,
            pairs=found["C"][1].pairs,
            parts=parts,
            notes=tuple(dict.fromkeys(note for _, part in found.values() for note in part.notes)),
        )
        return rovist(parts["VG"], parts["C"], parts["NR"]), evidence
