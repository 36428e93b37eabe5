"""VICR's learned rater: the rating a person would give a caption for its picture, without references."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sightline.features.base import Feature, Features, Fitted
from sightline.features.rater import PredictedRating, PredictedRatingValue
from sightline.features.text import Sentences
from sightline.items import Evidence, PairEvidence
from sightline.metrics.base import Metric, metric

SEEN = "the rater learned from people's ratings of a picture shown here: no evidence of how good it is on new ones"


def vicr(ratings: Sequence[float]) -> float:
    """A caption's rating; of a story the mean over its sentences and their pictures."""
    return sum(ratings) / len(ratings)


@metric("vicr")
@dataclass(frozen=True)
class CaptionRating(Metric):
    """The rating (1 to 5) a person would give each sentence for its picture, by a learned rater; no references."""

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Sentences(), PredictedRating())

    def score(self, got: Features, fitted: Fitted) -> tuple[float, Evidence]:
        found, sentences = got[PredictedRating()], got[Sentences()].sentences
        evidence = Evidence(
            sentences=sentences,
            pairs=tuple(
                PairEvidence(f"sentence {n}", f"picture {n}", rating)
                for n, rating in enumerate(found.rating, 1)
            ),
            parts=_parts(found),
            notes=(
                *(f"sentence {n + 1} was cut to the encoder's length" for n in found.truncated),
                *((SEEN,) if found.seen else ()),
            ),
        )
        return vicr(found.rating), evidence


def _parts(found: PredictedRatingValue) -> dict[str, float]:
    """A caption's 80 % interval; of a story the mean ends, which hold one sentence's rating, not the mean's."""
    return {"low (80 %)": vicr(found.low), "high (80 %)": vicr(found.high)}
