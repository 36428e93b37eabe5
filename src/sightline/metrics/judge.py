"""Judges: vision-language models asked for a rating (as FLEUR, Lee et al., ACL 2024), for the better of two texts, and
whether a text is true (VQAScore, Lin et al., ECCV 2024)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sightline.features.base import Feature, Features, Fitted
from sightline.features.judgement import Judgement, Preference, Readout, YesProbability
from sightline.features.text import Sentences
from sightline.items import Evidence, PairEvidence
from sightline.judges.prompts import CRITERIA, Criterion, text_of
from sightline.metrics.base import Metric, metric


@metric("judge")
@dataclass(frozen=True)
class JudgeRating(Metric):
    """A vision-language model's rating of a text for its pictures; `sightline metrics judge` prints its prompts."""

    model: str = ""
    criterion: Criterion = "caption"
    readout: Readout = "auto"
    samples: int = 5
    explain: Literal["off", "on"] = "off"

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Sentences(), self._judgement)

    @property
    def _judgement(self) -> Judgement:
        samples = self.samples if self.readout == "samples" else 5
        return Judgement(self.model, self.criterion, self.readout, samples, self.explain == "on")

    def score(self, got: Features, fitted: Fitted) -> tuple[float, Evidence]:
        found = got[self._judgement]
        beside = {} if found.spread is None else {"spread of samples": found.spread}
        said = (f"the judge's answer: {' '.join(found.answer.split())}",) if self.explain == "on" else ()
        parts = {**beside, "tokens": float(found.tokens)}
        return found.rating, Evidence(sentences=got[Sentences()].sentences, parts=parts, notes=said)

    @classmethod
    def more(cls) -> str:
        """The prompts, for those who want to know what is asked."""
        return _files(CRITERIA)


@metric("judge-pair")
@dataclass(frozen=True)
class JudgePair(Metric):
    """How surely a vision-language model finds a text truer than other systems', in both orders (`compare`)."""

    model: str = ""

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Sentences(), Preference(self.model))

    def score(self, got: Features, fitted: Fitted) -> tuple[float, Evidence]:
        found = got[Preference(self.model)]
        score = sum(found.preferred) / len(found.preferred)
        evidence = Evidence(
            sentences=got[Sentences()].sentences,
            pairs=tuple(
                PairEvidence("this text", f"{name}'s", value)
                for name, value in zip(found.rivals, found.preferred, strict=True)
            ),
            parts={
                "first preferred": sum(found.first) / len(found.first),
                "both orders agree": sum(found.agreed) / len(found.agreed),
                "tokens": float(found.tokens),
            },
        )
        return score, evidence

    @classmethod
    def more(cls) -> str:
        return _files(("pair",))


@metric("vqascore")
@dataclass(frozen=True)
class VqaScore(Metric):
    """The probability of Yes when a vision-language model is asked whether the pictures show what the text says."""

    model: str = ""

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Sentences(), YesProbability(self.model))

    def score(self, got: Features, fitted: Fitted) -> tuple[float, Evidence]:
        found = got[YesProbability(self.model)]
        parts = {"tokens": float(found.tokens)}
        return found.probability, Evidence(sentences=got[Sentences()].sentences, parts=parts)

    @classmethod
    def more(cls) -> str:
        return _files(("vqa",))


def _files(names: Sequence[str]) -> str:
    return "\n".join(f"── {name} ──\n{text_of(name)}" for name in names)
