"""Open-vocabulary hallucination: which phrases of a text no picture supports."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sightline.features.base import Feature, Features, Fitted, Statistic
from sightline.features.statistics import SCALE, Support
from sightline.features.text import Phrases, Sentences
from sightline.features.vision import Alignment, region_notes
from sightline.items import Evidence, PhraseEvidence
from sightline.metrics.base import Floats, Metric, metric


def unsupported(similarity: Floats, threshold: float) -> float:
    """The share of phrases whose best match over all regions of all pictures stays below the threshold."""
    return float(np.mean(similarity < threshold))


@metric("unsupported")
@dataclass(frozen=True)
class Unsupported(Metric):
    """The share of a text's phrases that no picture supports, each marked in the report; lower is better."""

    lower_is_better = True

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Sentences(), Phrases(), Alignment())

    def fits(self) -> tuple[Statistic[Any], ...]:
        return (Support(),)

    def score(self, got: Features, fitted: Fitted) -> tuple[float, Evidence]:
        mentions, aligned, threshold = got[Phrases()].mentions, got[Alignment()], fitted[Support()]
        by_image = SCALE * np.clip(aligned.cosine.astype(np.float64), 0, None)
        similarity = by_image.max(axis=1)
        gap = similarity - threshold
        phrases = []
        for k, text in enumerate(aligned.phrases):
            mention, image = mentions[aligned.first[k]], int(by_image[k].argmax())
            x0, y0, x1, y1 = (round(float(edge), 1) for edge in aligned.box[k, image])
            phrases.append(
                PhraseEvidence(
                    text=text,
                    sentence=mention.sentence,
                    start=mention.start,
                    end=mention.end,
                    similarity=float(similarity[k]),
                    penalized=float(gap[k]),
                    weight=1.0,
                    contribution=float(gap[k]),
                    image=image,
                    box=(x0, y0, x1, y1),
                    by_image=tuple(round(float(s), 4) for s in by_image[k]),
                    again=tuple(
                        (same.sentence, same.start, same.end)
                        for same in mentions[aligned.first[k] + 1 :]
                        if same.text == text
                    ),
                )
            )
        marked = {
            mention
            for mention in mentions
            if any(p.text == mention.text and p.contribution < 0 for p in phrases)
        }
        words = {(m.sentence, word.start) for m in marked for word in m.words}
        total = got[Phrases()].words
        evidence = Evidence(
            sentences=got[Sentences()].sentences,
            phrases=tuple(phrases),
            threshold=threshold,
            parts={"share of words": len(words) / total} if total else {},
            notes=(*got[Phrases()].notes, *region_notes(got.item)),
        )
        return unsupported(similarity, threshold), evidence
