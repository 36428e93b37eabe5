"""The decoder as two ONNX files with weights in eight bits: what is seen of a picture, and the next piece of a text."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import onnx
import torch
from torch import Tensor, nn

from sightline.generate.base import Axis
from sightline.generate.captioners.pocket import LOOK, MAPS, VOCABULARY, WRITE
from sightline.generate.trained import FILE
from sightline.train.pocket.export import OPSET, in_eight_bits
from sightline.train.pocket_captioner.network import DecoderNetwork
from sightline.train.pocket_captioner.stepping import Look, Write
from sightline.train.pocket_captioner.texts import Vocabulary

Free = Mapping[str, dict[int, str]]
"""By input: the axes of any length."""


class _LookAtMaps(nn.Module):
    """From maps as the image network leaves them, [picture, channel, y, x]."""

    def __init__(self, network: DecoderNetwork) -> None:
        super().__init__()
        self.look = Look(network)

    def forward(self, map16: Tensor, map32: Tensor, vector: Tensor) -> tuple[Tensor, Tensor]:
        map16, map32 = (one.flatten(2).transpose(1, 2) for one in (map16, map32))
        return self.look(map16, map32, vector)


def export(
    network: DecoderNetwork,
    vocabulary: Vocabulary,
    axes: Sequence[Axis],
    folder: Path,
    about: Mapping[str, Any],
) -> None:
    """The files of a captioner, without its card."""
    config = network.eval().config
    maps = (torch.rand(2, 256, 8, 8), torch.rand(2, 512, 4, 4), torch.rand(2, 256))
    look, write = _LookAtMaps(network).eval(), Write(network).eval()
    with torch.no_grad():
        keys, values = look(*maps)
        kept = torch.rand(config.layers, 2, 6, config.heads, 3, config.width // config.heads)
        _file(look, maps, folder / LOOK, {name: {0: "picture"} for name in MAPS}, ("keys", "values"))
        free: Free = {
            "piece": {0: "text"},
            "order": {},
            "kept": {2: "text", 4: "place"},
            "keys": {0: "picture"},
            "values": {0: "picture"},
        }
        texts = (torch.arange(6), torch.tensor([3]), kept, keys, values)
        _file(write, texts, folder / WRITE, free, ("chances", "grown"))
    (folder / VOCABULARY).write_text("\n".join(vocabulary.names) + "\n", "utf-8")
    told = {"axes": list(axes), "recipe": {"longest": config.longest, **about}}
    (folder / FILE).write_text(json.dumps(told, indent=1) + "\n", "utf-8")


def _file(
    module: nn.Module, example: tuple[Tensor, ...], path: Path, free: Free, outputs: Sequence[str]
) -> None:
    torch.onnx.export(
        module,
        example,
        str(path),
        input_names=list(free),
        output_names=list(outputs),
        dynamic_axes={name: axes for name, axes in free.items() if axes},
        opset_version=OPSET,
        dynamo=False,
    )
    onnx.save(in_eight_bits(onnx.load(path)), path)
