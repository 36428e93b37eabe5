"""BLEU as COCO's caption evaluation computes it (Papineni et al. 2002), with the closest reference length."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sightline.features.base import Feature, Features, Fitted
from sightline.features.reference import NgramMatches, TokenKind, Tokens
from sightline.items import Evidence
from sightline.metrics.base import Metric, Scored, metric

SMALL = 1e-9
TINY = 1e-15
"""COCO's guards against division by zero; they are part of the published numbers."""


def bleu_rows(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """[item, n - 1]: BLEU-1 to BLEU-N of each item, from rows of N matches, length and reference length."""
    matches, length, reference = counts[:, :-2], counts[:, -2], counts[:, -1]
    n = np.arange(1, matches.shape[1] + 1)
    guess = np.maximum(length[:, None] - n + 1, 0)
    precision: NDArray[np.float64] = np.cumprod((matches + TINY) / (guess + SMALL), axis=1) ** (1 / n)
    ratio = (length + TINY) / (reference + SMALL)
    return precision * np.exp(np.minimum(1 - 1 / ratio, 0))[:, None]


def corpus_bleu(counts: NDArray[np.float64]) -> float:
    """BLEU-n of all items together, from rows of n matches, the length and the reference length."""
    n = counts.shape[1] - 2
    guess = np.maximum(counts[:, n, None] - np.arange(n), 0).sum(axis=0)
    totals = counts.sum(axis=0)
    precision = np.prod((totals[:n] + TINY) / (guess + SMALL)) ** (1 / n)
    ratio = (totals[n] + TINY) / (totals[n + 1] + SMALL)
    return float(precision * np.exp(min(1 - 1 / ratio, 0)))


class Bleu(Metric):
    """What BLEU-1 to BLEU-4 share."""

    order: ClassVar[int]
    tokens: TokenKind

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Tokens(self.tokens), NgramMatches(self.tokens))

    def score(self, got: Features, fitted: Fitted) -> Scored:
        found, n = got[NgramMatches(self.tokens)], self.order
        counts = (*found.matches[:n], float(found.length), float(found.reference_length))
        guess = [max(found.length - k, 0) for k in range(n)]
        parts = {f"{k + 1}-gram precision": found.matches[k] / guess[k] for k in range(n) if guess[k]}
        score = float(bleu_rows(np.array([counts]))[0, -1])
        return score, Evidence(parts=parts, counts={"bleu": counts})

    def corpus(self, evidence: Iterable[Evidence], fitted: Fitted) -> float | None:
        counts = np.array([found.counts["bleu"] for found in evidence], np.float64)
        return corpus_bleu(counts) if len(counts) else None


@metric("bleu-1")
@dataclass(frozen=True)
class Bleu1(Bleu):
    """Share of the text's words that a reference has too (COCO's BLEU-1)."""

    tokens: TokenKind = "ptb"
    order = 1


@metric("bleu-2")
@dataclass(frozen=True)
class Bleu2(Bleu):
    """Words and word pairs shared with the references (COCO's BLEU-2)."""

    tokens: TokenKind = "ptb"
    order = 2


@metric("bleu-3")
@dataclass(frozen=True)
class Bleu3(Bleu):
    """Stretches of up to three words shared with the references (COCO's BLEU-3)."""

    tokens: TokenKind = "ptb"
    order = 3


@metric("bleu-4")
@dataclass(frozen=True)
class Bleu4(Bleu):
    """Stretches of up to four words shared with the references (COCO's BLEU-4)."""

    tokens: TokenKind = "ptb"
    order = 4
