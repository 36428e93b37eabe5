"""The embedded region proposer: what stands out in a picture, whatever it is.

The whole picture is the first region: some phrases ("the beach", "a party") are about all of it.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sightline.items import Box
from sightline.vision.overlap import keep_apart
from sightline.vision.pictures import Picture
from sightline.vision.pocket_network import folder_of, open_network, pocket_files, pocket_network
from sightline.vision.regions import region_sources

MAPS = ("map8", "map16", "map32")
APART = 0.5
"""Of two boxes that overlap more than this (IoU), the weaker one goes."""

SIZE_MATTERS = 0.25
"""Weight of a box's area beside its chance: people talk more of what fills the picture."""


@region_sources.add("proposer")
class Proposer:
    """The embedded proposer: the whole picture, and the boxes most likely to hold a thing (trained on COCO)."""

    def __init__(self, argument: str, count: int) -> None:
        folder = folder_of(argument)
        self.resource = pocket_files(folder, "image.onnx", "proposer.onnx")
        self._count = count
        self._images = pocket_network(folder)
        self._head = open_network(folder / "proposer.onnx")

    @property
    def signature(self) -> str:
        return f"proposer-{self._count}@{self.resource.digest}"

    def propose(self, pictures: Sequence[Picture]) -> list[list[Box]]:
        found = []
        maps = self._images.run([picture.crop(None) for picture in pictures], MAPS)
        for picture, of_picture in zip(pictures, maps, strict=True):
            logits, boxes = self._head.run(["logits", "boxes"], dict(zip(MAPS, of_picture, strict=True)))
            strongest = keep_apart(boxes[0], strength(logits[0], boxes[0]), APART, self._count - 1)
            width, height = picture.size
            whole = (0.0, 0.0, float(width), float(height))
            found.append(
                [whole, *(_in_pixels(row, width, height) for row in boxes[0][strongest].astype(np.float64))]
            )
        return found


def strength(logits: NDArray[np.float32], boxes: NDArray[np.float32]) -> NDArray[np.float32]:
    """Log of the chance that a thing is there, and of the share of the picture it fills."""
    area = (boxes[:, 2:] - boxes[:, :2]).prod(axis=1)
    found: NDArray[np.float32] = -np.logaddexp(0, -logits) + SIZE_MATTERS * np.log(area + 1e-6)
    return found


def _in_pixels(row: NDArray[np.float64], width: int, height: int) -> Box:
    """A box with at least a pixel inside the picture."""
    x0, y0, x1, y1 = row * (width, height, width, height)
    left, top = min(float(x0), width - 1.0), min(float(y0), height - 1.0)
    return left, top, max(float(x1), left + 1.0), max(float(y1), top + 1.0)
