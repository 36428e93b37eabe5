"""Sentence and corpus BLEU as sacreBLEU computes them (Post 2018), with its own tokeniser and signature."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

from sightline.errors import Unscorable
from sightline.features.base import Features, Fitted, Tools
from sightline.items import Evidence
from sightline.metrics.base import Floats, Metric, Scored, metric

Tokenizer = Literal["13a", "intl", "char", "none"]
Counts = tuple[float, ...]


@cache
def _bleu(tokenizer: str, effective: bool) -> Any:
    from sacrebleu.metrics import BLEU

    return BLEU(tokenize=tokenizer, effective_order=effective)


def sentence_score(text: str, references: Sequence[str], tokenizer: Tokenizer) -> tuple[float, Counts]:
    """A text's own BLEU, and its statistics: matches and n-grams of each order, length and reference length."""
    found = _bleu(tokenizer, True).sentence_score(text, [one for one in references if one.strip()])
    counts = (*found.counts, *found.totals, found.sys_len, found.ref_len)
    return float(found.score), tuple(map(float, counts))


def corpus_score(rows: Sequence[Counts], tokenizer: Tokenizer) -> float:
    """BLEU of all texts together, from the statistics of each."""
    totals = np.sum(rows, axis=0).astype(int).tolist()
    bleu = _bleu(tokenizer, False)
    found = bleu.compute_bleu(
        totals[:4], totals[4:8], totals[8], totals[9], bleu.smooth_method, bleu.smooth_value
    )
    return float(found.score)


@metric("sacrebleu")
@dataclass(frozen=True)
class SacreBleu(Metric):
    """BLEU by the sacreBLEU library, 0-100; a text's own score uses the effective order."""

    tokenize: Tokenizer = "13a"

    def score(self, got: Features, fitted: Fitted) -> Scored:
        if not any(text.strip() for text in got.item.references):
            raise Unscorable("there are no references")
        if not got.item.whole_text.strip():
            raise Unscorable("the text has no words")
        score, counts = sentence_score(got.item.whole_text, got.item.references, self.tokenize)
        return score, Evidence(counts={"sacrebleu": counts})

    def pooled(self, totals: Floats) -> Floats:
        return np.array([corpus_score([row], self.tokenize) for row in totals.tolist()])

    def signature_parts(self, tools: Tools) -> Mapping[str, str]:
        import sacrebleu

        return {"smooth": "exp", "sacrebleu": sacrebleu.__version__}
