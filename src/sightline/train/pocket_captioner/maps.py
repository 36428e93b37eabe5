"""What the pocket image network makes of pictures, kept in a folder: a decoder learns from it many times.

The network is frozen, so each picture goes through it once, and once mirrored. For a set `NAME` the folder has
`NAME.map16.npy` [row, 64, 256], `NAME.map32.npy` [row, 16, 512] and `NAME.vector.npy` [row, 256] in float16, the places
of a map row by row, and `NAME.jsonl`: a line for each row.
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
from PIL import Image, ImageOps

from sightline.io.table import read_rows
from sightline.train.texts import COCO_CAPTIONS, FLICKR8K_CAPTIONS, coco_captions, flickr8k_captions
from sightline.vision.pocket_network import FOLDER, pocket_network

PARTS: Final = ("map16", "map32", "vector")
"""Outputs of the image network that a decoder reads."""
AT_ONCE: Final = 64


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
    """`id`, `mirrored` and `captions` of each row."""

    def __len__(self) -> int:
        return len(self.rows)


def captioned(data: Path, limit: int | None = None) -> dict[str, Callable[[], Iterator[Told]]]:
    """The sets of pictures with captions that may be learned from (`train`) and chosen by (the others)."""
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

    def train() -> Iterator[Told]:
        yield from islice(of_flickr("train"), limit)
        yield from islice(of_coco("train"), limit)

    return {
        "train": train,
        "dev_flickr8k": lambda: islice(of_flickr("dev"), limit),
        "dev_coco": lambda: islice(of_coco("dev"), limit),
    }


def _cells(path: Path) -> Iterator[dict[str, Any]]:
    return (row.cells for row in read_rows(path, ["image"]))


def keep(
    folder: Path,
    name: str,
    pictures: Iterable[Told],
    mirrored: bool = False,
    network: Path = FOLDER,
    say: Callable[[str], None] = print,
) -> None:
    """Run a set through the image network and keep what it makes of it; with `mirrored` each picture twice."""
    told = list(pictures)
    views = 2 if mirrored else 1
    images = pocket_network(network)
    shapes = {"map16": (64, 256), "map32": (16, 512), "vector": (256,)}
    kept = {
        part: np.lib.format.open_memmap(
            folder / f"{name}.{part}.npy", "w+", np.float16, (len(told) * views, *shapes[part])
        )
        for part in PARTS
    }
    row = 0
    for start in range(0, len(told), AT_ONCE):
        batch = told[start : start + AT_ONCE]
        found = images.run([view for one in batch for view in _views(one.image, mirrored)], PARTS)
        for outputs in found:
            for part, output in zip(PARTS, outputs, strict=True):
                kept[part][row] = _as_places(output[0])
            row += 1
        if row % (AT_ONCE * 32) < AT_ONCE * views:
            say(f"{name}: {row:,} of {len(told) * views:,} views")
    for array in kept.values():
        array.flush()
    with (folder / f"{name}.jsonl").open("w", encoding="utf-8") as file:
        for one in told:
            for view in range(views):
                line = {"id": one.id, "mirrored": bool(view), "captions": one.captions}
                file.write(json.dumps(line, ensure_ascii=False) + "\n")


def _views(image: bytes, mirrored: bool) -> list[Image.Image]:
    with Image.open(BytesIO(image)) as opened:
        picture = opened.convert("RGB")
    return [picture, ImageOps.mirror(picture)] if mirrored else [picture]


def _as_places(output: NDArray[np.float32]) -> NDArray[np.float32]:
    """[channel, y, x] as [place, channel]; a vector as it is."""
    return output.reshape(len(output), -1).T if output.ndim == 3 else output


def read(folder: Path, name: str) -> Maps:
    """What `keep` left; the arrays stay on disk until they are looked at."""
    arrays = {part: np.load(folder / f"{name}.{part}.npy", mmap_mode="r") for part in PARTS}
    lines = (folder / f"{name}.jsonl").read_text("utf-8").splitlines()
    return Maps(rows=tuple(map(json.loads, lines)), **arrays)


def there(folder: Path, names: Sequence[str]) -> bool:
    """Whether all these sets have been kept: the list of rows is written last."""
    return all((folder / f"{name}.jsonl").is_file() for name in names)
