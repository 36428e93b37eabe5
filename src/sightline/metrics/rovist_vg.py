"""RoViST-VG: how well the nouns of a story are grounded in its pictures (Wang et al., NAACL 2022)."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sightline.features.base import Feature, Features, Fitted, Statistic
from sightline.features.statistics import WordIdf
from sightline.features.text import Phrases, Sentences
from sightline.features.vg import NounGrounding
from sightline.features.vision import region_notes
from sightline.items import Evidence, PhraseEvidence
from sightline.metrics.base import Metric, metric

Floats = NDArray[np.float64]


def s_vg(idf: Floats, cosine: Floats) -> float:
    """Equation 2: S_VG = log sum_i exp(idf(T_i) max_j cos(T_i, I_j)); `cosine` holds each noun's maximum."""
    terms = idf * cosine
    top = float(terms.max())
    return top + math.log(float(np.exp(terms - top).sum()))


def scaled(s: float) -> float:
    """Equation 3: 2 / (1 + exp(-0.5 S)) - 1, between 0 and 1 for S >= 0."""
    return math.tanh(0.25 * s)


@metric("rovist-vg")
@dataclass(frozen=True)
class RovistVg(Metric):
    """How well a story's nouns are grounded in its pictures: idf-weighted best matches, pooled by log-sum-exp."""

    form: Literal["raw", "scaled"] = "raw"

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Sentences(), Phrases("nouns"), NounGrounding())

    def fits(self) -> tuple[Statistic[Any], ...]:
        return (WordIdf("nouns"),)

    def score(self, got: Features, fitted: Fitted) -> tuple[float, Evidence]:
        found, mentions = got[NounGrounding()], got[Phrases("nouns")].mentions
        table = fitted[WordIdf("nouns")]
        nouns = [mentions[number] for number in found.mention]
        idf = np.array([table.of_phrase(noun.words) for noun in nouns])
        by_image = found.cosine.astype(np.float64)
        cosine = by_image.max(axis=1)
        raw = s_vg(idf, cosine)
        evidence = Evidence(
            sentences=got[Sentences()].sentences,
            phrases=tuple(
                PhraseEvidence(
                    text=noun.text,
                    sentence=noun.sentence,
                    start=noun.start,
                    end=noun.end,
                    similarity=float(cosine[k]),
                    penalized=float(cosine[k]),
                    weight=float(idf[k]),
                    contribution=float(idf[k] * cosine[k]),
                    image=(image := int(by_image[k].argmax())),
                    box=_box(found.box[k, image]),
                    by_image=tuple(round(float(c), 4) for c in by_image[k]),
                )
                for k, noun in enumerate(nouns)
            ),
            parts={"raw": raw, "scaled": scaled(raw)},
            notes=(
                *got[Phrases("nouns")].notes,
                *((f"without a word vector, left out: {', '.join(found.unknown)}",) if found.unknown else ()),
                *region_notes(got.item),
            ),
        )
        return (raw if self.form == "raw" else scaled(raw)), evidence


def _box(edges: NDArray[Any]) -> tuple[float, float, float, float]:
    x0, y0, x1, y1 = (round(float(edge), 1) for edge in edges)
    return x0, y0, x1, y1
