"""RoViST-C: whether each sentence follows from the one before it (Wang et al., NAACL 2022, section 3.2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from sightline.features.base import Feature, Features, Fitted
from sightline.features.coherence import Coherence
from sightline.features.text import Sentences
from sightline.items import Evidence, PairEvidence
from sightline.metrics.base import Metric, metric
from sightline.text.english import doubt


def rovist_c(p: Sequence[float]) -> float:
    """The mean of p_n over neighbouring sentences."""
    return sum(p) / len(p)


def judged(sentences: Sequence[str], p: Sequence[float]) -> list[float]:
    """The pairs' probabilities, with 0 where a sentence only repeats the last (as in the published
    program).
    """
    return [
        0.0 if _plain(left) == _plain(right) else p_n
        for (left, right), p_n in zip(pairwise(sentences), p, strict=True)
    ]


def _plain(sentence: str) -> str:
    return " ".join(sentence.lower().split())


@metric("rovist-c")
@dataclass(frozen=True)
class RovistC(Metric):
    """Whether each sentence follows from the one before it, by a model of sentence order."""

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Sentences(), Coherence())

    def score(self, got: Features, fitted: Fitted) -> tuple[float, Evidence]:
        sentences = got[Sentences()].spoken
        order = got[Coherence()]
        p = judged(sentences, order.probability)
        evidence = Evidence(
            sentences=sentences,
            pairs=tuple(
                PairEvidence(f"sentence {n}", f"sentence {n + 1}", p_n) for n, p_n in enumerate(p, 1)
            ),
            parts={"weakest step": min(p)},
            notes=(
                *(
                    f"sentence {n + 1} is longer than the coherence model reads; it was cut"
                    for n in order.cut
                ),
                *(
                    f"sentence {n + 2} repeats sentence {n + 1}: that step counts 0"
                    for n, (left, right) in enumerate(pairwise(sentences))
                    if _plain(left) == _plain(right)
                ),
                *_doubt(sentences),
            ),
        )
        return rovist_c(p), evidence


def _doubt(sentences: Sequence[str]) -> tuple[str, ...]:
    words = [word for sentence in sentences for word in sentence.split()]
    return ("the text does not look English, which is all the coherence model knows",) if doubt(words) else ()
