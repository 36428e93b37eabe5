"""BLEURT (Sellam et al. 2020) through transformers: the scorer of the HL paper."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sightline.corpus.purity.base import Floats, PurityScorer, scorers
from sightline.errors import UsageError, extra
from sightline.hub import device, load_pretrained
from sightline.text.pairs import batches_by_width

BATCH_PIECES = 4096
LONGEST = 512


@scorers.add("bleurt")
def bleurt(argument: str) -> PurityScorer:
    """`bleurt:NAME-or-PATH`: BLEURT as a transformers model, such as `bleurt:Elron/bleurt-base-512`."""
    if not argument:
        raise UsageError(
            "--purity bleurt needs a model: bleurt:NAME-or-PATH, such as bleurt:Elron/bleurt-base-512"
        )
    return Bleurt(argument)


class Bleurt:
    """A regression on (reference, candidate). Against several references: the mean."""

    def __init__(self, name: str) -> None:
        transformers = extra("transformers", "torch")
        self._torch = extra("torch", "torch")
        resource, (self._tokenizer, self._model) = load_pretrained(
            "BLEURT model",
            name,
            transformers.AutoTokenizer.from_pretrained,
            transformers.AutoModelForSequenceClassification.from_pretrained,
        )
        if self._model.config.num_labels != 1:
            outputs = self._model.config.num_labels
            raise UsageError(f"--purity bleurt:{name}: a model with one output is needed, this has {outputs}")
        self._device = device()
        self._model.to(self._device).eval()
        places = getattr(self._model.config, "max_position_embeddings", LONGEST)
        self._longest = min(LONGEST, places, self._tokenizer.model_max_length)
        self.resource = replace(resource, device=self._device)

    @property
    def signature(self) -> str:
        return f"bleurt|{self._model.config.model_type}@{self.resource.digest}"

    def score(self, groups: Sequence[Sequence[str]]) -> list[Floats]:
        if not groups:
            return []
        asked = [
            (group[j], group[i])
            for group in groups
            for i in range(len(group))
            for j in range(len(group))
            if j != i
        ]
        pairs = list(dict.fromkeys(asked))
        known = dict(zip(pairs, self._scores(pairs), strict=True))
        scores = np.array([known[pair] for pair in asked])
        ends = np.cumsum([len(group) * (len(group) - 1) for group in groups])[:-1]
        return [
            own.reshape(len(group), -1).mean(axis=1)
            for group, own in zip(groups, np.split(scores, ends), strict=True)
        ]

    def _scores(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        rows: list[Any] = [
            self._tokenizer(reference, candidate, truncation="longest_first", max_length=self._longest)
            for reference, candidate in pairs
        ]
        scores = np.zeros(len(pairs))
        for batch in batches_by_width([len(row["input_ids"]) for row in rows], BATCH_PIECES):
            feed = self._tokenizer.pad([rows[row] for row in batch], return_tensors="pt").to(self._device)
            with self._torch.inference_mode():
                scores[batch] = self._model(**feed).logits[:, 0].double().cpu().numpy()
        return scores
