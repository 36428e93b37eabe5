"""The training data as a few plain arrays: encoded pictures back to back, captions, boxes.

Only files marked for training are read: flickr8k_train, coco_regions_train with coco_captions, tiny_imagenet, and
coco_regions_dev for choosing. The Flickr8k test pictures and everything in coco_eval stay unseen.
"""

import json
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.io.table import Cells, read_rows
from sightline.train.texts import COCO_CAPTIONS, FLICKR8K_CAPTIONS, coco_captions, flickr8k_captions

PIECE = 32 << 20
"""Bytes of encoded pictures in one file of a pack."""


def _rows(path: Path, limit: int | None = None) -> list[Cells]:
    return [row.cells for row in islice(read_rows(path, ["image"]), limit)]


def _write(out: Path, name: str, images: list[bytes], about: list[dict[str, Any]]) -> None:
    """Pictures in pieces of bounded size, with what is known of each beside them."""
    start = piece = 0
    while start < len(images):
        end, size = start, 0
        while end < len(images) and (size == 0 or size + len(images[end]) <= PIECE):
            size += len(images[end])
            end += 1
        offsets = np.cumsum([0, *(len(image) for image in images[start:end])])
        blob = np.frombuffer(b"".join(images[start:end]), np.uint8)
        text = np.frombuffer(json.dumps(about[start:end]).encode(), np.uint8)
        np.savez(out / f"{name}_{piece}.npz", blob=blob, offsets=offsets, about=text)
        start, piece = end, piece + 1


def pack(folder: Path, out: Path, limit: int | None = None) -> None:
    """Write the pack of a data folder; `limit` keeps that many rows of each file, for a small trial."""
    out.mkdir(parents=True, exist_ok=True)
    captions = flickr8k_captions(folder / FLICKR8K_CAPTIONS)
    rows = _rows(folder / "flickr8k_train.parquet", limit)
    _write(
        out,
        "flickr",
        [row["image"] for row in rows],
        [{"dev": row["split"] == "dev", "captions": captions.get(row["file"], [])} for row in rows],
    )
    by_id = coco_captions(folder / COCO_CAPTIONS)
    for name in ("coco_regions_train", "coco_regions_dev"):
        rows = _rows(folder / f"{name}.parquet", limit)
        _write(
            out,
            name.replace("_regions", ""),
            [row["image"] for row in rows],
            [
                {
                    "category": row["category"],
                    "box": [round(edge, 4) for edge in row["box"]],
                    "captions": by_id.get(row["id"], []),
                }
                for row in rows
            ],
        )
    rows = _rows(folder / "tiny_imagenet.parquet")
    if limit:
        rows = rows[:: max(1, len(rows) // limit)][:limit]
    _write(
        out,
        "tiny",
        [row["image"] for row in rows],
        [{"name": row["name"].split(",")[0].strip()} for row in rows],
    )


def read_pack(folder: Path, name: str) -> tuple[list[bytes], list[dict[str, Any]]]:
    """The pictures of one source, still encoded, and what is known of each."""
    images: list[bytes] = []
    about: list[dict[str, Any]] = []
    for path in sorted(folder.glob(f"{name}_[0-9]*.npz")):
        with np.load(path) as piece:
            blob, offsets = piece["blob"].tobytes(), piece["offsets"]
            images += [blob[a:b] for a, b in pairwise(offsets)]
            about += json.loads(piece["about"].tobytes())
    return images, about


def decode_square(images: list[bytes], side: int, workers: int) -> NDArray[np.uint8]:
    """Decode and squash every picture to side x side: [n, 3, side, side]."""
    from concurrent.futures import ThreadPoolExecutor
    from io import BytesIO

    from PIL import Image

    def one(data: bytes) -> NDArray[np.uint8]:
        with Image.open(BytesIO(data)) as picture:
            square = picture.convert("RGB").resize((side, side), Image.Resampling.BICUBIC)
        return np.asarray(square).transpose(2, 0, 1)

    with ThreadPoolExecutor(workers) as pool:
        return np.stack(list(pool.map(one, images, chunksize=64)))
