"""OpenCLIP's models by its own package: `openclip:ARCH/PRETRAINED`, or `openclip:ARCH/PATH` to a checkpoint."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from sightline.encoders.base import Vectors, encoders
from sightline.encoders.calibration import Calibration
from sightline.errors import UsageError, extra
from sightline.hub import device
from sightline.resources import Resource

AT_ONCE = 8
PROMPT = "A photo depicts "
"""CLIPScore's (Hessel et al. 2021)."""


@encoders.add("openclip")
def openclip(argument: str) -> "OpenClip":
    """A model of OpenCLIP: `openclip:ARCH/PRETRAINED`, as ViT-B-32/laion2b_s34b_b79k, or `openclip:ARCH/PATH`."""
    architecture, _, weights = argument.partition("/")
    if not architecture or not weights:
        raise UsageError("--encoder openclip needs a model: openclip:ARCH/PRETRAINED or openclip:ARCH/PATH")
    return OpenClip(architecture, weights)


class OpenClip:
    """Unit vectors from a model of OpenCLIP. Forward passes have fixed shapes, so that equal input gives equal bits."""

    def __init__(self, architecture: str, weights: str) -> None:
        self._torch = extra("torch", "torch")
        package: Any = extra("open_clip", "openclip")
        place = next((one for one in (Path(weights), Path("/" + weights)) if one.is_file()), None)
        self._device = device()
        try:
            model, _, prepare = package.create_model_and_transforms(
                architecture, pretrained=str(place or weights), device=self._device
            )
            self._tokenizer = package.get_tokenizer(architecture)
        except Exception as fault:  # the package, the hub and the files' parsers each raise their own
            reason = " ".join(str(fault).split())[:160]
            raise UsageError(
                f"openclip:{architecture}/{weights}: OpenCLIP cannot load it ({reason})"
            ) from None
        self._model: Any = model.eval()
        self._prepare: Any = prepare
        given = f"{architecture}/{weights}"
        files = Resource.file(place, given) if place else Resource(given, ())
        self.resource = replace(files, device=self._device)
        self._name = given if place is None else f"{architecture}@{files.digest}"
        self.calibration = Calibration(PROMPT)
        self._full = int(getattr(self._tokenizer, "context_length", 77))
        self.dimensions = int(self.encode_texts(["a"]).shape[1])

    @property
    def signature(self) -> str:
        """A model by its name is known by it: OpenCLIP fixes what stands behind."""
        return f"openclip:{self._name}"

    def truncated(self, text: str) -> bool:
        """Whether one place more changes what is read: OpenCLIP's tokenisers cut without saying so, and each closes and
        fills up a text in its own way."""
        (read,) = self._tokenizer([text])
        roomier, empty = self._tokenizer([text, ""], context_length=self._full + 1)
        return bool((roomier[:-1] != read).any() or roomier[-1] != empty[-1])

    def encode_images(self, images: Sequence[Image.Image]) -> Vectors:
        return self._rows([self._prepare(image) for image in images], self._model.encode_image)

    def encode_texts(self, texts: Sequence[str]) -> Vectors:
        ids = list(self._tokenizer(list(texts))) if texts else []
        return self._rows(ids, self._model.encode_text)

    def _rows(self, given: Sequence[Any], encode: Any) -> Vectors:
        """So many at a time, the last ones repeated until a batch is full."""
        if not given:
            return np.zeros((0, self.dimensions), np.float32)
        found: list[Any] = []
        with self._torch.inference_mode():
            for start in range(0, len(given), AT_ONCE):
                some = list(given[start : start + AT_ONCE])
                batch = self._torch.stack([*some, *[some[-1]] * (AT_ONCE - len(some))]).to(self._device)
                rows = self._torch.nn.functional.normalize(encode(batch).float(), dim=-1)
                found.append(rows[: len(some)].cpu().numpy())
        return np.concatenate(found).astype(np.float32)
