"""From pictures to what a CLIP-like model takes: its own image processor's steps, without the detours."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sightline.errors import UsageError

Pixels = NDArray[np.float32]

LONGEST = 16
"""Length over breadth from which a picture counts as very long."""

_threads = ThreadPoolExecutor(2, thread_name_prefix="preprocess")


@dataclass(frozen=True)
class Preprocess:
    """Resize, crop the centre, scale and normalise, exactly as the model's processor would."""

    height: int
    width: int
    shortest_edge: int | None
    """Resize so that the shorter side has this length, then crop; None: resize to height x width."""
    resample: int
    scale: NDArray[np.float32]
    shift: NDArray[np.float32]

    @classmethod
    def of(cls, processor: Any) -> "Preprocess":
        """From an image processor of transformers; those that do anything else are refused."""
        size = dict(getattr(processor, "size", None) or {})
        crop = dict(getattr(processor, "crop_size", None) or {})
        edge = size.get("shortest_edge")
        crops = bool(getattr(processor, "do_center_crop", False))
        target = crop if crops else size
        height, width = target.get("height"), target.get("width")
        odd = getattr(processor, "do_pad", False) or size.get("longest_edge") or size.get("max_height")
        if (
            not processor.do_resize
            or odd
            or not height
            or not width
            or (crops and (edge or 0) < max(height, width))
        ):
            raise UsageError(f"{type(processor).__name__} prepares pictures in a way that is not supported")
        ones = np.ones(3, np.float32)
        mean = np.asarray(processor.image_mean, np.float32) if processor.do_normalize else 0 * ones
        deviation = np.asarray(processor.image_std, np.float32) if processor.do_normalize else ones
        factor = float(processor.rescale_factor) if processor.do_rescale else 1.0
        return cls(
            int(height),
            int(width),
            int(edge) if crops and edge else None,
            int(processor.resample),
            (factor / deviation)[:, None, None].astype(np.float32),
            (mean / deviation)[:, None, None].astype(np.float32),
        )

    @property
    def shape(self) -> tuple[int, int, int]:
        return 3, self.height, self.width

    def __call__(self, images: Sequence[Image.Image]) -> Pixels:
        levels = np.stack(list(_threads.map(self._resized, images)))
        pixels = levels.transpose(0, 3, 1, 2).astype(np.float32)
        pixels *= self.scale
        pixels -= self.shift
        return pixels

    def _resized(self, image: Image.Image) -> NDArray[np.uint8]:
        target = (self.width, self.height)
        if self.shortest_edge is None:
            return np.asarray(image.resize(target, self.resample))
        image = _middle(image)
        width, height = image.size
        short = min(width, height)
        wide = self.shortest_edge if width == short else int(self.shortest_edge * width / short)
        high = self.shortest_edge if height == short else int(self.shortest_edge * height / short)
        left, top = (wide - self.width) // 2, (high - self.height) // 2
        levels = np.asarray(image.resize((wide, high), self.resample))
        return levels[top : top + self.height, left : left + self.width]


def _middle(image: Image.Image) -> Image.Image:
    """The picture, or the middle of a very long one: the crop keeps no more."""
    width, height = image.size
    most = LONGEST * min(width, height)
    if max(width, height) <= most:
        return image
    left, top = max(0, (width - most) // 2), max(0, (height - most) // 2)
    return image.crop((left, top, min(width, left + most), min(height, top + most)))
