"""ROUGE-L as COCO's caption evaluation computes it (Lin 2004), with beta = 1.2."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sightline.features.base import Feature, Features, Fitted
from sightline.features.reference import TokenKind, Tokens
from sightline.items import Evidence
from sightline.metrics.base import Metric, Scored, metric

BETA = 1.2


def common_lengths(candidate: Sequence[str], references: Sequence[Sequence[str]]) -> list[int]:
    """Length of the longest common subsequence with each reference, a machine word (or more) at a time.

    Bit-parallel (Hyyrö 2004): the zero bits of `row` count the subsequence so far.
    """
    places: dict[str, int] = {}
    for place, word in enumerate(candidate):
        places[word] = places.get(word, 0) | 1 << place
    full = (1 << len(candidate)) - 1
    found = []
    for reference in references:
        row = full
        for here in map(places.get, reference):
            if here is not None:
                shared = row & here
                row = (row + shared | row - shared) & full
        found.append(len(candidate) - row.bit_count())
    return found


def rouge_l(candidate: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """F-score of the best precision and the best recall over the references; 0 for a text without words."""
    if not candidate:
        return 0.0
    common = common_lengths(candidate, references)
    precision = max(common) / len(candidate)
    recall = max(length / len(reference) for length, reference in zip(common, references, strict=True))
    if precision == 0 or recall == 0:
        return 0.0
    return (1 + BETA**2) * precision * recall / (recall + BETA**2 * precision)


def mean_of(evidence: Iterable[Evidence]) -> float | None:
    """Corpus value of a metric that is the mean over its items."""
    scores = [found.counts["score"][0] for found in evidence]
    return sum(scores) / len(scores) if scores else None


@metric("rouge-l")
@dataclass(frozen=True)
class RougeL(Metric):
    """Longest common subsequence with the references, as COCO computes it."""

    tokens: TokenKind = "ptb"

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Tokens(self.tokens),)

    def score(self, got: Features, fitted: Fitted) -> Scored:
        found = got[Tokens(self.tokens)]
        score = rouge_l(found.candidate, found.references)
        return score, Evidence(counts={"score": (score,)})

    def corpus(self, evidence: Iterable[Evidence], fitted: Fitted) -> float | None:
        return mean_of(evidence)
