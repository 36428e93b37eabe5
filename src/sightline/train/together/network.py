"""Pictures and words read together: the captioner's layers, looking both ways, with a judgement at the end."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - the usual name

from sightline.train.pocket_captioner.network import DecoderConfig, DecoderNetwork

JUDGEMENTS: Final = ("near", "match", "exact")
"""How close the text is to what people say of the picture; whether it is theirs; whether nothing was exchanged."""
POOLED: Final = 256


class TogetherNetwork(nn.Module):
    """Maps of a picture and the pieces of texts to what is judged of each text."""

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.reader = DecoderNetwork(config)
        self.unknown = nn.Parameter(torch.randn(config.width) * config.width**-0.5)
        """Stands for a word that is masked out, and for a piece that the vocabulary does not have."""
        self.weigh = nn.Linear(config.width, 1)
        self.pool = nn.Linear(2 * config.width, POOLED)
        self.judge = nn.Linear(POOLED, len(JUDGEMENTS))
        nn.init.zeros_(self.weigh.weight)

    @property
    def config(self) -> DecoderConfig:
        return self.reader.config

    def memory(self, map16: Tensor, map32: Tensor, vector: Tensor) -> list[tuple[Tensor, Tensor]]:
        return self.reader.memory(map16, map32, vector)

    def states(
        self, memory: Sequence[tuple[Tensor, Tensor]], ids: Tensor, order: Tensor, mask: Tensor
    ) -> Tensor:
        """[row, place, width]; an id of -1 is unknown or masked out."""
        table = torch.cat([self.reader.embedding, self.unknown[None]])
        read = F.embedding(ids % len(table), table) * self.config.width**0.5
        x = self.reader.dropout(read + F.embedding(order, self.reader.order))
        hidden = None
        if self.training and self.config.unseen:
            keys = memory[0][0]
            drawn = torch.rand(len(keys), 1, 1, keys.shape[1]) < self.config.unseen
            hidden = torch.zeros(drawn.shape, dtype=keys.dtype).masked_fill_(drawn, float("-inf"))
        for layer, (keys, values) in zip(self.reader.layers, memory, strict=True):
            x = layer(x, keys, values, mask, hidden)
        found: Tensor = self.reader.norm(x)
        return found

    def pooled(self, states: Tensor, member: Tensor) -> Tensor:
        """[row, text, POOLED] of texts whose places `member` [row, text, place] marks with 1."""
        member = member.to(states.dtype)
        weight = member * torch.exp(self.weigh(states).clamp(-8, 8)).transpose(1, 2)
        plain = member @ states / member.sum(-1, keepdim=True).clamp(min=1)
        chosen = weight @ states / weight.sum(-1, keepdim=True).clamp(min=1e-6)
        return F.relu(self.pool(torch.cat([plain, chosen], -1)))

    def forward(
        self,
        memory: Sequence[tuple[Tensor, Tensor]],
        ids: Tensor,
        order: Tensor,
        mask: Tensor,
        member: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Judgements [row, text, 3], pooled features, and states."""
        states = self.states(memory, ids, order, mask)
        pooled = self.pooled(states, member)
        return self.judge(pooled), pooled, states


def begun_from(decoder: DecoderNetwork, **changed: Any) -> TogetherNetwork:
    """A network whose layers start as those of a captioner."""
    network = TogetherNetwork(DecoderConfig(**{**asdict(decoder.config), **changed}))
    network.reader.load_state_dict(decoder.state_dict())
    with torch.no_grad():
        network.unknown.copy_(decoder.embedding.mean(0))
    return network
