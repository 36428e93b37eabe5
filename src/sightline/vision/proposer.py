"""The embedded region proposer: what stands out in a picture, whatever it is."""

from collections.abc import Sequence

import numpy as np

from sightline.items import Box
from sightline.vision.overlap import keep_apart
from sightline.vision.pictures import Picture
from sightline.vision.pocket_network import FOLDER, open_network, pocket_network
from sightline.vision.regions import no_argument, region_sources

MAPS = ("map8", "map16", "map32")
APART = 0.5
"""Of two boxes that overlap more than this (IoU), the weaker one goes."""


@region_sources.add("proposer")
class Proposer:
    """The embedded proposer: the boxes most likely to hold a thing, found by a small network trained on COCO."""

    signature = "proposer-1"

    def __init__(self, argument: str, count: int) -> None:
        no_argument("proposer", argument)
        self._count = count
        self.signature = f"proposer-1-{count}"
        self._head = open_network(FOLDER / "proposer.onnx")

    def propose(self, pictures: Sequence[Picture]) -> list[list[Box]]:
        found = []
        maps = pocket_network().run([picture.crop(None) for picture in pictures], MAPS)
        for picture, of_picture in zip(pictures, maps, strict=True):
            logits, boxes = self._head.run(["logits", "boxes"], dict(zip(MAPS, of_picture, strict=True)))
            rows = boxes[0][keep_apart(boxes[0], logits[0], APART, self._count)]
            found.append([_in_pixels(row, *picture.size) for row in rows.astype(np.float64)])
        return found


def _in_pixels(row: "np.ndarray[tuple[int], np.dtype[np.float64]]", width: int, height: int) -> Box:
    """A box with at least a pixel inside the picture."""
    x0, y0, x1, y1 = row * (width, height, width, height)
    left, top = min(float(x0), width - 1.0), min(float(y0), height - 1.0)
    return left, top, max(float(x1), left + 1.0), max(float(y1), top + 1.0)
