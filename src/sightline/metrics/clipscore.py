"""CLIPScore and RefCLIPScore (Hessel et al., EMNLP 2021)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sightline.errors import Unscorable
from sightline.features.base import Feature, Features, Fitted
from sightline.features.statistics import SCALE
from sightline.features.text import Sentences
from sightline.features.vision import Long, PairSimilarity, ReferenceSimilarity
from sightline.items import Evidence, PairEvidence
from sightline.metrics.base import Metric, metric


def clipscore(cosine: float) -> float:
    """CLIP-S = 2.5 x max(0, cos(c, v))."""
    return SCALE * max(0.0, cosine)


def refclipscore(clip_s: float, reference_cosines: Sequence[float]) -> float:
    """RefCLIP-S: harmonic mean of CLIP-S and the best reference's max(0, cos(c, r))."""
    best = max(0.0, *reference_cosines)
    return 2 * clip_s * best / (clip_s + best) if clip_s + best > 0 else 0.0


def pair_evidence(
    got: Features,
    similarity: PairSimilarity,
    scores: Sequence[float],
    parts: dict[str, float],
    notes: Sequence[str] = (),
) -> Evidence:
    """What each sentence got with its picture, and which of them the encoder could not read whole."""
    found = got[similarity]
    sentences = got[Sentences()].sentences
    return Evidence(
        sentences=sentences,
        pairs=tuple(
            PairEvidence(f"sentence {n}", f"picture {n}", score) for n, score in enumerate(scores, 1)
        ),
        parts=parts,
        notes=(
            *(f"sentence {n + 1} was cut to the encoder's length" for n in found.truncated),
            *(
                f"sentence {n + 1} is longer than the encoder reads: the mean over {k} parts"
                for n, k in found.parts
            ),
            *notes,
        ),
    )


@metric("clipscore")
@dataclass(frozen=True)
class ClipScore(Metric):
    """Each sentence against its own picture as a whole; a story's score is the mean over its pairs."""

    long: Long = "cut"

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Sentences(), PairSimilarity(self.long))

    def score(self, got: Features, fitted: Fitted) -> tuple[float, Evidence]:
        similarity = PairSimilarity(self.long)
        scores = [clipscore(cosine) for cosine in got[similarity].cosine]
        return sum(scores) / len(scores), pair_evidence(got, similarity, scores, {})


@metric("refclipscore")
@dataclass(frozen=True)
class RefClipScore(Metric):
    """CLIPScore of a caption, combined with its closeness to the best reference."""

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Sentences(), PairSimilarity(), ReferenceSimilarity())

    def score(self, got: Features, fitted: Fitted) -> tuple[float, Evidence]:
        if not got.item.is_caption:
            raise Unscorable(
                f"refclipscore compares captions with references; this item has {len(got.item.images)} pictures"
            )
        clip_s = clipscore(got[PairSimilarity()].cosine[0])
        references = got[ReferenceSimilarity()]
        best = max(0.0, *references.cosine)
        notes = [f"reference {n + 1} was cut to the encoder's length" for n in references.truncated]
        score = refclipscore(clip_s, references.cosine)
        return score, pair_evidence(
            got, PairSimilarity(), [clip_s], {"clipscore": clip_s, "best reference": best}, notes
        )
