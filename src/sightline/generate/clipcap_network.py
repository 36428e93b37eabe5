"""ClipCap (Mokady et al. 2021): a picture's CLIP vector becomes a prefix of vectors that GPT-2 goes on from.

Names and shapes are those of its authors' checkpoints, so that these load: `gpt.…`, and `clip_project.…` as an MLP
(`clip_project.model.0` and `.2`) or a transformer (`clip_project.transformer.layers.…`, `.linear`, `.prefix_const`).
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - the usual name

HEADS = 8
"""Of the transformer's attention."""


class Mlp(nn.Module):
    """Two layers with tanh between them, all of the prefix at once."""

    def __init__(self, vector: int, hidden: int, out: int) -> None:
        super().__init__()
        self.model = nn.Sequential(nn.Linear(vector, hidden), nn.Tanh(), nn.Linear(hidden, out))

    def forward(self, x: Tensor) -> Tensor:
        return self.model(x)


class Attention(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.to_queries = nn.Linear(width, width, bias=False)
        self.to_keys_values = nn.Linear(width, 2 * width, bias=False)
        self.project = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        def heads(rows: Tensor) -> Tensor:
            return rows.unflatten(-1, (HEADS, -1)).transpose(1, 2)

        keys, values = self.to_keys_values(x).chunk(2, -1)
        seen = F.scaled_dot_product_attention(heads(self.to_queries(x)), heads(keys), heads(values))
        return self.project(seen.transpose(1, 2).flatten(2))


class FeedForward(nn.Module):
    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.fc1 = nn.Linear(width, hidden)
        self.fc2 = nn.Linear(hidden, width)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc2(F.relu(self.fc1(x)))


class Layer(nn.Module):
    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = Attention(width)
        self.mlp = FeedForward(width, hidden)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Layers(nn.Module):
    def __init__(self, width: int, hidden: int, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer(width, hidden) for _ in range(layers))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


class TransformerMapper(nn.Module):
    """The vector unfolded into a few, which learned constants look at; what becomes of these is the prefix."""

    def __init__(self, vector: int, width: int, prefix: int, unfolded: int, layers: int, hidden: int) -> None:
        super().__init__()
        self.unfolded = unfolded
        self.transformer = Layers(width, hidden, layers)
        self.linear = nn.Linear(vector, unfolded * width)
        self.prefix_const = nn.Parameter(torch.randn(prefix, width))

    def forward(self, x: Tensor) -> Tensor:
        x = self.linear(x).view(len(x), self.unfolded, -1)
        constants = self.prefix_const.expand(len(x), *self.prefix_const.shape)
        return self.transformer(torch.cat((x, constants), 1))[:, self.unfolded :]


class ClipCapNetwork(nn.Module):
    """The mapping network and GPT-2; CLIP itself stands outside, as in the checkpoints."""

    def __init__(self, gpt: Any, mapping: nn.Module, vector: int, prefix: int) -> None:
        super().__init__()
        self.gpt = gpt
        self.clip_project = mapping
        self.vector = vector
        """Numbers of CLIP's vector."""
        self.prefix = prefix

    def prefixes(self, vectors: Tensor) -> Tensor:
        """[picture, place, width]."""
        return self.clip_project(vectors).view(len(vectors), self.prefix, -1)

    def forward(self, vectors: Tensor, ids: Tensor, mask: Tensor) -> Tensor:
        """[row, place, piece]: the logits of what stands at each place of the text."""
        before = self.prefixes(vectors)
        words = self.gpt.get_input_embeddings()(ids)
        seen = torch.cat((mask.new_ones(before.shape[:2]), mask), 1)
        logits = self.gpt(inputs_embeds=torch.cat((before, words), 1), attention_mask=seen).logits
        return logits[:, self.prefix - 1 : -1]

    def state(self) -> dict[str, Tensor]:
        """As the checkpoints hold it; the output's weight is the words' own."""
        return {name: value.contiguous().clone() for name, value in self.state_dict().items()}


def begun(
    gpt: Any, vector: int, kind: str, prefix: int = 10, unfolded: int = 10, layers: int = 8
) -> ClipCapNetwork:
    """A network whose mapping is still to be trained, in its authors' proportions."""
    width = gpt.config.n_embd
    mapping: nn.Module = (
        Mlp(vector, width * prefix // 2, width * prefix)
        if kind == "mlp"
        else TransformerMapper(vector, width, prefix, unfolded, layers, 2 * width)
    )
    return ClipCapNetwork(gpt, mapping, vector, prefix)


def loaded(weights: Mapping[str, Tensor], gpt: Any) -> ClipCapNetwork:
    """The network that these weights are of. Raises ValueError with the reason where they are of none."""
    known = {
        name: value for name, value in weights.items() if not name.endswith((".attn.bias", "masked_bias"))
    }
    known.setdefault("gpt.lm_head.weight", known.get("gpt.transformer.wte.weight", torch.empty(0)))
    width = int(gpt.config.n_embd)
    mlp, constants = known.get("clip_project.model.0.weight"), known.get("clip_project.prefix_const")
    if mlp is not None:
        hidden, vector = mlp.shape
        out = len(known.get("clip_project.model.2.weight", ()))
        mapping: nn.Module = Mlp(vector, hidden, out)
        prefix = out // width
    elif constants is not None and "clip_project.linear.weight" in known:
        wide, vector = known["clip_project.linear.weight"].shape
        prefix = len(constants)
        names = [name for name in known if name.startswith("clip_project.transformer.layers.")]
        layers = 1 + max((int(name.split(".")[3]) for name in names), default=-1)
        hidden = len(known.get("clip_project.transformer.layers.0.mlp.fc1.weight", ()))
        mapping = TransformerMapper(vector, width, prefix, wide // width, layers, hidden)
    else:
        raise ValueError("it has no mapping network (clip_project.…)")
    if not prefix:
        raise ValueError(f"its prefix is not of vectors of {width} numbers, which this GPT-2 has")
    network = ClipCapNetwork(gpt, mapping, int(vector), prefix)
    try:
        told = network.load_state_dict(known, strict=False)
    except RuntimeError as fault:
        raise ValueError(" ".join(str(fault).split())[:200]) from None
    if told.missing_keys or told.unexpected_keys:
        wrong = told.missing_keys or told.unexpected_keys
        raise ValueError(f"{'there is no' if told.missing_keys else 'unknown'} {wrong[0]}")
    return network
