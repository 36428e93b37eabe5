"""RoViST-VG as published: a vision transformer fine-tuned together with the two projections, in one PyTorch checkpoint.

`{"model": {"image_encoder.image_model.…": ViT, "image_encoder.linear.…", "text_encoder.linear.…"}, …}` is what the
paper's program saves (Wang et al. 2022), and what `sightline train vg --vit` leaves with the transformer's `config`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sightline.encoders.base import Embedder, unit
from sightline.encoders.calibration import Calibration
from sightline.encoders.vg import WordTable
from sightline.errors import UsageError, extra
from sightline.hub import device, quiet
from sightline.items import Box
from sightline.resources import Resource
from sightline.vision.pictures import Picture

Floats = NDArray[np.float32]

VIT, IMAGE, TEXT = "image_encoder.image_model.", "image_encoder.linear.", "text_encoder.linear."
HEAD_WIDTH: Final = 64
"""Of an attention head in every published ViT: what a checkpoint without a config does not tell."""
AT_ONCE: Final = 8
MEAN = DEVIATION = 0.5
"""How ViT's pictures are normalised."""


class FineTuned:
    """The published model: regions through its own transformer, nouns through word vectors that the user gives."""

    def __init__(self, path: Path) -> None:
        self._torch = extra("torch", "torch")
        quiet()
        state, config = read_checkpoint(path)
        try:
            self._vit = vit_of(state, config).eval()
            self._W_i, self._b_i, self._W_t, self._b_t = (
                state[name].float().numpy()
                for name in (f"{IMAGE}weight", f"{IMAGE}bias", f"{TEXT}weight", f"{TEXT}bias")
            )
        except (KeyError, RuntimeError, ValueError) as fault:
            reason = " ".join(str(fault).split())[:200]
            raise UsageError(f"{path}: not RoViST-VG's checkpoint ({reason})") from None
        self._device = device()
        self._vit.to(self._device)
        self.resource = replace(Resource.file(path), device=self._device)
        self.dimensions = int(self._W_i.shape[1])
        self.calibration = Calibration()
        self._side = int(self._vit.config.image_size)

    @property
    def signature(self) -> str:
        return self.resource.digest

    def fits(self, encoder: str, words: WordTable) -> None:
        """Any encoder will do, since it has its own; word vectors must be as wide as those it learned from."""
        if words.width != self._W_t.shape[1]:
            raise UsageError(
                f"this RoViST-VG model reads word vectors of {self._W_t.shape[1]} numbers, these have {words.width}: "
                "give the ones it learned with by --vectors (GloVe's glove.6B.300d.txt for the published model)"
            )

    def parts(self, embedder: Embedder, words: WordTable) -> dict[str, str]:
        """What a score must name: the encoder of the run has no say in it."""
        precision = {} if embedder.precision == "fp32" else {"precision": embedder.precision}
        return {"vg": self.signature, "vectors": words.resource.digest, **precision}

    def grounded(self, regions: Sequence[tuple[Picture, Box | None]], embedder: Embedder) -> Floats:
        """One row of the joint space per region; the transformer's vectors are remembered where the embedder's are."""
        own = Embedder(self, embedder.store, AT_ONCE)
        return unit(np.tanh(own.regions(regions) @ self._W_i.T + self._b_i))

    def words(self, rows: Floats) -> Floats:
        return unit(np.tanh(rows @ self._W_t.T + self._b_t))

    def encode_images(self, images: Sequence[Image.Image]) -> Floats:
        """The transformer's pooled vectors, as they come; every pass has one shape, so that rows stand alone."""
        torch = self._torch
        rows = []
        for start in range(0, len(images), AT_ONCE):
            part = images[start : start + AT_ONCE]
            pixels = np.zeros((AT_ONCE, 3, self._side, self._side), np.float32)
            pixels[: len(part)] = prepared(part, self._side)
            with torch.inference_mode():
                given = torch.from_numpy(pixels).to(self._device)
                rows.append(self._vit(given).pooler_output.float().cpu().numpy()[: len(part)])
        return np.concatenate(rows) if rows else np.zeros((0, self.dimensions), np.float32)

    def encode_texts(self, texts: Sequence[str]) -> Floats:
        raise UsageError("RoViST-VG's transformer reads no texts")

    def truncated(self, text: str) -> bool:
        return False


def prepared(images: Sequence[Image.Image], side: int) -> Floats:
    """As ViT's processor does it: to a square, bilinear, values in [-1, 1]."""
    levels = [
        np.asarray(image.convert("RGB").resize((side, side), Image.Resampling.BILINEAR)) for image in images
    ]
    pixels: Floats = np.stack(levels).transpose(0, 3, 1, 2).astype(np.float32)
    pixels /= 255
    pixels -= MEAN
    pixels /= DEVIATION
    return pixels


def read_checkpoint(path: Path) -> tuple[dict[str, Any], Mapping[str, Any] | None]:
    """Weights by name, and the transformer's settings where they are told. Nothing but tensors is unpickled."""
    torch = extra("torch", "torch")
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as fault:  # torch raises whatever its parts raise
        reason = str(fault).strip().split("\n")[0][:200]
        raise UsageError(f"{path}: cannot be read as a PyTorch checkpoint ({reason})") from None
    state = found.get("model", found) if isinstance(found, dict) else None
    if not isinstance(state, dict) or not any(str(name).startswith(VIT) for name in state):
        raise UsageError(f"{path}: not RoViST-VG's checkpoint; it has no weights called {VIT}…")
    settings = found.get("config")
    return state, settings if isinstance(settings, dict) else None


def vit_of(state: Mapping[str, Any], settings: Mapping[str, Any] | None) -> Any:
    """The transformer with the checkpoint's weights; its shape is read off them where no settings are told."""
    transformers = extra("transformers", "torch")
    inside = {name.removeprefix(VIT): value for name, value in state.items() if name.startswith(VIT)}
    config = transformers.ViTConfig(**(settings or shape_of(inside)))
    # transformers knows its weights by the names of every version of its own
    vit, told = transformers.ViTModel.from_pretrained(
        None, config=config, state_dict=inside, output_loading_info=True
    )
    for what in ("missing_keys", "unexpected_keys", "mismatched_keys"):
        if told[what]:
            raise ValueError(
                f"{what.replace('_', ' ')} of its transformer: {', '.join(map(str, told[what]))}"
            )
    return vit


def shape_of(inside: Mapping[str, Any]) -> dict[str, int]:
    """Width, depth, patches and picture size of a ViT from its weights."""
    width, _, patch, _ = inside["embeddings.patch_embeddings.projection.weight"].shape
    layers = {name.split(".")[2] for name in inside if name.startswith("encoder.layer.")}
    places = inside["embeddings.position_embeddings"].shape[1] - 1
    return {
        "hidden_size": int(width),
        "num_hidden_layers": len(layers),
        "num_attention_heads": max(1, int(width) // HEAD_WIDTH),
        "intermediate_size": int(inside["encoder.layer.0.intermediate.dense.weight"].shape[0]),
        "patch_size": int(patch),
        "image_size": int(patch * round(places**0.5)),
    }
