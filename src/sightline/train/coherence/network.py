"""The embedded order model as a PyTorch network: lower layers read each sentence alone, upper layers read
two.

Reading alone makes training cheap, for the lower layers stay as they are and their states are computed
once, and it makes scoring cheap, for a sentence is read once for both of its neighbours and both orders.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional as F  # noqa: N812 - the usual name

from sightline.errors import UsageError, extra

EPSILON = 1e-12
PARTS = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "out": "attention.output.dense",
    "out_norm": "attention.output.LayerNorm",
    "wide": "intermediate.dense",
    "narrow": "output.dense",
    "norm": "output.LayerNorm",
}
"""Our names and BERT's."""


class Layer(nn.Module):
    """A layer of BERT. With `only_first`, just the first piece's state comes out."""

    def __init__(self, width: int, inner: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.wide, self.narrow = nn.Linear(width, inner), nn.Linear(inner, width)
        self.out_norm, self.norm = nn.LayerNorm(width, EPSILON), nn.LayerNorm(width, EPSILON)

    def forward(self, x: Any, mask: Any, only_first: bool = False) -> Any:
        asking = x[:, :1] if only_first else x
        q, k, v = (
            part(side).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for part, side in ((self.query, asking), (self.key, x), (self.value, x))
        )
        score = (q * q.shape[-1] ** -0.5) @ k.transpose(-1, -2)
        score = score.float().masked_fill(~mask[:, None, None, :], -1e4)
        seen = (torch.softmax(score, -1).to(v.dtype) @ v).transpose(1, 2).flatten(2)
        x = self.out_norm(asking + self.out(seen))
        return self.norm(x + self.narrow(F.gelu(self.wide(x))))


class CoherenceNetwork(nn.Module):
    """`read` gives the states of single sentences, `forward` the logit that the second of two follows the
    first.
    """

    def __init__(
        self, *, vocabulary: int, width: int, inner: int, heads: int, layers: int, alone: int, places: int
    ) -> None:
        super().__init__()
        if not 0 < alone < layers:
            raise UsageError(
                f"of {layers} layers, between 1 and {layers - 1} can read sentences alone, not {alone}"
            )
        self.alone, self.heads = alone, heads
        self.words, self.places = nn.Embedding(vocabulary, width), nn.Embedding(places, width)
        self.words_norm = nn.LayerNorm(width, EPSILON)
        self.layers = nn.ModuleList(Layer(width, inner, heads) for _ in range(layers))
        self.segment = nn.Parameter(torch.randn(2, width) * 0.1)
        self.pooler, self.head = nn.Linear(width, width), nn.Linear(width, 1)
        nn.init.normal_(self.head.weight, std=0.02)
        nn.init.zeros_(self.head.bias)

    def read(self, ids: Any, mask: Any) -> Any:
        """States of `[CLS] sentence [SEP]`."""
        x = self.words_norm(self.words(ids) + self.places(torch.arange(ids.shape[1], device=ids.device)))
        for layer in self.layers[: self.alone]:
            x = layer(x, mask)
        return x

    def forward(self, states: Any, segments: Any, mask: Any) -> Any:
        x = states + self.segment[segments]
        for number, layer in enumerate(self.layers[self.alone :], self.alone):
            x = layer(x, mask, only_first=number == len(self.layers) - 1)
        return self.head(torch.tanh(self.pooler(x[:, 0]))).squeeze(-1)

    @property
    def upper(self) -> list[nn.Parameter]:
        """What is trained: everything above the sentences' own states."""
        lower = ("words", "places", *(f"layers.{number}." for number in range(self.alone)))
        return [parameter for name, parameter in self.named_parameters() if not name.startswith(lower)]

    def exported(self, temperature: float = 1.0) -> dict[str, NDArray[np.float32]]:
        """Weights under BERT's names. The logit is divided by the temperature."""
        found = {"segment": self.segment, "embeddings.word_embeddings.weight": self.words.weight}
        found["embeddings.position_embeddings.weight"] = self.places.weight
        for kind in ("weight", "bias"):
            found[f"embeddings.LayerNorm.{kind}"] = getattr(self.words_norm, kind)
            found[f"pooler.dense.{kind}"] = getattr(self.pooler, kind)
            found[f"head.{kind}"] = getattr(self.head, kind) / temperature
            for number, layer in enumerate(self.layers):
                for ours, theirs in PARTS.items():
                    found[f"encoder.layer.{number}.{theirs}.{kind}"] = getattr(getattr(layer, ours), kind)
        return {name: value.detach().float().cpu().numpy() for name, value in found.items()}

    @torch.no_grad()
    def load(self, weights: Mapping[str, NDArray[Any]]) -> None:
        """Take weights under BERT's names; a sentence alone is the first segment, whose vector joins the
        places'.
        """

        def put(target: Any, name: str) -> None:
            target.copy_(torch.from_numpy(np.array(weights[name], np.float32)))

        put(self.words.weight, "embeddings.word_embeddings.weight")
        places = np.array(
            weights["embeddings.position_embeddings.weight"][: len(self.places.weight)], np.float32
        )
        if "embeddings.token_type_embeddings.weight" in weights:
            places = places + weights["embeddings.token_type_embeddings.weight"][0]
        self.places.weight.copy_(torch.from_numpy(places))
        if "segment" in weights:
            put(self.segment, "segment")
        for kind in ("weight", "bias"):
            put(getattr(self.words_norm, kind), f"embeddings.LayerNorm.{kind}")
            put(getattr(self.pooler, kind), f"pooler.dense.{kind}")
            if f"head.{kind}" in weights:
                put(getattr(self.head, kind), f"head.{kind}")
            for number, layer in enumerate(self.layers):
                for ours, theirs in PARTS.items():
                    put(getattr(getattr(layer, ours), kind), f"encoder.layer.{number}.{theirs}.{kind}")


def from_bert(
    name: str, alone: int, longest: int, keep: Sequence[int] | None = None
) -> tuple[CoherenceNetwork, Any]:
    """A network that starts as a transformers BERT (MiniLM, …), with the pieces `keep`, and the tokeniser."""
    transformers = extra("transformers", "train")
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(name)
        bert = transformers.AutoModel.from_pretrained(name)
    except (OSError, ValueError) as fault:
        reason = str(fault).strip().split("\n")[0]
        raise UsageError(f"--encoder {name}: cannot be loaded ({reason})") from None
    config = bert.config
    if config.model_type != "bert":
        raise UsageError(
            f"--encoder {name}: a {config.model_type} model; --alone needs a BERT-like one such as MiniLM"
        )
    weights = {key: value.float().numpy() for key, value in bert.state_dict().items()}
    if keep is not None:
        weights["embeddings.word_embeddings.weight"] = weights["embeddings.word_embeddings.weight"][
            list(keep)
        ]
    network = CoherenceNetwork(
        vocabulary=len(weights["embeddings.word_embeddings.weight"]),
        width=config.hidden_size,
        inner=config.intermediate_size,
        heads=config.num_attention_heads,
        layers=config.num_hidden_layers,
        alone=alone,
        places=min(longest + 2, config.max_position_embeddings),
    )
    network.load(weights)
    return network, tokenizer


def from_onnx(folder: Path) -> tuple[CoherenceNetwork, list[str], dict[str, Any]]:
    """The network in a model's folder, its vocabulary and its settings; weights as they were rounded."""
    import json

    onnx, read = extra("onnx", "train"), extra("onnx.numpy_helper", "train").to_array
    weights: dict[str, NDArray[Any]] = {}
    about: dict[str, str] = {}
    for name in ("sentence.onnx", "order.onnx"):
        model = onnx.load(folder / name)
        about = {**{entry.key: entry.value for entry in model.metadata_props}, **about}
        weights.update({constant.name: read(constant) for constant in model.graph.initializer})
    settings = json.loads(about["settings"])
    for name in [name for name in weights if f"{name}.scale" in weights]:
        whole = weights[name].astype(np.float32) * weights[f"{name}.scale"]
        weights[name] = whole if "embeddings" in name else whole.T
    for name in [name for name in weights if name.endswith(".self.bias")]:
        for part, piece in zip(("query", "key", "value"), np.split(weights[name], 3), strict=True):
            weights[f"{name.removesuffix('bias')}{part}.bias"] = piece
    inner, width = weights["encoder.layer.0.intermediate.dense.weight"].shape
    network = CoherenceNetwork(
        vocabulary=len(weights["embeddings.word_embeddings.weight"]),
        width=width,
        inner=inner,
        heads=settings["heads"],
        layers=sum(name.endswith("intermediate.dense.weight") for name in weights),
        alone=settings["alone"],
        places=len(weights["embeddings.position_embeddings.weight"]),
    )
    network.load(weights)
    return network.eval(), about["vocabulary"].split("\n"), settings
