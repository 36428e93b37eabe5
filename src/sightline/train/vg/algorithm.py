"""Algorithm 1 (Wang et al., NAACL 2022): regions and nouns into one space by a soft-label loss.

As in the paper: 300-d word vectors averaged over a mention's words, tanh projections to 1024, symmetric loss, Adam with
a rate that falls 5 % an epoch, early stopping.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - the usual name

EMBEDDING = 1024


@dataclass(frozen=True)
class VgConfig:
    """The paper's settings (appendix)."""

    batch: int = 64
    rate: float = 5e-5
    fade: float = 0.95
    decay: float = 1e-5
    epochs: int = 40
    patience: int = 3
    validation: float = 0.15
    seed: int = 0


class VgHeads(nn.Module):
    """I_e = tanh(W_i h + b_i) and T_e = tanh(W_t t + b_t)."""

    def __init__(self, image_width: int, word_width: int) -> None:
        super().__init__()
        self.image = nn.Linear(image_width, EMBEDDING)
        self.text = nn.Linear(word_width, EMBEDDING)

    def forward(self, h: Any, t: Any) -> tuple[Any, Any]:
        return torch.tanh(self.image(h)), torch.tanh(self.text(t))


def symmetric_loss(I_e: Any, T_e: Any) -> Any:
    """Lines 4-10 of Algorithm 1. The targets are softmaxed (cross-entropy needs it) and not back-propagated through."""
    logits = T_e @ I_e.T
    labels = ((I_e @ I_e.T + T_e @ T_e.T) / 2).detach()
    text = -(torch.softmax(labels, 1) * F.log_softmax(logits, 1)).sum(1).mean()
    image = -(torch.softmax(labels.T, 1) * F.log_softmax(logits.T, 1)).sum(1).mean()
    return (image + text) / 2


def split(pictures: Any, config: VgConfig) -> tuple[Any, Any]:
    """Rows to learn from and rows to choose on: no picture stands in both."""
    generator = torch.Generator().manual_seed(config.seed)
    shuffled = torch.randperm(int(pictures.max()) + 1, generator=generator).to(pictures.device)
    held = shuffled[pictures] < config.validation * len(shuffled)
    return (~held).nonzero().squeeze(1), held.nonzero().squeeze(1)
