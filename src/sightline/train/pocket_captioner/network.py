"""The decoder: text that looks at the pocket image network's maps while it is written, piece by piece."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - the usual name

PLACES = 64 + 16 + 1
"""What there is to look at: the cells of both maps, and the vector."""
SPARE = 1 << 22
"""Random numbers that are drawn at a time for dropout; each mask is a stretch of them."""


@dataclass(frozen=True)
class DecoderConfig:
    pieces: int
    width: int = 256
    layers: int = 3
    heads: int = 4
    longest: int = 40
    """Pieces of a text at most, its end included."""
    dropout: float = 0.1
    unseen: float = 0.0
    """Share of a picture's places that are hidden in training."""


class Dropout(nn.Module):
    """Dropout whose masks are stretches of one bank of random bits: the generator would take longer than the layer."""

    banks: ClassVar[dict[tuple[float, torch.dtype], Tensor]] = {}

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share

    def forward(self, x: Tensor) -> Tensor:
        size = x.numel()
        if not self.training or not self.share:
            return x
        if size > SPARE:
            return F.dropout(x, self.share)
        key = (self.share, x.dtype)
        if key not in Dropout.banks:
            Dropout.banks[key] = (torch.rand(SPARE) >= self.share).to(x.dtype) / (1 - self.share)
        start = int(torch.randint(SPARE - size + 1, ()))
        return x * Dropout.banks[key][start : start + size].view_as(x)


def attend(q: Tensor, k: Tensor, v: Tensor, heads: int, mask: Tensor | None = None) -> Tensor:
    """[row, place, width] each; the mask is added to the scores.

    Written out: torch's own fused attention takes three times as long on a CPU in bfloat16.
    """

    def split(x: Tensor) -> Tensor:
        return x.unflatten(-1, (heads, -1)).transpose(1, 2)

    scores = split(q * (q.shape[-1] // heads) ** -0.5) @ split(k).transpose(-1, -2)
    weights = (scores if mask is None else scores + mask).softmax(-1)
    return (weights @ split(v)).transpose(1, 2).flatten(2)


class Layer(nn.Module):
    """The text so far, the picture, a perceptron: each behind a norm and a shortcut."""

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        width = config.width
        self.heads = config.heads
        self.norm_text, self.norm_picture, self.norm = (nn.LayerNorm(width) for _ in range(3))
        self.ask, self.answer = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.look, self.tell = nn.Linear(width, width), nn.Linear(width, width)
        self.widen, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.dropout = Dropout(config.dropout)

    def forward(self, x: Tensor, keys: Tensor, values: Tensor, mask: Tensor, hidden: Tensor | None) -> Tensor:
        q, k, v = self.ask(self.norm_text(x)).chunk(3, -1)
        x = x + self.dropout(self.answer(attend(q, k, v, self.heads, mask)))
        seen = attend(self.look(self.norm_picture(x)), keys, values, self.heads, hidden)
        x = x + self.dropout(self.tell(seen))
        return x + self.dropout(self.narrow(F.relu(self.widen(self.norm(x)))))


class DecoderNetwork(nn.Module):
    """Pictures as maps, and the pieces of texts, to what comes next at each place of a text.

    Piece 0 stands before a text and after it.
    """

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.config = config
        width = config.width
        self.enter16, self.enter32 = nn.Linear(256, width), nn.Linear(512, width)
        self.enter_vector = nn.Linear(256, width)
        self.places = nn.Parameter(torch.randn(PLACES, width) * 0.02)
        self.norm_places = nn.LayerNorm(width)
        self.embedding = nn.Parameter(torch.randn(config.pieces, width) * width**-0.5)
        """Of the pieces, for reading and for writing."""
        self.bias = nn.Parameter(torch.zeros(config.pieces))
        self.order = nn.Parameter(torch.randn(config.longest, width) * 0.02)
        self.see = nn.Linear(width, 2 * width * config.layers)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.layers))
        self.norm = nn.LayerNorm(width)
        self.dropout = Dropout(config.dropout)

    def memory(self, map16: Tensor, map32: Tensor, vector: Tensor) -> list[tuple[Tensor, Tensor]]:
        """What each layer looks at, keys and values [picture, place, width]; maps as [picture, place, channel]."""
        parts = (self.enter16(map16), self.enter32(map32), self.enter_vector(vector)[:, None])
        x = self.norm_places(torch.cat(parts, 1) + self.places)
        found = self.see(x).chunk(2 * self.config.layers, -1)
        return list(zip(found[::2], found[1::2], strict=True))

    def forward(
        self, memory: Sequence[tuple[Tensor, Tensor]], ids: Tensor, order: Tensor, mask: Tensor
    ) -> Tensor:
        """[row, place, width], to be held against the embedding. `order`: each piece's place in its own text."""
        read = F.embedding(ids, self.embedding) * self.config.width**0.5
        x = self.dropout(read + F.embedding(order, self.order))
        hidden = None
        if self.training and self.config.unseen:
            rows = memory[0][0]
            drawn = torch.rand(len(rows), 1, 1, PLACES) < self.config.unseen
            hidden = torch.zeros(drawn.shape, dtype=rows.dtype).masked_fill_(drawn, float("-inf"))
        for layer, (keys, values) in zip(self.layers, memory, strict=True):
            x = layer(x, keys, values, mask, hidden)
        return self.norm(x)

    def chances(self, states: Tensor) -> Tensor:
        """Log-probability of each piece."""
        return F.linear(states.float(), self.embedding, self.bias).log_softmax(-1)


class NextPiece(torch.autograd.Function):
    """Cross-entropy of the next pieces with smoothed targets, weighed; its gradient is made along with it.

    The logits of a batch over all pieces would not fit into the caches of a CPU: they are made and used up a stretch at
    a time, in bfloat16 where `narrow` says so.
    """

    STRETCH = 192

    @staticmethod
    def forward(
        context: Any,
        states: Tensor,
        embedding: Tensor,
        bias: Tensor,
        targets: Tensor,
        weights: Tensor,
        smoothing: float,
        narrow: bool,
    ) -> tuple[Tensor, Tensor]:
        """The weighed sum of the losses to learn by, and each piece's own negative log-probability."""
        kind = torch.bfloat16 if narrow else torch.float32
        h, table = states.to(kind), embedding.to(kind)
        count = len(table)
        grad_h = torch.empty_like(h)
        grad_table = torch.zeros_like(embedding)
        grad_bias = torch.zeros_like(bias)
        losses, plain = [], []
        for start in range(0, len(h), NextPiece.STRETCH):
            part, aims = h[start : start + NextPiece.STRETCH], targets[start : start + NextPiece.STRETCH]
            weigh = weights[start : start + NextPiece.STRETCH, None]
            logits = (part @ table.T).float().add_(bias)
            rows = torch.arange(len(part))
            said, mean = logits[rows, aims], logits.mean(-1)
            highest = logits.max(-1, keepdim=True).values
            chance = logits.sub_(highest).exp_()
            total = chance.sum(-1, keepdim=True)
            log_total = (total.log() + highest)[:, 0]
            plain.append(log_total - said)
            losses.append(log_total - (1 - smoothing) * said - smoothing * mean)
            chance.mul_(weigh / total)
            if smoothing:
                chance.sub_(weigh * (smoothing / count))
            chance[rows, aims] -= (1 - smoothing) * weigh[:, 0]
            grad_bias += chance.sum(0)
            made = chance.to(kind)
            grad_h[start : start + NextPiece.STRETCH] = made @ table
            grad_table += (made.T @ part).float()
        context.save_for_backward(grad_h.to(states.dtype), grad_table, grad_bias)
        each = torch.cat(plain)
        context.mark_non_differentiable(each)
        return (torch.cat(losses) * weights).sum(), each

    @staticmethod
    def backward(context: Any, *given: Any) -> Any:
        grad_h, grad_table, grad_bias = context.saved_tensors
        by = given[0]
        return grad_h * by, grad_table * by, grad_bias * by, None, None, None, None


def begun(config: DecoderConfig, table: Tensor, counts: Tensor) -> DecoderNetwork:
    """A network whose embedding starts from the pocket's vectors of its pieces, and its bias from their counts."""
    network = DecoderNetwork(config)
    centred = table.double() - table.double().mean(0)
    _, _, axes = torch.linalg.svd(centred, full_matrices=False)
    chosen = (centred @ axes[: config.width].T).float()
    with torch.no_grad():
        if chosen.shape[1] == config.width:
            network.embedding.copy_(F.normalize(chosen, dim=-1))
        else:
            network.embedding[:, : chosen.shape[1]] = F.normalize(chosen, dim=-1)
        network.bias.copy_((counts.float() + 1).log() - (counts.float() + 1).sum().log())
    return network
