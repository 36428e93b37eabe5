"""An order model as two ONNX files: int8 weights, with the vocabulary and the settings inside.

Every matrix product is done in integers: weights per output column, activations per row, so that a row's
result is the same in any company. Weights take seven bits: processors without VNNI then get the same sums
as those with it. In the last layer only [CLS] is computed, for nothing else is read from there.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import extra

MICROSOFT = "com.microsoft"
"""ONNX Runtime's own operators: fused attention, normalisation and integer products."""
EPSILON = 1e-12

Weights = Mapping[str, NDArray[Any]]


class Graph:
    """Collects nodes and constants; a weight's constant bears the weight's name."""

    def __init__(self, weights: Weights, bits: int = 7) -> None:
        self.weights = weights
        self.helper = extra("onnx", "train").helper
        self.from_array = extra("onnx.numpy_helper", "train").from_array
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}
        self.levels = 2 ** (bits - 1) - 1

    def constant(self, value: Any, kind: Any = np.float32, name: str = "") -> str:
        name = name or f"constant.{len(self.constants)}"
        if name not in self.constants:
            self.constants[name] = self.from_array(np.array(value, kind, order="C"), name)
        return name

    def weight(self, name: str) -> str:
        return self.constant(self.weights[name], name=name)

    def op(self, kind: str, *inputs: str, domain: str = "", **settings: Any) -> str:
        name = f"t{len(self.nodes)}"
        self.nodes.append(self.helper.make_node(kind, list(inputs), [name], domain=domain, **settings))
        return name

    def quantised(self, x: str) -> tuple[str, str]:
        """Rows of x as bytes around 128, and each row's scale."""
        top = self.op("ReduceMax", self.op("Abs", x), self.constant([-1], np.int64), keepdims=1)
        scale = self.op("Mul", top, self.constant(1 / 127))
        unit = self.op("Div", x, scale)
        return self.op("QuantizeLinear", unit, self.constant(1.0), self.constant(128, np.uint8)), scale

    def product(self, x: tuple[str, str], name: str) -> str:
        """x times the transposed weight, without bias."""
        w = self.weights[name].astype(np.float32).T
        scale = np.abs(w).max(axis=0).clip(EPSILON) / self.levels
        whole = self.op(
            "MatMulIntegerToFloat",
            x[0],
            self.constant(np.round(w / scale), np.int8, name),
            self.constant(1.0),
            self.constant(scale, name=f"{name}.scale"),
            self.constant(128, np.uint8),
            domain=MICROSOFT,
        )
        return self.op("Mul", whole, x[1])

    def normalised(self, x: str, skip: str, dense: str, norm: str) -> str:
        """LayerNorm(x + bias + skip)."""
        inputs = (x, skip, *map(self.weight, (f"{norm}.weight", f"{norm}.bias", f"{dense}.bias")))
        return self.op("SkipLayerNormalization", *inputs, domain=MICROSOFT, epsilon=EPSILON)

    def layer(self, x: str, number: int, heads: int, only_first: bool = False) -> str:
        """One layer of BERT."""
        layer = f"encoder.layer.{number}."
        own, out = f"{layer}attention.self.", f"{layer}attention.output."
        everything = asking = self.quantised(x)
        if only_first:
            ends = (self.constant([n], np.int64) for n in (0, 1, 1))
            x = self.op("Slice", x, *ends)
            asking = self.quantised(x)
        query = self.product(asking, f"{own}query.weight")
        key, value = (self.product(everything, f"{own}{part}.weight") for part in ("key", "value"))
        bias = np.concatenate([self.weights[f"{own}{part}.bias"] for part in ("query", "key", "value")])
        given = (query, key, value, self.constant(bias, name=f"{own}bias"), "mask")
        seen = self.op("MultiHeadAttention", *given, domain=MICROSOFT, num_heads=heads)
        summed = self.product(self.quantised(seen), f"{out}dense.weight")
        x = self.normalised(summed, x, f"{out}dense", f"{out}LayerNorm")
        wide = self.product(self.quantised(x), f"{layer}intermediate.dense.weight")
        wide = self.op("BiasGelu", wide, self.weight(f"{layer}intermediate.dense.bias"), domain=MICROSOFT)
        narrow = self.product(self.quantised(wide), f"{layer}output.dense.weight")
        return self.normalised(narrow, x, f"{layer}output.dense", f"{layer}output.LayerNorm")

    def file(
        self, inputs: Mapping[str, tuple[str, Sequence[Any]]], result: str, about: dict[str, str]
    ) -> bytes:
        h, kinds = self.helper, extra("onnx", "train").TensorProto
        graph = h.make_graph(
            self.nodes,
            "order",
            [h.make_tensor_value_info(n, getattr(kinds, kind), shape) for n, (kind, shape) in inputs.items()],
            [h.make_tensor_value_info(result, kinds.FLOAT, None)],
            list(self.constants.values()),
        )
        opsets = [h.make_opsetid("", 18), h.make_opsetid(MICROSOFT, 1)]
        model = h.make_model(graph, opset_imports=opsets, ir_version=9, producer_name="sightline")
        h.set_model_props(model, about)
        content: bytes = model.SerializeToString()
        return content


def write_coherence(
    folder: Path,
    weights: Weights,
    vocabulary: Sequence[str],
    *,
    alone: int,
    heads: int,
    longest: int,
    name: str,
    bits: int = 7,
) -> None:
    """Put a model into a folder. Weights are named as in transformers' BERT, with `segment` and `head.*`
    besides.
    """
    settings = json.dumps({"name": name, "longest": longest, "alone": alone, "heads": heads})
    about = {"settings": settings, "vocabulary": "\n".join(vocabulary)}
    (folder / "sentence.onnx").write_bytes(sentence_graph(weights, alone, heads, longest, about, bits))
    (folder / "order.onnx").write_bytes(order_graph(weights, alone, heads, {"settings": settings}, bits))


def sentence_graph(
    w: Weights, alone: int, heads: int, longest: int, about: dict[str, str], bits: int = 7
) -> bytes:
    """The lower layers. Word pieces take a byte a number, each row with its scale."""
    g = Graph(w, bits)
    table = w["embeddings.word_embeddings.weight"].astype(np.float32)
    scale = np.abs(table).max(axis=1, keepdims=True).clip(EPSILON) / 127
    words = "embeddings.word_embeddings.weight"
    rows = g.op("Gather", g.constant(np.round(table / scale), np.int8, words), "ids")
    scales = g.op("Gather", g.constant(scale, name=f"{words}.scale"), "ids")
    x = g.op("Mul", g.op("Cast", rows, to=1), scales)
    places = w["embeddings.position_embeddings.weight"][: longest + 2]
    count = g.op("Slice", g.op("Shape", "ids"), *(g.constant([n], np.int64) for n in (1, 2)))
    table_of_places = g.constant(places, name="embeddings.position_embeddings.weight")
    x = g.op("Add", x, g.op("Slice", table_of_places, g.constant([0], np.int64), count))
    norm = map(g.weight, ("embeddings.LayerNorm.weight", "embeddings.LayerNorm.bias"))
    x = g.op("LayerNormalization", x, *norm, epsilon=EPSILON)
    for number in range(alone):
        x = g.layer(x, number, heads)
    shape = ("sentences", "pieces")
    return g.file({"ids": ("INT64", shape), "mask": ("INT32", shape)}, x, about)


def order_graph(w: Weights, alone: int, heads: int, about: dict[str, str], bits: int = 7) -> bytes:
    """The upper layers over two sentences' states, each marked as first or second, and the logit of [CLS]."""
    g = Graph(w, bits)
    x = g.op("Add", "states", g.op("Gather", g.weight("segment"), "segments"))
    layers = 1 + max(int(key.split(".")[2]) for key in w if key.startswith("encoder.layer."))
    for number in range(alone, layers):
        x = g.layer(x, number, heads, only_first=number == layers - 1)
    cls = g.op("Squeeze", x, g.constant([1], np.int64))
    pooled = g.op("Gemm", cls, *map(g.weight, ("pooler.dense.weight", "pooler.dense.bias")), transB=1)
    head = g.op("Gemm", g.op("Tanh", pooled), *map(g.weight, ("head.weight", "head.bias")), transB=1)
    logit = g.op("Squeeze", head, g.constant([1], np.int64))
    shape = ("pairs", "pieces")
    inputs: dict[str, tuple[str, Sequence[Any]]] = {
        "states": ("FLOAT", (*shape, w["segment"].shape[1])),
        "segments": ("INT64", shape),
        "mask": ("INT32", shape),
    }
    return g.file(inputs, logit, about)
