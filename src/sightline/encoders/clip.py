"""CLIP- and SigLIP-like models through transformers: `clip:NAME-or-PATH`.

A model's arithmetic differs in the last bits with the shape of its input. So every forward pass has one of a
few fixed shapes: image batches are filled up with blanks, and a text is padded to a length that depends on
that text alone. Equal input then gives equal bits, whatever it is batched with, and a resumed run repeats the
numbers of an unbroken one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from PIL import Image

from sightline.encoders.base import Vectors, encoders
from sightline.encoders.calibration import Calibration
from sightline.encoders.openai_layout import load_openai_layout
from sightline.encoders.preprocess import Preprocess
from sightline.errors import UsageError, extra
from sightline.hub import device, load_pretrained
from sightline.resources import Resource

PROMPT: Final = "A photo depicts "
"""CLIPScore's (Hessel et al. 2021)."""

VIST_THETA: Final = 0.6159241924121119
"""GROOViST's published theta for VIST and CLIP ViT-B/32: the mean similarity of its noun phrases."""
VIT_B_32: Final = "clip-vit-base-patch32"
"""How the hub, and a folder taken from it, name the one model that theta was measured with."""

ROBERTAS: Final = ("roberta", "xlm-roberta", "camembert", "altclip")
"""Text models whose first places are for padding: many multilingual ones."""

PADDED_TO_THE_END: Final = ("siglip", "siglip2")
"""Models that were trained on texts padded to their full length and look at the padding."""

IMAGES_AT_ONCE: Final = {"cpu": 8, "cuda": 64}
TEXTS_AT_ONCE: Final = {"cpu": 8, "cuda": 256}
"""On a CPU eight fill the cores as well as more do, and leave fewer blanks to compute."""
LENGTHS: Final = (8, 16, 32, 64, 128, 256, 512)
"""Tokens a text is padded to, where it may be padded to less than the full length."""


@encoders.add("clip")
def clip(argument: str) -> "Clip":
    """Any CLIP- or SigLIP-like model through transformers: `clip:NAME-or-PATH`."""
    if not argument:
        raise UsageError(
            "--encoder clip needs a model: clip:NAME or clip:PATH, as openai/clip-vit-base-patch32"
        )
    return Clip(argument)


def lighter(model: Any) -> Any:
    """The model without work whose result nobody reads.

    CLIP's activation works in one buffer instead of three (the same bits). A picture's vector is read from its
    first token alone, so the last block of CLIP's image side computes that token alone: in ViT-B/32 a
    fourteenth of all the work.
    """
    for block in model.modules():
        if type(block).__name__ == "QuickGELUActivation":
            block.forward = quick_gelu
    if type(model).__name__ == "CLIPModel":
        last = model.vision_model.encoder.layers[-1]
        last.forward = partial(first_token, last)
    return model


def quick_gelu(x: Any) -> Any:
    """x times the sigmoid of 1.702 x."""
    return (1.702 * x).sigmoid_().mul_(x)


def first_token(block: Any, states: Any, *_: Any, **__: Any) -> Any:
    """What a block of CLIP's transformer makes of the first token, which looks at all of them."""
    attention = block.self_attn

    def heads(rows: Any) -> Any:
        return rows.unflatten(-1, (attention.num_heads, -1)).transpose(1, 2)

    known = block.layer_norm1(states)
    attend = extra("torch", "torch").nn.functional.scaled_dot_product_attention
    seen = attend(
        heads(attention.q_proj(known[:, :1])), heads(attention.k_proj(known)), heads(attention.v_proj(known))
    )
    first = states[:, :1] + attention.out_proj(seen.transpose(1, 2).flatten(2))
    return first + block.mlp(block.layer_norm2(first))


def thetas_of(name: str, config: Any) -> dict[str, float]:
    """VIST's theta for the model it was measured with, by name and shape; for nouns too, since none was published."""
    seen = config.vision_config
    shape = (config.model_type, seen.hidden_size, seen.num_hidden_layers, seen.patch_size)
    if shape != ("clip", 768, 12, 32) or not any(part.endswith(VIT_B_32) for part in Path(name).parts):
        return {}
    return {"phrases": VIST_THETA, "nouns": VIST_THETA}


def longest_text(config: Any, tokenizer: Any) -> int:
    """Tokens that a model reads: its places, less those that RoBERTa's kin leave free, and no more than its tokeniser
    makes."""
    places = int(config.max_position_embeddings)
    if str(getattr(config, "model_type", "")).startswith(ROBERTAS):
        places -= int(config.pad_token_id) + 1
    return min(places, int(getattr(tokenizer, "model_max_length", None) or places))


class Clip:
    """Unit vectors from a CLIP-like model: fp32 on the CPU, bf16 on a GPU."""

    def __init__(self, name: str, weights: Path | None = None) -> None:
        """`weights`: a checkpoint in OpenAI's layout that takes the place of the model's own."""
        self._torch = extra("torch", "torch")
        transformers = extra("transformers", "torch")
        resource, (model, self._tokenizer, processor) = load_pretrained(
            "encoder",
            name,
            transformers.AutoModel.from_pretrained,
            transformers.AutoTokenizer.from_pretrained,
            transformers.AutoImageProcessor.from_pretrained,
        )
        if not (hasattr(model, "get_image_features") and hasattr(model, "get_text_features")):
            raise UsageError(
                f"{name}: a {model.config.model_type} does not put images and texts into one space"
            )
        if weights is not None:
            resource = Resource.of(
                f"{weights}@{name}", [*((n, p) for n, p, _ in resource.files), ("weights", weights)]
            )
            load_openai_layout(model, weights)
        self._device = device()
        self._kind = self._device.split(":")[0]
        self._dtype = self._torch.bfloat16 if self._kind == "cuda" else self._torch.float32
        self._model: Any = lighter(model.eval().to(self._device, self._dtype))
        in_patches = hasattr(processor, "max_num_patches")  # SigLIP 2 with pictures in their own shapes
        self._preprocess = None if in_patches else Preprocess.of(processor)
        self._processor: Any = processor
        self._full = longest_text(model.config.text_config, self._tokenizer)
        self._fixed = model.config.model_type in PADDED_TO_THE_END
        precision = "bf16" if self._kind == "cuda" else "fp32"
        self.resource = replace(resource, device=self._device, precision=precision)
        self._name = str(model.config.model_type)
        config = model.config
        self.calibration = Calibration(PROMPT, None, thetas_of(name, config))
        # CLIP projects both sides; SigLIP's text side ends in a projection of its own
        size = getattr(config, "projection_dim", None) or getattr(config.text_config, "projection_size", None)
        self.dimensions = int(size or self.encode_texts(["a"]).shape[1])

    @property
    def signature(self) -> str:
        return f"{self._name}@{self.resource.digest}"

    def truncated(self, text: str) -> bool:
        return len(self._ids([text], truncation=False)[0]) > self._full

    def encode_images(self, images: Sequence[Image.Image]) -> Vectors:
        size = IMAGES_AT_ONCE.get(self._kind, 8)
        rows = [self._image_rows(images[start : start + size], size) for start in range(0, len(images), size)]
        return np.concatenate(rows) if rows else np.zeros((0, self.dimensions), np.float32)

    def encode_texts(self, texts: Sequence[str]) -> Vectors:
        rows: dict[int, Vectors] = {}
        for length, numbers, ids in self._by_length(texts):
            rows.update(zip(numbers, self._text_rows(ids, length), strict=True))
        if not rows:
            return np.zeros((0, self.dimensions), np.float32)
        return np.stack([rows[number] for number in range(len(texts))])

    def _image_rows(self, images: Sequence[Image.Image], size: int) -> Vectors:
        given = {
            name: part.to(self._device, self._dtype) if name == "pixel_values" else part.to(self._device)
            for name, part in self._prepared(images, size).items()
        }
        with self._torch.inference_mode():
            return self._unit(self._model.get_image_features(**given))[: len(images)]

    def _prepared(self, images: Sequence[Image.Image], size: int) -> dict[str, Any]:
        """A batch of so many pictures, blanks or repetitions behind them."""
        if self._preprocess is None:
            filled = [*images, *[images[-1]] * (size - len(images))]
            return dict(self._processor(images=filled, return_tensors="pt"))
        pixels = np.zeros((size, *self._preprocess.shape), np.float32)
        pixels[: len(images)] = self._preprocess(images)
        return {"pixel_values": self._torch.from_numpy(pixels)}

    def _by_length(self, texts: Sequence[str]) -> Iterator[tuple[int, list[int], list[list[int]]]]:
        """Texts of about one length together: that length, their numbers, their tokens."""
        tokens = self._ids(texts, truncation=True) if texts else []
        size = TEXTS_AT_ONCE.get(self._kind, 8)
        groups: dict[int, list[int]] = {}
        for number, ids in enumerate(tokens):
            groups.setdefault(self._length(len(ids)), []).append(number)
        for length, numbers in groups.items():
            for start in range(0, len(numbers), size):
                some = numbers[start : start + size]
                yield length, some, [tokens[number] for number in some]

    def _length(self, tokens: int) -> int:
        if self._fixed:
            return self._full
        return next((length for length in LENGTHS if tokens <= length <= self._full), self._full)

    def _text_rows(self, tokens: Sequence[list[int]], length: int) -> Vectors:
        torch = self._torch
        pad = self._tokenizer.pad_token_id or 0
        size = TEXTS_AT_ONCE.get(self._kind, 8)
        ids = np.full((size, length), pad, np.int64)
        mask = np.zeros((size, length), np.int64)
        for row, known in enumerate([*tokens, *[tokens[0]] * (size - len(tokens))]):
            ids[row, : len(known)] = known
            mask[row, : len(known)] = 1
        given = {"input_ids": torch.from_numpy(ids).to(self._device)}
        if not self._fixed:
            given["attention_mask"] = torch.from_numpy(mask).to(self._device)
        with torch.inference_mode():
            return self._unit(self._model.get_text_features(**given))[: len(tokens)]

    def _ids(self, texts: Sequence[str], truncation: bool) -> list[list[int]]:
        """Token numbers; truncation keeps the end token, from which CLIP reads the whole text."""
        found: list[list[int]] = self._tokenizer(
            list(texts), truncation=truncation, max_length=self._full if truncation else None, verbose=False
        )["input_ids"]
        return found

    def _unit(self, found: Any) -> Vectors:
        """Rows of length one, as numpy."""
        rows = getattr(found, "pooler_output", found).float()
        unit: Vectors = self._torch.nn.functional.normalize(rows, dim=-1).cpu().numpy()
        return unit
