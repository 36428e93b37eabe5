"""CHAIR: objects that a caption names and that are not on the picture (Rohrbach et al., EMNLP 2018)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sightline.features.base import Feature, Features, Fitted
from sightline.features.objects import Objects
from sightline.features.text import Sentences
from sightline.items import Evidence, PhraseEvidence
from sightline.metrics.base import Floats, Metric, metric


def chair(named: Sequence[str], there: Collection[str]) -> float:
    """CHAIR-i: hallucinated mentions over all mentions of objects; 0 where the text names none."""
    return sum(kind not in there for kind in named) / len(named) if named else 0.0


@metric("chair")
@dataclass(frozen=True)
class Chair(Metric):
    """The share of mentioned objects (COCO's 80 classes) that are not on the picture; lower is better."""

    per: Literal["mention", "text"] = "mention"
    """`mention`: CHAIR-i; `text`: CHAIR-s, whether a text has any such object."""

    lower_is_better = True

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Sentences(), Objects())

    def score(self, got: Features, fitted: Fitted) -> tuple[float, Evidence]:
        found = got[Objects()]
        there = set(found.there)
        mentions = [(number, one) for number, some in enumerate(found.named) for one in some]
        named = [one.kind for _, one in mentions]
        wrong = sum(kind not in there for kind in named)
        evidence = Evidence(
            sentences=got[Sentences()].sentences,
            phrases=tuple(
                PhraseEvidence(
                    text=one.text if one.text.lower() == one.kind else f"{one.text} ({one.kind})",
                    sentence=number,
                    start=one.start,
                    end=one.end,
                    similarity=float(one.kind in there),
                    penalized=1.0 if one.kind in there else -1.0,
                    weight=1.0,
                    contribution=1.0 if one.kind in there else -1.0,
                )
                for number, one in mentions
            ),
            parts={"objects named": float(len(named)), "not on the picture": float(wrong)},
            notes=() if named else ("the text names none of the 80 kinds of object",),
            counts={"chair": (float(wrong), float(len(named)), float(wrong > 0), 1.0)},
        )
        return (chair(named, there) if self.per == "mention" else float(wrong > 0)), evidence

    def pooled(self, totals: Floats) -> Floats:
        """Over a corpus: mentions over mentions, or texts over texts."""
        part, whole = (0, 1) if self.per == "mention" else (2, 3)
        found: Floats = totals[:, part] / totals[:, whole].clip(1)
        return found
