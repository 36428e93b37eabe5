"""The embedded encoder `pocket`: a compact image network and a small text network in one space, on ONNX Runtime."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from sightline.encoders.base import Vectors, encoders, unit
from sightline.encoders.calibration import Calibration, Curve
from sightline.encoders.pieces import pieces
from sightline.text.wordpiece import WordPiece
from sightline.vision.pocket_network import FOLDER, folder_of, open_network, pocket_files, pocket_network

LONGEST = 47
"""Word pieces the text network reads; the rest of a longer text is cut."""

AT_ONCE = 16
"""Texts of one length in a run. Every run has so many, filled up with the first: equal texts then give equal bits."""

DIMENSIONS = 256
FILES = ("image.onnx", "text.onnx", "pieces.npz", "vocabulary.txt", "space.json")


@encoders.add("pocket")
def pocket(argument: str) -> "Pocket":
    """The embedded encoder, or `pocket:FOLDER`: weaker than CLIP, milliseconds a picture, nothing to download."""
    return Pocket(folder_of(argument))


class Pocket:
    """Vectors are centred: the direction common to all pictures (or texts) says nothing about any of them."""

    dimensions = DIMENSIONS

    def __init__(self, folder: Path = FOLDER) -> None:
        self.resource = pocket_files(folder, *FILES).ahead()
        space = json.loads((folder / "space.json").read_text("utf-8"))
        calibration = json.loads((folder / "calibration.json").read_text("utf-8"))
        self._image_centre = np.array(space["image_centre"], np.float32)
        self._text_centre = np.array(space["text_centre"], np.float32)
        curve = Curve(**{key: float(calibration["range"][key]) for key in ("low", "high", "slope", "middle")})
        # No prompt: it was trained on bare captions, and CLIPScore's would only dilute them.
        self.calibration = Calibration("", curve, calibration["thetas"])
        self._images = pocket_network(folder)
        self._text = open_network(folder / "text.onnx")
        self._pieces = pieces(folder)

    @property
    def signature(self) -> str:
        return f"pocket@{self.resource.digest}"

    def encode_images(self, images: Sequence[Image.Image]) -> Vectors:
        if not images:
            return np.zeros((0, DIMENSIONS), np.float32)
        rows = np.concatenate([found[0] for found in self._images.run(images, ["vector"])])
        return self.in_space(rows)

    def in_space(self, rows: Vectors) -> Vectors:
        """What the image network says of pictures, in the space that texts are in."""
        return unit(unit(rows) - self._image_centre)

    @property
    def tokeniser(self) -> WordPiece:
        return self._pieces.tokeniser

    def encode_texts(self, texts: Sequence[str]) -> Vectors:
        """A text without a single known piece (empty, emoji, another script) lies at right angles to every picture."""
        found = np.zeros((len(texts), DIMENSIONS), np.float32)
        by_length: dict[int, list[tuple[int, list[int]]]] = {}
        for number, text in enumerate(texts):
            ids = self._ids(text)[:LONGEST]
            if ids:
                by_length.setdefault(len(ids), []).append((number, ids))
        for group in by_length.values():
            for start in range(0, len(group), AT_ONCE):
                part = group[start : start + AT_ONCE]
                block = np.stack([self._pieces.vectors(ids) for _, ids in part])
                filled = np.concatenate([block, np.repeat(block[:1], AT_ONCE - len(part), axis=0)])
                rows = self._text.run(["vector"], {"pieces": filled})[0][: len(part)]
                found[[number for number, _ in part]] = unit(unit(rows) - self._text_centre)
        return found

    def _ids(self, text: str) -> list[int]:
        ids = self._pieces.tokeniser.ids(text)
        return ids if any(number > 1 for number in ids) else []

    def truncated(self, text: str) -> bool:
        return len(self._ids(text)) > LONGEST
