"""Five-picture stories made of Flickr8k's test pictures and captions: no story corpus with photos is free to use."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from sightline.items import Item
from sightline.meta.protocols.flickr8k import Flickr8k, read_captions

PICTURES = 5


def unpack(data: Path, folder: Path) -> dict[str, Path]:
    """The test pictures as files, by name."""
    found = {}
    for row in pq.read_table(data / "flickr8k_eval.parquet").to_pylist():
        found[row["file"]] = folder / f"{row['file']}.webp"
        found[row["file"]].write_bytes(row["image"])
    return found


def made_stories(data: Path, folder: Path, count: int = 500, seed: int = 0) -> list[Item]:
    """Sequences of five pictures, each with one of its own captions."""
    files, captions = unpack(data, folder), read_captions(data)
    names = list(files)
    rng = np.random.default_rng(seed)
    chosen = [rng.choice(len(names), PICTURES, replace=False) for _ in range(count)]
    made = []
    for number, some in enumerate(chosen):
        told = tuple(captions.of[names[n]][int(rng.integers(len(captions.of[names[n]])))] for n in some)
        made.append(Item(str(number), images=tuple(files[names[n]] for n in some), sentences=told))
    return made


def rated_stories(data: Path, folder: Path, count: int = 500, seed: int = 0) -> list[Item]:
    """Sequences of five pairs that experts rated alike; a story's rating is the mean of its pairs' mean ratings.

    Pairs of one level go together, since a random mixture would leave all stories with about the same rating.
    """
    files, captions = unpack(data, folder), read_captions(data)
    _, pairs = Flickr8k._expert(_Expert(), data)
    rng = np.random.default_rng(seed)
    mean = np.array([np.mean(ratings) for *_, ratings in pairs])
    made = []
    for number in range(count):
        level = rng.uniform(1, 4)
        near = np.argsort(np.abs(mean - level) + rng.normal(0, 0.15, len(mean)))
        some: list[int] = []
        for n in near.tolist():
            if pairs[n][1] not in {pairs[k][1] for k in some}:
                some.append(n)
            if len(some) == PICTURES:
                break
        images = tuple(files[pairs[n][1]] for n in some)
        told = tuple(captions.text[pairs[n][2]] for n in some)
        rating = float(np.mean(mean[some]))
        made.append(Item(str(number), images=images, sentences=told, ratings={"grounding": (rating,)}))
    return made


class _Expert(Flickr8k):
    high = 4
