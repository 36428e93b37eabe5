"""CIDEr-D (Vedantam et al. 2015): tf-idf weighted n-grams shared with the references, as COCO computes it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import Unscorable
from sightline.features.base import Feature, Features, Fitted, Statistic
from sightline.features.reference import DocumentFrequency, TokenKind, Tokens, TokensValue, as_texts
from sightline.items import Evidence
from sightline.metrics.base import Metric, Scored, metric
from sightline.text.ngrams import ORDERS, DocumentFrequencies, Overlap, overlaps, totals

SIGMA = 6.0
"""Width of the length penalty, in words."""


def cider(
    lengths: NDArray[np.int64],
    reference_lengths: NDArray[np.int64],
    item: NDArray[np.int64],
    found: Sequence[Overlap],
    frequencies: DocumentFrequencies,
) -> NDArray[np.float64]:
    """CIDEr-D of each candidate; `item` says which candidate each reference belongs to."""
    items = len(lengths)
    similarity = np.zeros(len(item))
    for n, both in enumerate(found, 1):
        idf = frequencies.idf(n, both.keys)
        mine, theirs = both.mine.times * idf[both.mine.key], both.theirs.times * idf[both.theirs.key]
        norm = np.sqrt(totals(both.mine.text, mine**2, items))[item]
        norm *= np.sqrt(totals(both.theirs.text, theirs**2, len(item)))
        hyp, ref = mine[both.row], theirs[both.shared]
        value = totals(both.theirs.text[both.shared], np.minimum(hyp, ref) * ref, len(item))
        similarity += np.divide(value, norm, out=value, where=norm != 0)
    # COCO's length counts word pairs, so a text of one word is as long as one of none.
    length = np.maximum(lengths - 1, 0)[item] - np.maximum(reference_lengths - 1, 0)
    similarity *= np.exp(-(length.astype(np.float64) ** 2) / (2 * SIGMA**2))
    mean: NDArray[np.float64] = totals(item, similarity, items) / np.bincount(item, minlength=items)
    return 10 * mean / ORDERS


@metric("cider")
@dataclass(frozen=True)
class Cider(Metric):
    """Rare word stretches shared with the references (COCO's CIDEr-D); idf over the scored items."""

    tokens: TokenKind = "ptb"
    df: str = "corpus"
    """Documents that words are weighed by: the ids of the run (`corpus`), each of their references (`references`), or
    those of a file: references in the item form, or the folder of a run."""

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Tokens(self.tokens),)

    def fits(self) -> tuple[Statistic[Any], ...]:
        return (DocumentFrequency(self.tokens, self.df),)

    def score_batch(self, batch: Sequence[Features], fitted: Fitted) -> list[Scored | Unscorable]:
        reasons = [got.failure(Tokens(self.tokens)) for got in batch]
        able = [
            got[Tokens(self.tokens)] for got, reason in zip(batch, reasons, strict=True) if reason is None
        ]
        frequencies = fitted[DocumentFrequency(self.tokens, self.df)]
        if frequencies.documents < 2:
            alone = Unscorable(
                "cider weighs words by how many items' references have them: at least two items are needed; "
                "cider:df=references takes each reference for one, cider:df=FILE those of a file"
            )
            return [reason or alone for reason in reasons]
        scores: list[float] = []
        if able:
            candidates, references, item = as_texts(able)
            found = overlaps(candidates, references, item)
            scores = cider(candidates.lengths, references.lengths, item, found, frequencies).tolist()
        left = iter(zip(able, scores, strict=True))
        return [reason or self._scored(*next(left)) for reason in reasons]

    def _scored(self, tokens: TokensValue, score: float) -> Scored:
        return score, Evidence(counts={"score": (score,)}, notes=tokens.notes)

    def addends(self, evidence: Evidence) -> Sequence[float]:
        return (*evidence.counts["score"], 1.0)

    def pooled(self, totals: NDArray[np.float64]) -> NDArray[np.float64]:
        """The mean, as COCO's evaluation takes it."""
        return totals[:, 0] / totals[:, 1]
