"""Five-picture stories made of Flickr8k's test pictures and captions: no story corpus with photos is free to use."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from sightline.io.flickr8k import by_image
from sightline.io.table import TableFile
from sightline.items import Item
from sightline.meta.protocols import make_protocol

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
    files, captions = unpack(data, folder), by_image(TableFile(data / "flickr8k_captions.tsv.gz"))
    names = list(files)
    rng = np.random.default_rng(seed)
    chosen = [rng.choice(len(names), PICTURES, replace=False) for _ in range(count)]
    made = []
    for number, some in enumerate(chosen):
        own = [list(captions[names[n]].values()) for n in some]
        told = tuple(texts[int(rng.integers(len(texts)))] for texts in own)
        made.append(Item(str(number), images=tuple(files[names[n]] for n in some), sentences=told))
    return made


def rated_stories(data: Path, folder: Path, count: int = 500, seed: int = 0) -> list[Item]:
    """Sequences of five pairs that experts rated alike; a story's rating is the mean of its pairs' mean ratings.

    Pairs of one level go together, since a random mixture would leave all stories with about the same rating.
    """
    files = unpack(data, folder)
    pairs = make_protocol("flickr8k-expert:own=keep").items(data, pictures=False)
    rng = np.random.default_rng(seed)
    mean = np.array([np.mean(pair.ratings["match"]) for pair in pairs])
    photo = [str(pair.extra["group"]) for pair in pairs]
    made = []
    for number in range(count):
        level = rng.uniform(1, 4)
        near = np.argsort(np.abs(mean - level) + rng.normal(0, 0.15, len(mean)))
        some: list[int] = []
        for n in near.tolist():
            if photo[n] not in {photo[k] for k in some}:
                some.append(n)
            if len(some) == PICTURES:
                break
        images = tuple(files[photo[n]] for n in some)
        told = tuple(pairs[n].text for n in some)
        rating = float(np.mean(mean[some]))
        made.append(Item(str(number), images=images, sentences=told, ratings={"grounding": (rating,)}))
    return made
