"""PAC-S and RefPAC-S: CLIPScore's form on a CLIP fine-tuned with positive augmentation (Sarto et al., CVPR 2023)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sightline.errors import Unscorable
from sightline.features.base import Feature, Features, Fitted
from sightline.features.text import Sentences
from sightline.features.vision import PairSimilarity, ReferenceSimilarity
from sightline.items import Evidence
from sightline.metrics.base import Metric, metric
from sightline.metrics.clipscore import pair_evidence

SCALE = 2.0
"""w in equation 7."""


def pac_s(cosine: float) -> float:
    """PAC-S = 2 x max(0, cos(t, v))."""
    return SCALE * max(0.0, cosine)


def refpac_s(pac: float, reference_cosines: Sequence[float]) -> float:
    """RefPAC-S: harmonic mean of PAC-S and the best reference's max(0, cos(t, r))."""
    best = max(0.0, *reference_cosines)
    return 2 * pac * best / (pac + best) if pac + best > 0 else 0.0


@metric("pac-s")
@dataclass(frozen=True)
class PacScore(Metric):
    """PAC-S: each sentence against its own picture, on 2 x cosine; meant for `--encoder pac:FILE`."""

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Sentences(), PairSimilarity())

    def score(self, got: Features, fitted: Fitted) -> tuple[float, Evidence]:
        scores = [pac_s(cosine) for cosine in got[PairSimilarity()].cosine]
        return sum(scores) / len(scores), pair_evidence(got, PairSimilarity(), scores, {})


@metric("refpac-s")
@dataclass(frozen=True)
class RefPacScore(Metric):
    """RefPAC-S: PAC-S of a caption combined with its closeness to the best reference; for `--encoder pac:FILE`."""

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Sentences(), PairSimilarity(), ReferenceSimilarity())

    def score(self, got: Features, fitted: Fitted) -> tuple[float, Evidence]:
        if not got.item.is_caption:
            raise Unscorable(
                f"refpac-s compares captions with references; this item has {len(got.item.images)} pictures"
            )
        pac = pac_s(got[PairSimilarity()].cosine[0])
        references = got[ReferenceSimilarity()].cosine
        parts = {"pac-s": pac, "best reference": max(0.0, *references)}
        return refpac_s(pac, references), pair_evidence(got, PairSimilarity(), [pac], parts)
