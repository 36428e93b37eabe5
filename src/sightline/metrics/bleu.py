"""BLEU as COCO's caption evaluation computes it (Papineni et al. 2002), with the closest reference length."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sightline.errors import Unscorable
from sightline.features.base import Feature, Features, Fitted
from sightline.features.reference import MatchesValue, NgramMatches, TokenKind, Tokens
from sightline.items import Evidence
from sightline.metrics.base import Floats, Metric, Scored, metric
from sightline.text.ngrams import ORDERS

SMALL = 1e-9
TINY = 1e-15
"""COCO's guards against division by zero; they are part of the published numbers."""

PRECISION = tuple(f"{n}-gram precision" for n in range(1, ORDERS + 1))


def bleu_rows(counts: Floats) -> Floats:
    """[item, n - 1]: BLEU-1 to BLEU-N of each item, from rows of N matches, length and reference length."""
    matches, length, reference = counts[:, :-2], counts[:, -2], counts[:, -1]
    n = np.arange(1, matches.shape[1] + 1)
    guess = np.maximum(length[:, None] - n + 1, 0)
    precision: Floats = np.cumprod((matches + TINY) / (guess + SMALL), axis=1) ** (1 / n)
    ratio = (length + TINY) / (reference + SMALL)
    return precision * np.exp(np.minimum(1 - 1 / ratio, 0))[:, None]


def pooled_bleu(totals: Floats) -> Floats:
    """BLEU-n of whole corpora, from sums of n matches, length, reference length and n numbers of n-grams."""
    n = totals.shape[1] // 2 - 1
    matches, length, reference, guess = totals[:, :n], totals[:, n], totals[:, n + 1], totals[:, n + 2 :]
    precision: Floats = np.prod((matches + TINY) / (guess + SMALL), axis=1) ** (1 / n)
    ratio = (length + TINY) / (reference + SMALL)
    return precision * np.exp(np.minimum(1 - 1 / ratio, 0))


def with_guesses(counts: Floats) -> Floats:
    """Rows of n matches, length and reference length, with the number of each text's n-grams behind them."""
    n = counts.shape[1] - 2
    return np.hstack([counts, np.maximum(counts[:, n, None] - np.arange(n), 0)])


def corpus_bleu(counts: Floats) -> float:
    """BLEU-n of all items together, from rows of n matches, the length and the reference length."""
    return float(pooled_bleu(with_guesses(counts).sum(axis=0, keepdims=True))[0])


class Bleu(Metric):
    """What BLEU-1 to BLEU-4 share."""

    order: ClassVar[int]
    tokens: TokenKind

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Tokens(self.tokens), NgramMatches(self.tokens))

    def score_batch(self, batch: Sequence[Features], fitted: Fitted) -> list[Scored | Unscorable]:
        matches = NgramMatches(self.tokens)
        reasons = [got.failure(matches) for got in batch]
        able = [got for got, reason in zip(batch, reasons, strict=True) if reason is None]
        rows = [self._counts(got[matches]) for got in able]
        scores = bleu_rows(np.array(rows))[:, -1].tolist() if rows else []
        made = map(self._scored, able, rows, scores)
        return [reason or next(made) for reason in reasons]

    def _counts(self, found: MatchesValue) -> tuple[float, ...]:
        return (*found.matches[: self.order], float(found.length), float(found.reference_length))

    def _scored(self, got: Features, counts: tuple[float, ...], score: float) -> Scored:
        length = int(counts[self.order])
        parts = {PRECISION[k]: counts[k] / (length - k) for k in range(self.order) if length > k}
        return score, Evidence(parts=parts, counts={"bleu": counts}, notes=got[Tokens(self.tokens)].notes)

    def addends(self, evidence: Evidence) -> Sequence[float]:
        counts = evidence.counts["bleu"]
        return (*counts, *(max(counts[self.order] - k, 0.0) for k in range(self.order)))

    def pooled(self, totals: Floats) -> Floats:
        return pooled_bleu(totals)


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
