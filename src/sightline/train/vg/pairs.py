"""Pairs of a picture's region and the noun for it: from COCO-like region files, or Flickr30k Entities."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sightline.encoders.vg import WordTable
from sightline.errors import UsageError
from sightline.io.table import read_rows
from sightline.train.pocket.phrases import COCO_CLASSES, STOPS, phrases_of
from sightline.train.texts import coco_captions

SMALLEST = 0.15
"""Regions with a shorter side than this share of the picture show too little to learn from."""


@dataclass(frozen=True)
class RegionWords:
    """A region (x0 y0 x1 y1 in [0, 1]) of a picture, and its words."""

    picture: int
    box: tuple[float, float, float, float]
    words: str


@dataclass(frozen=True)
class PairedPicture:
    """A picture that is opened when it is looked at, and its regions."""

    open: Callable[[], Image.Image]
    pairs: tuple[RegionWords, ...]

    def cut(self, pair: RegionWords) -> Image.Image:
        """The region, at least one pixel of it."""
        image = self.open()
        width, height = image.size
        x0, y0 = max(0, int(pair.box[0] * width)), max(0, int(pair.box[1] * height))
        x1, y1 = min(width, int(pair.box[2] * width) + 1), min(height, int(pair.box[3] * height) + 1)
        return image.crop((x0, y0, max(x0 + 1, x1), max(y0 + 1, y1)))


@dataclass(frozen=True)
class Learnable:
    """One region with the vector of its words."""

    picture: PairedPicture
    pair: RegionWords
    vector: NDArray[np.float32]

    def cut(self) -> Image.Image:
        return self.picture.cut(self.pair)


def learnable(
    source: Iterable[PairedPicture], words: WordTable, most: int | None, seed: int = 0
) -> list[Learnable]:
    """Regions whose words are known: all, or as many as are asked for, drawn at random. No picture is opened for it."""
    found = [
        Learnable(picture, pair, vector)
        for picture in source
        for pair in picture.pairs
        if (vector := words.of_text(pair.words)) is not None
    ]
    if most is None or len(found) <= most:
        return found
    drawn = np.random.default_rng(seed).choice(len(found), most, replace=False)
    return [found[number] for number in sorted(drawn.tolist())]


def _opened(content: bytes) -> Image.Image:
    with Image.open(BytesIO(content)) as image:
        return image.convert("RGB")


def _photo(path: Path) -> Image.Image:
    try:
        with Image.open(path) as image:
            return image.convert("RGB")
    except (OSError, ValueError) as fault:
        raise UsageError(f"{path}: the picture cannot be read ({fault})") from None


def coco_pairs(regions: Path, captions: Path | None, seed: int = 0) -> Iterator[PairedPicture]:
    """Boxes of a coco_regions file, each with the head noun its picture's captions use for the class, or the class."""
    rng = np.random.default_rng(seed)
    said_of = coco_captions(captions) if captions else {}
    number = 0
    for _, row in read_rows(regions, ["id", "image", "category", "box"]):
        said: dict[int, list[str]] = {}
        for caption in said_of.get(row["id"], ()):
            for phrase, category in phrases_of(caption):
                said.setdefault(category, []).append(phrase.split()[-1])
        pairs = []
        for category, (cx, cy, w, h) in zip(row["category"], np.reshape(row["box"], (-1, 4)), strict=True):
            if min(w, h) >= SMALLEST:
                word = str(rng.choice(said[category])) if category in said else COCO_CLASSES[category]
                pairs.append(RegionWords(number, (cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2), word))
        if pairs:
            yield PairedPicture(partial(_opened, row["image"]), tuple(pairs))
            number += 1


_MENTION = re.compile(r"\[/EN#(\d+)(?:/\w+)+ ([^\]]+)\]")


def mentions_of(sentence: str) -> list[tuple[str, str]]:
    """Entity ids and mentions of a sentence in Flickr30k Entities' form, stop words left out of the mentions."""
    found = []
    for entity, mention in _MENTION.findall(sentence):
        words = [word for word in re.findall(r"[a-z]+", mention.lower()) if word not in STOPS]
        if words:
            found.append((entity, " ".join(words)))
    return found


def boxes_of(
    annotation: str,
) -> tuple[tuple[float, float], dict[str, list[tuple[float, float, float, float]]]]:
    """Size of the picture and boxes by entity id, from an annotation in Flickr30k Entities' XML."""
    root = ET.fromstring(annotation)
    size = float(root.findtext("size/width", "0")), float(root.findtext("size/height", "0"))
    boxes: dict[str, list[tuple[float, float, float, float]]] = {}
    for thing in root.iter("object"):
        box = thing.find("bndbox")
        if box is not None:
            x0, y0, x1, y1 = (float(box.findtext(edge, "0")) for edge in ("xmin", "ymin", "xmax", "ymax"))
            for name in thing.iter("name"):
                boxes.setdefault(name.text or "", []).append((x0, y0, x1, y1))
    return size, boxes


def entities_pairs(folder: Path, images: Path) -> Iterator[PairedPicture]:
    """Flickr30k Entities: `Annotations/ID.xml` and `Sentences/ID.txt` in the folder, pictures as `images/ID.jpg`."""
    sentences = sorted((folder / "Sentences").glob("*.txt"))
    if not sentences:
        raise UsageError(f"{folder}: no Sentences/*.txt of Flickr30k Entities in it")
    for number, path in enumerate(sentences):
        annotation, picture = folder / "Annotations" / f"{path.stem}.xml", images / f"{path.stem}.jpg"
        try:
            (width, height), boxes = boxes_of(annotation.read_text("utf-8"))
            mentions = {m for line in path.read_text("utf-8").splitlines() for m in mentions_of(line)}
        except (OSError, ET.ParseError, ValueError) as fault:
            raise UsageError(f"{path}: it or its annotation cannot be read ({fault})") from None
        pairs = tuple(
            RegionWords(number, (x0 / width, y0 / height, x1 / width, y1 / height), words)
            for entity, words in sorted(mentions)
            for x0, y0, x1, y1 in boxes.get(entity, ())
            if width and height and x1 > x0 and y1 > y0
        )
        if pairs:
            yield PairedPicture(partial(_photo, picture), pairs)
