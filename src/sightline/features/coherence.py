"""How probably each sentence of a story follows the one before it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sightline.errors import Unscorable
from sightline.features.base import Feature, Features, Tools
from sightline.features.text import Sentences, SentencesValue
from sightline.text.coherence import CoherenceModel, load_coherence


@dataclass(frozen=True)
class CoherenceValue:
    probability: tuple[float, ...]
    """For each sentence but the first: that it follows the one before it."""
    cut: tuple[int, ...]
    """Numbers (from 0) of the sentences that are longer than the model reads."""


@dataclass(frozen=True)
class Coherence(Feature[CoherenceValue]):
    """The order model's probability for each pair of neighbouring sentences."""

    value = CoherenceValue

    def needs(self) -> tuple[Feature[SentencesValue]]:
        return (Sentences(),)

    def compute(self, batch: Sequence[Features], tools: Tools) -> list[CoherenceValue | Unscorable]:
        model = _model(tools)
        stories = [got[Sentences()].spoken for got in batch]
        pairs = list(dict.fromkeys(pair for story in stories for pair in pairwise(story)))
        follows = dict(zip(pairs, map(float, model.probabilities(pairs)), strict=True)) if pairs else {}
        return [
            CoherenceValue(
                tuple(follows[pair] for pair in pairwise(story)),
                tuple(number for number, sentence in enumerate(story) if model.cut(sentence)),
            )
            if len(story) > 1
            else Unscorable("one sentence: coherence is measured between neighbouring sentences")
            for story in stories
        ]

    def signature(self, tools: Tools) -> Mapping[str, str]:
        return {"coherence": _model(tools).signature}


def _model(tools: Tools) -> CoherenceModel:
    return tools.held(load_coherence, tools.option("coherence"))
