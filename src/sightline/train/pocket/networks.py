"""The networks of the pocket encoder. Small enough for one CPU core, plain enough for ONNX."""

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - the usual name

DIMENSIONS = 256


@dataclass(frozen=True)
class ImageConfig:
    """Shape of the image network: residual stages at strides 4, 8, 16 and 32 of a `side` x `side` picture."""

    side: int = 128
    widths: tuple[int, int, int, int] = (64, 128, 256, 512)
    depths: tuple[int, int, int, int] = (2, 2, 2, 2)
    stem_stride: int = 4
    gates: bool = True
    drop_path: float = 0.1
    dropout: float = 0.1


class Block(nn.Module):
    """Two 3x3 convolutions around a shortcut, with a channel gate (squeeze and excitation)."""

    def __init__(self, inner: int, outer: int, stride: int, gates: bool, drop_path: float) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inner, outer, 3, stride, 1, bias=False),
            nn.BatchNorm2d(outer),
            nn.ReLU(inplace=True),
            nn.Conv2d(outer, outer, 3, 1, 1, bias=False),
            nn.BatchNorm2d(outer),
        )
        nn.init.zeros_(self.body[4].weight)
        hidden = max(16, outer // 8)
        self.gate = (
            nn.Sequential(
                nn.AdaptiveAvgPool2d(1),
                nn.Conv2d(outer, hidden, 1),
                nn.ReLU(),
                nn.Conv2d(hidden, outer, 1),
                nn.Sigmoid(),
            )
            if gates
            else None
        )
        shortcut: list[nn.Module] = []
        if stride > 1:
            shortcut.append(nn.AvgPool2d(stride))
        if inner != outer:
            shortcut += [nn.Conv2d(inner, outer, 1, bias=False), nn.BatchNorm2d(outer)]
        self.shortcut = nn.Sequential(*shortcut)
        self.drop_path = drop_path

    def forward(self, x: Any) -> Any:
        y = self.body(x)
        if self.gate is not None:
            y = y * self.gate(y)
        if self.training and self.drop_path:
            keep = torch.rand(len(y), 1, 1, 1, device=y.device) >= self.drop_path
            y = y * keep / (1 - self.drop_path)
        return F.relu(y + self.shortcut(x))


class ImageNetwork(nn.Module):
    """A picture, squashed to a square, as a pooled feature `h` and a vector in the shared space."""

    def __init__(self, config: ImageConfig) -> None:
        super().__init__()
        self.config = config
        first = config.widths[0]
        self.stem = nn.Sequential(
            nn.Conv2d(3, first // 2, 3, 2, 1, bias=False),
            nn.BatchNorm2d(first // 2),
            nn.ReLU(inplace=True),
            nn.Conv2d(first // 2, first, 3, config.stem_stride // 2, 1, bias=False),
            nn.BatchNorm2d(first),
            nn.ReLU(inplace=True),
        )
        stages, inner, done, total = [], first, 0, sum(config.depths)
        for level, (width, depth) in enumerate(zip(config.widths, config.depths, strict=True)):
            blocks = []
            for number in range(depth):
                stride = 2 if level and not number else 1
                blocks.append(Block(inner, width, stride, config.gates, config.drop_path * done / total))
                inner, done = width, done + 1
            stages.append(nn.Sequential(*blocks))
        self.stages = nn.ModuleList(stages)
        self.width = inner
        self.dropout = nn.Dropout(config.dropout)
        self.project = nn.Linear(2 * inner, DIMENSIONS)
        self.register_buffer("mean", torch.tensor([0.471, 0.446, 0.405]).view(1, 3, 1, 1) * 255)
        self.register_buffer("deviation", torch.tensor([0.27, 0.265, 0.277]).view(1, 3, 1, 1) * 255)

    def maps(self, pixels: Any) -> list[Any]:
        """Feature maps of all stages, from pixels 0-255."""
        x = self.stem((pixels - self.mean) / self.deviation)
        found = []
        for stage in self.stages:
            x = stage(x)
            found.append(x)
        return found

    def pool(self, last: Any) -> Any:
        """Mean and soft maximum over the picture: what it is about, and what stands out in it."""
        flat = last.flatten(2)
        peak = torch.logsumexp(4 * flat.float(), -1) / 4 - math.log(flat.shape[-1]) / 4
        return torch.cat([flat.mean(-1), peak.to(flat.dtype)], -1)

    def forward(self, pixels: Any) -> tuple[Any, Any]:
        h = self.pool(self.maps(pixels)[-1])
        return h, self.project(self.dropout(h))


class TextNetwork(nn.Module):
    """Word pieces to a vector in the shared space: a frozen table of pieces, a few light layers, soft pooling."""

    def __init__(
        self, table: Any, layers: int = 2, width: int = 256, heads: int = 4, longest: int = 48
    ) -> None:
        super().__init__()
        self.register_buffer("table", table)
        self.enter = nn.Linear(table.shape[1], width)
        self.place = nn.Parameter(torch.zeros(longest, width))
        self.layers = nn.ModuleList([TextLayer(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.weigh = nn.Linear(width, 1)
        self.leave = nn.Linear(width, DIMENSIONS)

    def forward(self, ids: Any) -> Any:
        return self.from_vectors(self.table[ids], torch.where(ids > 0, 0.0, -1e4))

    def from_vectors(self, vectors: Any, blocked: Any) -> Any:
        """From piece vectors [n, t, d]; `blocked` [n, t] is very negative at padding, or None without padding."""
        x = self.enter(vectors) + self.place[: vectors.shape[1]]
        wall = None if blocked is None else blocked[:, None, None, :].to(x.dtype)
        for layer in self.layers:
            x = layer(x, wall)
        x = self.norm(x)
        worth = self.weigh(x).squeeze(-1).float()
        weights = torch.softmax(worth if blocked is None else worth + blocked, -1)
        return self.leave((x * weights[..., None].to(x.dtype)).sum(1))


class TextLayer(nn.Module):
    """Attention and a two-layer perceptron, each behind a norm and a shortcut."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm_a, self.norm_b = nn.LayerNorm(width), nn.LayerNorm(width)
        self.ask, self.answer = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.widen, self.narrow = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x: Any, blocked: Any) -> Any:
        n, t, d = x.shape
        q, k, v = (
            self.ask(self.norm_a(x))
            .view(n, t, 3, self.heads, d // self.heads)
            .permute(2, 0, 3, 1, 4)
            .unbind(0)
        )
        scores = q @ k.transpose(-1, -2) * (d // self.heads) ** -0.5
        weights = torch.softmax((scores if blocked is None else scores + blocked).float(), -1).to(v.dtype)
        x = x + self.answer((weights @ v).transpose(1, 2).reshape(n, t, d))
        return x + self.narrow(F.relu(self.widen(self.norm_b(x))))


class TeacherHead(nn.Module):
    """The frozen teacher's sentence vector into the shared space; only used in training."""

    def __init__(self, inner: int, hidden: int = 768, dropout: float = 0.1) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(inner, hidden), nn.GELU(), nn.Dropout(dropout), nn.Linear(hidden, DIMENSIONS)
        )

    def forward(self, vectors: Any) -> Any:
        return self.body(vectors)


class ProposerHead(nn.Module):
    """Class-agnostic boxes on a grid of stride 8: how likely an object is centred here, and how far its edges are."""

    def __init__(self, widths: tuple[int, int, int, int], inner: int = 96) -> None:
        super().__init__()
        self.lateral = nn.ModuleList([nn.Conv2d(width, inner, 1) for width in widths[1:]])
        self.tower = nn.Sequential(
            nn.Conv2d(inner, inner, 3, 1, 1), nn.ReLU(), nn.Conv2d(inner, inner, 3, 1, 1), nn.ReLU()
        )
        self.object = nn.Conv2d(inner, 1, 1)
        self.edges = nn.Conv2d(inner, 4, 1)
        nn.init.constant_(self.object.bias, -3.0)

    def forward(self, maps: list[Any]) -> tuple[Any, Any]:
        """Logits [n, cells] and boxes [n, cells, 4] as x0 y0 x1 y1 in [0, 1]."""
        fine, middle, coarse = (lateral(m) for lateral, m in zip(self.lateral, maps[1:], strict=True))
        middle = middle + F.interpolate(coarse, scale_factor=2.0, mode="nearest")
        x = self.tower(fine + F.interpolate(middle, scale_factor=2.0, mode="nearest"))
        side = fine.shape[-1]
        reach = torch.sigmoid(self.edges(x)).flatten(2).transpose(1, 2)
        step = (torch.arange(side, device=x.device, dtype=x.dtype) + 0.5) / side
        y, x0 = torch.meshgrid(step, step, indexing="ij")
        centre = torch.stack([x0.flatten(), y.flatten()], -1)[None]
        boxes = torch.cat([centre - reach[..., :2], centre + reach[..., 2:]], -1).clamp(0, 1)
        return self.object(x).flatten(1), boxes
