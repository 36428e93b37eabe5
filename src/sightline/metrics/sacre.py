"""Sentence and corpus BLEU as sacreBLEU computes them (Post 2018), with its own tokeniser and signature."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

from sightline.errors import Unscorable
from sightline.features.base import Features, Fitted, Tools
from sightline.items import Evidence
from sightline.metrics.base import Metric, Scored, metric

Tokenizer = Literal["13a", "intl", "char", "none"]


@cache
def _bleu(tokenizer: str, effective: bool) -> Any:
    from sacrebleu.metrics import BLEU

    return BLEU(tokenize=tokenizer, effective_order=effective)


@metric("sacrebleu")
@dataclass(frozen=True)
class SacreBleu(Metric):
    """BLEU by the sacreBLEU library, 0-100; a text's own score uses the effective order."""

    tokenize: Tokenizer = "13a"

    def score(self, got: Features, fitted: Fitted) -> Scored:
        references = [text for text in got.item.references if text.strip()]
        if not references:
            raise Unscorable("there are no references")
        if not got.item.whole_text.strip():
            raise Unscorable("the text has no words")
        found = _bleu(self.tokenize, True).sentence_score(got.item.whole_text, references)
        counts = (*found.counts, *found.totals, found.sys_len, found.ref_len)
        return float(found.score), Evidence(counts={"sacrebleu": tuple(map(float, counts))})

    def corpus(self, evidence: Iterable[Evidence], fitted: Fitted) -> float | None:
        rows = np.array([found.counts["sacrebleu"] for found in evidence])
        if not len(rows):
            return None
        totals = rows.sum(axis=0).astype(int).tolist()
        bleu = _bleu(self.tokenize, False)
        score = bleu.compute_bleu(
            totals[:4], totals[4:8], totals[8], totals[9], bleu.smooth_method, bleu.smooth_value
        )
        return float(score.score)

    def signature_parts(self, tools: Tools) -> Mapping[str, str]:
        import sacrebleu

        return {"smooth": "exp", "sacrebleu": sacrebleu.__version__}
