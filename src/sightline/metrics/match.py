"""How likely a text is true of its picture, by a network that reads both together; and which words speak against it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sightline.features.base import Feature, Features, Fitted
from sightline.features.text import Sentences
from sightline.features.together import ReadTogether
from sightline.items import Evidence, PairEvidence, WordEvidence
from sightline.metrics.base import Metric, metric


def match(probabilities: Sequence[float]) -> float:
    """A caption's probability; of a story the mean over its sentences and their pictures."""
    return sum(probabilities) / len(probabilities)


@metric("match")
@dataclass(frozen=True)
class Match(Metric):
    """The probability that each sentence is true of its picture, read together word by word; no references."""

    words: Literal["on", "off"] = "on"

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Sentences(), ReadTogether(self.words == "on"))

    def score(self, got: Features, fitted: Fitted) -> tuple[float, Evidence]:
        read, sentences = got[ReadTogether(self.words == "on")], got[Sentences()].sentences
        evidence = Evidence(
            sentences=sentences,
            pairs=tuple(
                PairEvidence(f"sentence {n}", f"picture {n}", value)
                for n, value in enumerate(read.probability, 1)
            ),
            words=tuple(
                WordEvidence(sentences[n][start:end], n, start, end, change)
                for n, words in enumerate(read.words)
                for start, end, change in words
            ),
            notes=read.notes,
        )
        return match(read.probability), evidence
