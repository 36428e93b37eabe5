"""What an item costs by each metric, in CPU time, as its card tells it.

    python benchmarks/measure_costs.py [--data DATA] [--items 40] [--keep]

Captions of Flickr8k with pictures and four references, and VIST stories for what is about stories alone. Models are
loaded before the clock starts and nothing is cached, so the number is what a new item costs. `--keep` writes
docs/costs.json.
"""

import argparse
import csv
import gzip
import json
import tempfile
import time
from collections import defaultdict
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

import sightline
from sightline.metrics import metrics
from sightline.resources import Holder

STORIES = ("rovist-c",)
WITHOUT = ("judge", "judge-pair", "vqascore", "spice", "bertscore", "chair", "pac-s", "refpac-s", "rovist")
"""What needs a server, a jar, weights or annotations that do not come along; `rovist` is the sum of its parts."""
KEPT = Path(__file__).parents[1] / "docs" / "costs.json"


def captions(data: Path, folder: Path, count: int) -> list[dict[str, Any]]:
    said = defaultdict(list)
    with gzip.open(data / "flickr8k_captions.tsv.gz", "rt", encoding="utf-8") as file:
        for name, caption in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            said[name.split("#")[0]].append(caption)
    items = []
    for row in pq.read_table(data / "flickr8k_eval.parquet").slice(0, count).to_pylist():
        (folder / f"{row['file']}.webp").write_bytes(row["image"])
        text, *references = said[row["file"]]
        picture = str(folder / f"{row['file']}.webp")
        items.append({"id": row["file"], "images": [picture], "text": text, "references": references})
    return items


def stories(data: Path, count: int) -> list[dict[str, Any]]:
    with gzip.open(data / "vist_test_stories.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in islice(file, count)]
    return [{"id": row["story_id"], "sentences": row["sentences"]} for row in rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--items", type=int, default=40)
    parser.add_argument("--keep", action="store_true")
    given = parser.parse_args()
    own = [name for name in metrics if metrics.get(name).__module__.startswith("sightline.")]
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder, Holder() as holder:
        kinds = {
            False: captions(given.data, Path(folder), given.items),
            True: stories(given.data, given.items),
        }
        for name in own:
            if name in WITHOUT:
                continue
            items = kinds[name in STORIES]
            sightline.score(items[:2], [name], cache=None, holder=holder)
            start = time.process_time()
            done = sightline.score(items, [name], cache=None, holder=holder)
            taken = time.process_time() - start
            if not done.scores:
                raise SystemExit(f"{name}: nothing was scored ({done.failures[0].reason})")
            found[name] = round(1000 * taken / len(items), 1)
            print(f"{name}: {found[name]:.1f} ms of CPU an item ({len(done.scores)} scored)", flush=True)
    if given.keep:
        KEPT.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
