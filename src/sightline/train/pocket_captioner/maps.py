"""What the pocket image network makes of pictures, kept in a folder: a decoder learns from it many times.

The network is frozen, so each view of a picture (as it is, mirrored) goes through it once. For a set `NAME` the
folder has `NAME.map16.npy` [row, 64, 256], `NAME.map32.npy` [row, 16, 512] and `NAME.vector.npy` [row, 256] in float16,
the places of a map row by row, and `NAME.jsonl`: a line for each row.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageEnhance, ImageOps

from sightline.io.table import read_rows
from sightline.train.texts import COCO_CAPTIONS, FLICKR8K_CAPTIONS, coco_captions, flickr8k_captions
from sightline.vision.pocket_network import FOLDER, pocket_network

PARTS: Final = ("map16", "map32", "vector")
"""Outputs of the image network that a decoder reads."""
AT_ONCE: Final = 64
TRAIN: Final = "train"
FRESH: Final = "fresh"
DEV: Final = "dev"
HELD_OUT: Final = 200
"""Of Flickr8k's dev pictures: those to choose by."""


View = Callable[[Image.Image, np.random.Generator], Image.Image]
"""What is looked at of a picture."""


def whole(picture: Image.Image, rng: np.random.Generator) -> Image.Image:
    return picture


def mirrored(picture: Image.Image, rng: np.random.Generator) -> Image.Image:
    return ImageOps.mirror(picture)


def cropped(picture: Image.Image, rng: np.random.Generator) -> Image.Image:
    """Most of it, which a caption still fits, in slightly other light, mirrored or not."""
    area, aspect = rng.uniform(0.65, 1), np.exp(rng.uniform(-0.2, 0.2))
    w, h = min(1.0, (area * aspect) ** 0.5), min(1.0, (area / aspect) ** 0.5)
    left, top = rng.random() * (1 - w), rng.random() * (1 - h)
    width, height = picture.size
    edges = (left * width, top * height, (left + w) * width, (top + h) * height)
    part = picture.crop((round(edges[0]), round(edges[1]), round(edges[2]), round(edges[3])))
    for change in (ImageEnhance.Brightness, ImageEnhance.Contrast, ImageEnhance.Color):
        part = change(part).enhance(rng.uniform(0.75, 1.25))
    return ImageOps.mirror(part) if rng.random() < 0.5 else part


@dataclass(frozen=True)
class Told:
    """A picture, still encoded, and what people said of it."""

    id: str
    image: bytes
    captions: tuple[str, ...]


@dataclass(frozen=True)
class Maps:
    """A set of pictures as the image network sees them."""

    map16: NDArray[np.float16]
    map32: NDArray[np.float16]
    vector: NDArray[np.float16]
    rows: tuple[dict[str, Any], ...]
    """`id`, `view` and `captions` of each row."""

    def __len__(self) -> int:
        return len(self.rows)


def captioned(data: Path, limit: int | None = None) -> dict[str, Callable[[], Iterator[Told]]]:
    """Captioned pictures: that the image network learned from (`train`), others (`fresh`), and some to choose by."""
    flickr = flickr8k_captions(data / FLICKR8K_CAPTIONS)
    coco = coco_captions(data / COCO_CAPTIONS)

    def of_flickr(split: str) -> Iterator[Told]:
        for cells in _cells(data / "flickr8k_train.parquet"):
            said = flickr.get(cells["file"], [])
            if said and (cells["split"] == "dev") == (split == "dev"):
                yield Told(cells["file"], cells["image"], tuple(said))

    def of_coco(split: str) -> Iterator[Told]:
        for cells in _cells(data / f"coco_regions_{split}.parquet"):
            if said := coco.get(cells["id"], []):
                yield Told(f"coco/{cells['id']}", cells["image"], tuple(said))

    def both(split: str, after: int = 0) -> Iterator[Told]:
        yield from islice(of_flickr(split), after, None if limit is None else after + limit)
        yield from islice(of_coco(split), limit)

    return {
        TRAIN: lambda: both("train"),
        FRESH: lambda: both("dev", HELD_OUT),
        DEV: lambda: islice(of_flickr("dev"), min(HELD_OUT, limit or HELD_OUT)),
    }


def _cells(path: Path) -> Iterator[dict[str, Any]]:
    return (row.cells for row in read_rows(path, ["image"]))


def keep(
    folder: Path,
    name: str,
    pictures: Iterable[Told],
    views: Sequence[View] = (),
    network: Path = FOLDER,
    say: Callable[[str], None] = print,
) -> None:
    """Run a set through the image network and keep what it makes of each view of a picture; as it is, without any."""
    told, shown = list(pictures), tuple(views) or (whole,)
    images = pocket_network(network)
    shapes = {"map16": (64, 256), "map32": (16, 512), "vector": (256,)}
    kept = {
        part: np.lib.format.open_memmap(
            folder / f"{name}.{part}.npy", "w+", np.float16, (len(told) * len(shown), *shapes[part])
        )
        for part in PARTS
    }
    row = 0
    for start in range(0, len(told), AT_ONCE):
        batch = told[start : start + AT_ONCE]
        seen = [_seen(one, number, shown) for number, one in enumerate(batch, start)]
        found = images.run([view for of_picture in seen for view in of_picture], PARTS)
        for outputs in found:
            for part, output in zip(PARTS, outputs, strict=True):
                kept[part][row] = _as_places(output[0])
            row += 1
        if row % (AT_ONCE * 32) < AT_ONCE * len(shown):
            say(f"{name}: {row:,} of {len(told) * len(shown):,} views")
    for array in kept.values():
        array.flush()
    with (folder / f"{name}.jsonl").open("w", encoding="utf-8") as file:
        for one in told:
            for view in shown:
                line = {"id": one.id, "view": view.__name__, "captions": one.captions}
                file.write(json.dumps(line, ensure_ascii=False) + "\n")


def _seen(one: Told, number: int, views: Sequence[View]) -> list[Image.Image]:
    with Image.open(BytesIO(one.image)) as opened:
        picture = opened.convert("RGB")
    rng = np.random.default_rng(number)
    return [view(picture, rng) for view in views]


def _as_places(output: NDArray[np.float32]) -> NDArray[np.float32]:
    """[channel, y, x] as [place, channel]; a vector as it is."""
    return output.reshape(len(output), -1).T if output.ndim == 3 else output


def read(folder: Path, name: str) -> Maps:
    """What `keep` left; the arrays stay on disk until they are looked at."""
    arrays = {part: np.load(folder / f"{name}.{part}.npy", mmap_mode="r") for part in PARTS}
    lines = (folder / f"{name}.jsonl").read_text("utf-8").splitlines()
    return Maps(rows=tuple(map(json.loads, lines)), **arrays)


def there(folder: Path, name: str) -> bool:
    """Whether a set has been kept: the list of its rows is written last."""
    return (folder / f"{name}.jsonl").is_file()
