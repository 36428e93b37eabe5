"""A paraphraser learns to make a narrative of scene, action and rationale."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F  # noqa: N812 - the usual name

from sightline.generate.kept import Sources
from sightline.generate.paraphrasing import ParaphraseTeller, asked

LONGEST = 120
"""Tokens of either side that are learned."""


@dataclass(frozen=True)
class Pair:
    picture: str
    sources: Sources
    narrative: str


class Paraphraser:
    """A model that learns; AdamW at 5e-5, batches of eight."""

    def __init__(self, name: str, seed: int) -> None:
        self._home = ParaphraseTeller(name)
        self._model = self._home.model.float()
        self._seed = seed

    def learn(self, pairs: Sequence[Pair], epochs: int = 2, batch: int = 8, rate: float = 5e-5) -> None:
        torch.manual_seed(self._seed)
        optimiser = torch.optim.AdamW(self._model.parameters(), lr=rate)
        self._model.train()
        for epoch in range(epochs):
            order = np.random.default_rng((self._seed, epoch)).permutation(len(pairs))
            for start in range(0, len(order), batch):
                optimiser.zero_grad()
                total, tokens = self._loss([pairs[row] for row in order[start : start + batch]])
                (total / tokens).backward()
                optimiser.step()
        self._model.eval()

    def loss(self, pairs: Sequence[Pair]) -> float:
        """Nats a token of the narratives."""
        total = tokens = 0.0
        with torch.no_grad():
            for start in range(0, len(pairs), 8):
                one, count = self._loss(pairs[start : start + 8])
                total, tokens = total + float(one), tokens + count
        return total / tokens

    def save(self, folder: Path) -> None:
        self._model.save_pretrained(folder)
        self._home.tokenizer.save_pretrained(folder)

    def _loss(self, pairs: Sequence[Pair]) -> tuple[torch.Tensor, int]:
        code = self._home.tokenizer
        cut = {"padding": True, "truncation": True, "max_length": LONGEST, "return_tensors": "pt"}
        given = code([asked(one.sources) for one in pairs], **cut)
        wanted = code([one.narrative for one in pairs], **cut)
        labels = wanted["input_ids"].masked_fill(wanted["attention_mask"] == 0, -100).to(self._home.device)
        logits = self._model(
            input_ids=given["input_ids"].to(self._home.device),
            attention_mask=given["attention_mask"].to(self._home.device),
            labels=labels,
        ).logits
        total = F.cross_entropy(logits.float().flatten(0, 1), labels.flatten(), reduction="sum")
        return total, int((labels != -100).sum())
