"""How well `unsupported` tells what is on a picture from what is not: the demo's texts, and captions of Flickr8k.

python benchmarks/measure_unsupported.py [DATA] [PICTURES]     DATA: the folder with flickr8k_train.parquet and captions
"""

import gzip
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pyarrow.parquet as pq

import sightline
from sightline.items import Item, Score

APART = 97
"""How many pictures further on the foreign caption is taken from."""


def marked(scores: Iterable[Score]) -> tuple[int, int]:
    """Phrases that are marked, and all."""
    found = [phrase.contribution < 0 for score in scores for phrase in score.evidence.phrases]
    return sum(found), len(found)


def told(name: str, scores: Iterable[Score]) -> None:
    some, every = marked(scores)
    print(f"{name:<28} {some:>5} of {every:>5} phrases marked  {some / every:6.1%}")


def demo() -> None:
    found = sightline.score(Path(sightline.__file__).parent / "demo" / "stories.jsonl", ["unsupported"])
    print(found.scores[0].signature)
    for system in ("good", "shuffled", "mediocre", "wrong"):
        told(f"demo, {system}", (score for score in found.scores if score.system == system))


def flickr(data: Path, count: int) -> None:
    """Pictures of the development part, each with its first caption and with another picture's."""
    captions: dict[str, list[str]] = defaultdict(list)
    with gzip.open(data / "flickr8k_captions.tsv.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            name, _, text = line.rstrip("\n").partition("\t")
            captions[name.partition("#")[0]].append(text)
    table = pq.read_table(data / "flickr8k_train.parquet", columns=["file", "split", "image"]).to_pylist()
    rows = [row for row in table if row["split"] == "dev" and row["file"] in captions][:count]
    with tempfile.TemporaryDirectory() as folder:
        items = []
        for number, row in enumerate(rows):
            path = Path(folder) / f"{number}.webp"
            path.write_bytes(row["image"])
            other = rows[(number + APART) % len(rows)]["file"]
            items.append(Item(f"{number}", (path,), captions[row["file"]][0], system="own"))
            items.append(Item(f"{number}", (path,), captions[other][0], system="foreign"))
        found = sightline.score(items, ["unsupported"], cache=False)
    for system in ("own", "foreign"):
        told(f"Flickr8k dev, {system} captions", (score for score in found.scores if score.system == system))


if __name__ == "__main__":
    demo()
    if len(sys.argv) > 1:
        flickr(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 500)
