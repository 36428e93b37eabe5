"""Sentence and corpus BLEU as sacreBLEU computes them (Post 2018), with its own tokeniser and signature."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

from sightline.errors import Unscorable
from sightline.features.base import Features, Fitted, Tools
from sightline.items import Evidence
from sightline.metrics.base import Floats, Metric, Scored, metric

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

    def pooled(self, totals: Floats) -> Floats:
        bleu = _bleu(self.tokenize, False)
        smooth = (bleu.smooth_method, bleu.smooth_value)
        rows = totals.astype(int).tolist()
        return np.array(
            [bleu.compute_bleu(row[:4], row[4:8], row[8], row[9], *smooth).score for row in rows], np.float64
        )

    def signature_parts(self, tools: Tools) -> Mapping[str, str]:
        import sacrebleu

        return {"smooth": "exp", "sacrebleu": sacrebleu.__version__}
