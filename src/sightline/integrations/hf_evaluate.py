"""A module of Hugging Face's `evaluate`, loaded by its path, for any metric by its plain name.

>>> import evaluate  # doctest: +SKIP
>>> from sightline.integrations import hf_evaluate  # doctest: +SKIP
>>> clipscore = evaluate.load(hf_evaluate.__file__, "clipscore")  # doctest: +SKIP
>>> clipscore.compute(predictions=["A cat."], images=["cat.jpg"])  # doctest: +SKIP
"""

import math
from typing import Any

import datasets
import evaluate

from sightline.integrations.texts import scores_of, several
from sightline.metrics import metrics

DESCRIPTION = (
    """How true texts are to their pictures, or how close to references, by a metric of Sightline."""
)
INPUTS = """
Args:
    predictions: the texts.
    references: for each text its reference, or a list of them; leave it out for metrics without references.
    images: for each text its picture (a path or a PIL image), or a list of them for a story; or leave it out.
    metric: the metric with options, as `groovist:weights=idf`; the name it was loaded with, where this is left out.
    further keywords: the choices of `sightline.score`, as `encoder` and `regions`.
Returns: the published number under the metric's name, `scores` in the order of the texts (None where there is none),
    `failures` (number of the text, and why), and the `signature`.
"""
CITATION = "Each metric's paper is named in its documentation: sightline metrics NAME."


class SightlineScores(evaluate.Metric):
    """Texts against pictures and references."""

    def _info(self) -> Any:
        features = {
            "predictions": datasets.Value("string"),
            "references": datasets.Sequence(datasets.Value("string")),
            "images": datasets.Sequence(datasets.Image(decode=False)),
        }
        return evaluate.MetricInfo(
            description=DESCRIPTION,
            citation=CITATION,
            inputs_description=INPUTS,
            features=datasets.Features(features),
        )

    def compute(
        self, *, predictions: Any = None, references: Any = None, images: Any = None, **choices: Any
    ) -> Any:
        """The published number, each text\'s score, the failures and the signature."""
        if predictions is not None:
            self.add_batch(predictions=predictions, references=references, images=images)
        return super().compute(**choices)

    def add_batch(
        self, *, predictions: Any = None, references: Any = None, images: Any = None, **_: Any
    ) -> None:
        """Some texts; what is left out is empty for each."""
        nothing: list[Any] = [None] * len(predictions)
        lists = (
            [several(cell) for cell in (column if column is not None else nothing)]
            for column in (references, images)
        )
        super().add_batch(
            predictions=list(predictions), **dict(zip(("references", "images"), lists, strict=True))
        )

    def add(
        self,
        *,
        prediction: Any = None,
        reference: Any = None,
        references: Any = None,
        images: Any = None,
        **_: Any,
    ) -> None:
        """One text."""
        self.add_batch(
            predictions=[prediction],
            references=[reference if references is None else references],
            images=[images],
        )

    def _compute(
        self, predictions: Any, references: Any, images: Any, metric: str | None = None, **choices: Any
    ) -> Any:
        spec = metric or self.config_name
        if spec == "default":
            raise ValueError(f"name a metric: evaluate.load(PATH, NAME), one of {', '.join(metrics)}")
        items = [
            {
                "id": str(number),
                "text": text,
                "references": list(said),
                "images": [
                    shown["path"] or shown["bytes"] if shown["bytes"] is None else shown for shown in seen
                ],
            }
            for number, (text, said, seen) in enumerate(zip(predictions, references, images, strict=True), 1)
        ]
        found = scores_of(items, spec, **choices)
        return {
            spec: found.value,
            "scores": [None if math.isnan(score) else score for score in found.by_item],
            "failures": found.failures,
            "signature": found.signature,
        }
