"""The trained network as an ONNX file with weights in eight bits, and what stands beside it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import onnx
import torch
from torch import Tensor, nn

from sightline.train.pocket.export import OPSET, in_eight_bits
from sightline.train.pocket_captioner.texts import Vocabulary
from sightline.train.together.network import TogetherNetwork

FILES = ("read.onnx", "pieces.txt", "match.json")


class _Reading(nn.Module):
    """One picture, and texts of one length: the first whole, the others with a word masked out."""

    def __init__(self, network: TogetherNetwork) -> None:
        super().__init__()
        self.network = network
        self.register_buffer("table", torch.cat([network.reader.embedding, network.unknown[None]]))

    def forward(self, map16: Tensor, map32: Tensor, vector: Tensor, ids: Tensor) -> tuple[Tensor, Tensor]:
        net, reader = self.network, self.network.reader
        heads = net.config.heads

        def split(x: Tensor) -> Tensor:
            return x.unflatten(-1, (heads, -1)).transpose(1, 2)

        def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            scores = split(q * (net.config.width // heads) ** -0.5) @ split(k).transpose(-1, -2)
            return (scores.softmax(-1) @ split(v)).transpose(1, 2).flatten(2)

        memory = net.memory(map16, map32, vector)
        x = nn.functional.embedding(ids, self.table) * net.config.width**0.5 + reader.order[: ids.shape[1]]
        for layer, (keys, values) in zip(reader.layers, memory, strict=True):
            q, k, v = layer.ask(layer.norm_text(x)).chunk(3, -1)
            x = x + layer.answer(attend(q, k, v))
            # One picture's keys serve all texts: the product spreads them.
            x = x + layer.tell(attend(layer.look(layer.norm_picture(x)), keys, values))
            x = x + layer.narrow(nn.functional.relu(layer.widen(layer.norm(x))))
        states = reader.norm(x)
        weight = torch.exp(net.weigh(states).clamp(-8, 8))
        plain = states.mean(1)
        chosen = (weight * states).sum(1) / weight.sum(1)
        pooled = nn.functional.relu(net.pool(torch.cat([plain, chosen], -1)))
        return net.judge(pooled), pooled


def export(
    network: TogetherNetwork, vocabulary: Vocabulary, settings: Mapping[str, Any], folder: Path
) -> None:
    """Three files: the network, the pieces it knows, and how its judgements become a probability."""
    place = folder / "read.onnx"
    example = (
        torch.zeros(1, 64, 256),
        torch.zeros(1, 16, 512),
        torch.zeros(1, 256),
        torch.zeros(3, 5, dtype=torch.long),
    )
    torch.onnx.export(
        _Reading(network).eval(),
        example,
        str(place),
        input_names=["map16", "map32", "vector", "ids"],
        output_names=["judged", "pooled"],
        dynamic_axes={"ids": {0: "n", 1: "t"}, "judged": {0: "n"}, "pooled": {0: "n"}},
        opset_version=OPSET,
        dynamo=False,
    )
    onnx.save(in_eight_bits(onnx.load(place)), place)
    (folder / "pieces.txt").write_text("\n".join(vocabulary.names) + "\n", "utf-8")
    told = {"longest": network.config.longest - 1, **settings}
    (folder / "match.json").write_text(json.dumps(told, indent=1) + "\n", "utf-8")
