"""A sentence model that learned to rate how concrete a word is.

The teacher's layers go on learning; its piece vectors stay, so that words that were never rated keep their place
beside those that were.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from sightline.errors import extra
from sightline.text.concreteness import HIGHEST, LOWEST

Floats = NDArray[np.float32]
MIDDLE = (LOWEST + HIGHEST) / 2
NARROWEST, WIDEST = -4.0, 2.0
"""Bounds of the log variance."""
SHARE_LIKELIHOOD = 0.1
POOL = 16
"""Batches that are sorted by length together, so that little is padded."""


@dataclass(frozen=True)
class NetworkRecipe:
    epochs: int = 3
    batch: int = 128
    teacher_rate: float = 2e-4
    head_rate: float = 1e-3
    hidden: int = 256


class RatingNetwork(nn.Module):
    """Every second of the teacher's states, averaged over the word's pieces, to a rating and its log variance."""

    def __init__(self, teacher: Any, hidden: int) -> None:
        super().__init__()
        self.teacher = teacher
        for weight in teacher.embeddings.parameters():
            weight.requires_grad_(False)
        self.layers = range(0, teacher.config.num_hidden_layers + 1, 2)
        width = len(self.layers) * teacher.config.hidden_size
        self.head = nn.Sequential(
            *(nn.Dropout(0.2), nn.Linear(width, hidden), nn.GELU(), nn.Dropout(0.3), nn.Linear(hidden, 2))
        )

    def forward(self, coded: Any) -> tuple[Any, Any]:
        states = self.teacher(**coded, output_hidden_states=True).hidden_states
        place = torch.arange(coded["input_ids"].shape[1])[None, :]
        inside = (place >= 1) & (place < coded["attention_mask"].sum(1, keepdim=True) - 1)
        mask = inside.float()[..., None]
        means = [(states[layer] * mask).sum(1) / mask.sum(1).clamp(min=1) for layer in self.layers]
        said = self.head(torch.cat(means, dim=1))
        return said[:, 0] + MIDDLE, said[:, 1].clamp(NARROWEST, WIDEST)


def fit_network(
    teacher: Path,
    words: Sequence[str],
    y: Floats,
    wanted: Sequence[str],
    recipe: NetworkRecipe,
    seed: int,
    progress: Callable[[str], None],
) -> tuple[Floats, Floats]:
    """Learn the ratings `y` of `words`; returns value and variance of every wanted word."""
    transformers = extra("transformers", "train")
    torch.manual_seed(seed)
    lots = np.random.default_rng(seed)
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(teacher))
    net = RatingNetwork(transformers.AutoModel.from_pretrained(str(teacher)), recipe.hidden).train()
    targets = torch.from_numpy(y)
    groups = [
        {"params": [w for w in net.teacher.parameters() if w.requires_grad], "lr": recipe.teacher_rate},
        {"params": list(net.head.parameters()), "lr": recipe.head_rate},
    ]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.05)
    plan = [batch for _ in range(recipe.epochs) for batch in batches(words, recipe.batch, lots)]
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, [recipe.teacher_rate, recipe.head_rate], total_steps=len(plan), pct_start=0.1
    )
    for number, batch in enumerate(plan, 1):
        coded = tokenizer([words[n] for n in batch], padding=True, return_tensors="pt")
        value, log_variance = net(coded)
        missed = (value - targets[batch]) ** 2
        likelihood = 0.5 * log_variance + 0.5 * missed.detach() / log_variance.exp()
        loss = missed.mean() + SHARE_LIKELIHOOD * likelihood.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if number % 100 == 0:
            progress(f"step {number} of {len(plan)}: squared error {float(missed.detach().mean()):.3f}")
    return rate(net.eval(), tokenizer, wanted)


def batches(words: Sequence[str], size: int, lots: np.random.Generator) -> list[NDArray[Any]]:
    """All words once, in batches of about one length, in random order."""
    order = lots.permutation(len(words))
    found = []
    for start in range(0, len(order), size * POOL):
        pool = order[start : start + size * POOL]
        pool = pool[np.argsort([len(words[n]) for n in pool], kind="stable")]
        found += [pool[at : at + size] for at in range(0, len(pool), size)]
    return [found[n] for n in lots.permutation(len(found))]


def rate(net: RatingNetwork, tokenizer: Any, words: Sequence[str]) -> tuple[Floats, Floats]:
    """Value and variance of each word."""
    order = sorted(range(len(words)), key=lambda n: (len(words[n]), words[n]))
    value, variance = np.zeros(len(words), np.float32), np.zeros(len(words), np.float32)
    for start in range(0, len(order), 512):
        chunk = order[start : start + 512]
        with torch.inference_mode():
            said, log_variance = net(tokenizer([words[n] for n in chunk], padding=True, return_tensors="pt"))
        value[chunk], variance[chunk] = said.numpy(), log_variance.exp().numpy()
    return value, variance
