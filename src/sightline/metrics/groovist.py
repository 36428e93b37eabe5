"""GROOViST: how far a story is about what its pictures show (Surikuchi et al., EMNLP 2023)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sightline.features.base import Feature, Features, Fitted, Statistic
from sightline.features.statistics import SCALE, Theta, WordIdf
from sightline.features.text import PhraseConcreteness, Phrases, Sentences, Units
from sightline.features.vision import Alignment, AlignmentValue, region_notes
from sightline.items import Evidence, PhraseEvidence
from sightline.metrics.base import Metric, metric
from sightline.text.phrases import Mention

Floats = NDArray[np.float64]


def penalize(similarity: Floats, theta: float) -> Floats:
    """Section 3: NP_pos keeps its similarity; NP_neg gets its (negative) distance from theta."""
    return np.where(similarity >= theta, similarity, similarity - theta)


def groovist(similarity: Floats, weight: Floats, theta: float, penalty: bool = True) -> float:
    """Equation 2: `similarity` is each phrase's best alignment over all regions, on CLIPScore's 2.5 scale."""
    np_scores = penalize(similarity, theta) if penalty else similarity
    return float(np.mean(np_scores * weight))


def temporal_misalignment(similarity: Floats, sentence: NDArray[np.int64], theta: float) -> float:
    """Equation 3: T, from [mention, picture] similarities and each mention's sentence number.

    t(sentence) = pairs of a mention and another picture that reach theta, over the sentence's mentions; T is the mean
    over the sentences that have a mention.
    """
    other = np.arange(similarity.shape[1])[None, :] != sentence[:, None]
    matches = ((similarity >= theta) & other).sum(axis=1)
    return float(np.mean([matches[sentence == s].mean() for s in np.unique(sentence)]))


@metric("groovist")
@dataclass(frozen=True)
class Groovist(Metric):
    """How far a story is about what its pictures show: phrases against regions, weighted by concreteness."""

    weights: Literal["concreteness", "idf", "none"] = "concreteness"
    penalty: Literal["on", "off"] = "on"
    units: Units = "phrases"
    tanh: Literal["on", "off"] = "off"

    def needs(self) -> tuple[Feature[Any], ...]:
        base = (Sentences(), Phrases(self.units), Alignment(self.units))
        return (*base, PhraseConcreteness(self.units)) if self.weights == "concreteness" else base

    def fits(self) -> tuple[Statistic[Any], ...]:
        return (Theta(self.units), WordIdf(self.units)) if self.weights == "idf" else (Theta(self.units),)

    def score(self, got: Features, fitted: Fitted) -> tuple[float, Evidence]:
        mentions = got[Phrases(self.units)].mentions
        aligned = got[Alignment(self.units)]
        theta = fitted[Theta(self.units)]
        by_image = SCALE * np.clip(aligned.cosine.astype(np.float64), 0, None)
        similarity = by_image.max(axis=1)
        weight = self._weights(got, fitted, [mentions[i] for i in aligned.first], aligned)
        np_scores = penalize(similarity, theta) if self.penalty == "on" else similarity
        raw = groovist(similarity, weight, theta, self.penalty == "on")
        parts, notes = self._beside(got, by_image, theta)
        parts["tanh"] = float(np.tanh(raw))
        evidence = Evidence(
            sentences=got[Sentences()].sentences,
            phrases=tuple(
                _phrase(mentions, aligned, by_image, np_scores, weight, k) for k in range(len(weight))
            ),
            threshold=theta,
            parts=parts,
            notes=(
                *got[Phrases(self.units)].notes,
                *notes,
                *(
                    f"the phrase '{aligned.phrases[n][:60]}' was cut to the encoder's length"
                    for n in aligned.truncated
                ),
                *region_notes(got.item),
            ),
        )
        return (parts["tanh"] if self.tanh == "on" else raw), evidence

    def _weights(
        self, got: Features, fitted: Fitted, first: list[Mention], aligned: AlignmentValue
    ) -> Floats:
        if self.weights == "none":
            return np.ones(len(first))
        if self.weights == "idf":
            idf = fitted[WordIdf(self.units)]
            return np.array([idf.of_phrase(mention.words) for mention in first])
        ratings = got[PhraseConcreteness(self.units)].ratings
        return np.array([ratings[i] for i in aligned.first])

    def _beside(
        self, got: Features, by_image: Floats, theta: float
    ) -> tuple[dict[str, float], tuple[str, ...]]:
        """P and, where sentences and pictures can be paired, T."""
        found = got[Phrases(self.units)]
        parts = {"P": len(found.mentions) / found.words} if found.words else {}
        sentences = len(got[Sentences()].sentences)
        if sentences != by_image.shape[1]:
            return parts, (f"T is not defined: {sentences} sentences for {by_image.shape[1]} pictures",)
        row = {text: k for k, text in enumerate(got[Alignment(self.units)].phrases)}
        similarity = by_image[[row[mention.text] for mention in found.mentions]]
        order = np.array([mention.sentence for mention in found.mentions])
        return {**parts, "T": temporal_misalignment(similarity, order, theta)}, ()


def _phrase(
    mentions: Sequence[Mention],
    aligned: AlignmentValue,
    by_image: Floats,
    np_scores: Floats,
    weight: Floats,
    k: int,
) -> PhraseEvidence:
    mention, later = mentions[aligned.first[k]], mentions[aligned.first[k] + 1 :]
    image = int(by_image[k].argmax())
    x0, y0, x1, y1 = (round(float(edge), 1) for edge in aligned.box[k, image])
    return PhraseEvidence(
        text=mention.text,
        sentence=mention.sentence,
        start=mention.start,
        end=mention.end,
        similarity=float(by_image[k].max()),
        penalized=float(np_scores[k]),
        weight=float(weight[k]),
        contribution=float(np_scores[k] * weight[k]),
        image=image,
        box=(x0, y0, x1, y1),
        by_image=tuple(round(float(s), 4) for s in by_image[k]),
        again=tuple((same.sentence, same.start, same.end) for same in later if same.text == mention.text),
    )
