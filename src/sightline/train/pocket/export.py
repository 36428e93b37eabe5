"""The trained networks as ONNX files with weights stored in eight bits, and the piece table beside them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import helper, numpy_helper
from torch import nn

from sightline.train.pocket.networks import ImageNetwork, ProposerHead, TextNetwork

OPSET = 17
SMALLEST_QUANTISED = 2048
"""Smaller tensors (biases, norms) stay in full precision: they cost nothing and hurt most."""


class _Image(nn.Module):
    """Pixels 0-255 to the unnormalised vector and the maps that the proposer reads."""

    def __init__(self, image: ImageNetwork) -> None:
        super().__init__()
        self.image = image

    def forward(self, pixels: Any) -> tuple[Any, ...]:
        maps = self.image.maps(pixels)
        return (self.image.project(self.image.pool(maps[-1])), *maps[1:])


class _Text(nn.Module):
    """Piece vectors of texts of one length to unnormalised vectors."""

    def __init__(self, text: TextNetwork) -> None:
        super().__init__()
        self.text = text

    def forward(self, vectors: Any) -> Any:
        return self.text.from_vectors(vectors, None)


class _Proposer(nn.Module):
    def __init__(self, head: ProposerHead) -> None:
        super().__init__()
        self.head = head

    def forward(self, fine: Any, middle: Any, coarse: Any) -> tuple[Any, Any]:
        logits, boxes = self.head([None, fine, middle, coarse])
        return logits, boxes


def export_image(image: ImageNetwork, path: Path) -> None:
    side = image.config.side
    names = ["vector", "map8", "map16", "map32"]
    _export(_Image(image), (torch.zeros(2, 3, side, side),), path, ["pixels"], names)


def export_text(text: TextNetwork, path: Path) -> None:
    inner = text.table.shape[1]
    _export(
        _Text(text), (torch.zeros(2, 5, inner),), path, ["pieces"], ["vector"], {"pieces": {0: "n", 1: "t"}}
    )


def export_proposer(head: ProposerHead, side: int, path: Path) -> None:
    widths = [lateral.in_channels for lateral in head.lateral]
    maps = tuple(torch.zeros(2, w, side // s, side // s) for w, s in zip(widths, (8, 16, 32), strict=True))
    _export(_Proposer(head), maps, path, ["map8", "map16", "map32"], ["logits", "boxes"])


def export_pieces(table: NDArray[np.float32], pieces: list[str], folder: Path) -> None:
    """The table in eight bits with a scale for each row, and the vocabulary."""
    rows, scale = quantise(table, 0)
    np.savez(folder / "pieces.npz", rows=rows, scale=scale.astype(np.float32))
    (folder / "vocabulary.txt").write_text("\n".join(pieces) + "\n", "utf-8")


def export_space(
    folder: Path, image_centre: NDArray[Any], text_centre: NDArray[Any], calibration: dict[str, float]
) -> None:
    """What stands between the networks' vectors and a similarity: the centres, and beside them the calibration."""
    centres = {"image_centre": _rounded(image_centre), "text_centre": _rounded(text_centre)}
    (folder / "space.json").write_text(json.dumps(centres) + "\n", "utf-8")
    about = {"prompt": "", "range": calibration, "thetas": {}}
    (folder / "calibration.json").write_text(json.dumps(about, indent=1) + "\n", "utf-8")


def _rounded(vector: NDArray[Any]) -> list[float]:
    return [round(float(x), 5) for x in vector]


def _export(
    module: nn.Module,
    example: tuple[Any, ...],
    path: Path,
    inputs: list[str],
    outputs: list[str],
    axes: dict[str, dict[int, str]] | None = None,
) -> None:
    module.eval()
    torch.onnx.export(
        module,
        example,
        str(path),
        input_names=inputs,
        output_names=outputs,
        dynamic_axes={name: {0: "n"} for name in [*inputs, *outputs]} | (axes or {}),
        opset_version=OPSET,
        dynamo=False,
    )
    model = onnx.load(path)
    onnx.save(in_eight_bits(model), path)


def quantise(weight: NDArray[Any], axis: int) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Symmetric eight-bit values with one scale for each slice along `axis`."""
    others = tuple(n for n in range(weight.ndim) if n != axis)
    scale = np.maximum(np.abs(weight).max(axis=others), 1e-12).astype(np.float32) / 127
    shape = [-1 if n == axis else 1 for n in range(weight.ndim)]
    return np.round(weight / scale.reshape(shape)).astype(np.int8), scale


def in_eight_bits(model: Any) -> Any:
    """Weights stored as int8 behind DequantizeLinear. They are unfolded once when loaded; arithmetic stays in float."""
    graph = model.graph
    matmuls = {name for node in graph.node if node.op_type in ("MatMul",) for name in node.input}
    kept, nodes = [], []
    for initializer in graph.initializer:
        weight = numpy_helper.to_array(initializer)
        if weight.dtype != np.float32 or weight.size < SMALLEST_QUANTISED or weight.ndim < 2:
            kept.append(initializer)
            continue
        axis = weight.ndim - 1 if initializer.name in matmuls else 0
        rows, scale = quantise(weight, axis)
        name = initializer.name
        kept += [
            numpy_helper.from_array(rows, f"{name}_q"),
            numpy_helper.from_array(scale, f"{name}_s"),
            numpy_helper.from_array(np.zeros(len(scale), np.int8), f"{name}_z"),
        ]
        nodes.append(
            helper.make_node(
                "DequantizeLinear", [f"{name}_q", f"{name}_s", f"{name}_z"], [name], f"{name}_dq", axis=axis
            )
        )
    del graph.initializer[:]
    graph.initializer.extend(kept)
    for node in reversed(nodes):
        graph.node.insert(0, node)
    onnx.checker.check_model(model)
    return model
