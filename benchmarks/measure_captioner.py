"""How good the embedded captioner is: prints every number of its card, and captions drawn at random.

    python benchmarks/measure_captioner.py DATA [--captioner pocket] [--pictures 1000] [--shown 10] [--seed 0]

DATA is the folder with flickr8k_eval.parquet, coco_eval.parquet and the rest. The pictures are those of Flickr8k's test
split, five captions each, and the photographs of Composite and VICR with four or five.
"""

import argparse
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sightline
from sightline.io.table import read_rows
from sightline.train.texts import FLICKR8K_CAPTIONS, flickr8k_captions

METRICS = ("cider", "bleu-4", "rouge-l")


def flickr8k(data: Path) -> Iterator[dict[str, Any]]:
    said = flickr8k_captions(data / FLICKR8K_CAPTIONS)
    for row in read_rows(data / "flickr8k_eval.parquet", ["image"]):
        file = row.cells["file"]
        yield {"id": file, "images": [row.cells["image"]], "references": said[file][:5]}


def coco(data: Path) -> Iterator[dict[str, Any]]:
    rows = read_rows(data / "coco_eval_references.jsonl.gz", ["id", "references"])
    said = {row.cells["id"]: row.cells["references"] for row in rows}
    for row in read_rows(data / "coco_eval.parquet", ["image"]):
        if references := said.get(row.cells["id"]):
            yield {"id": str(row.cells["id"]), "images": [row.cells["image"]], "references": references}


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("data", type=Path)
    asked.add_argument("--captioner", default="pocket")
    asked.add_argument("--pictures", type=int, default=1000)
    asked.add_argument("--shown", type=int, default=10)
    asked.add_argument("--seed", type=int, default=0)
    given = asked.parse_args()
    for name, source in (("Flickr8k test", flickr8k), ("COCO, never seen", coco)):
        rows = list(source(given.data))
        lot = random.Random(given.seed)
        rows = lot.sample(rows, min(given.pictures, len(rows)))
        found = sightline.caption(rows, given.captioner)
        scored = sightline.score(list(found.items), METRICS, cache=None)
        told = []
        for metric in METRICS:
            about = scored.summary["metrics"][metric]
            told.append(
                f"{metric} {about['corpus']:.4f} [{about['corpus_low']:.4f}, {about['corpus_high']:.4f}]"
            )
        texts = [item.whole_text for item in found.items]
        print(f"{name}: {len(texts)} pictures, {len(found.failures)} failures: {', '.join(told)}")
        print(
            f"  {len(set(texts))} different captions, {sum(len(t.split()) for t in texts) / len(texts):.1f} words each"
        )
        each = {score.id: score.score for score in scored.scores if score.metric == "cider"}
        print("\n| CIDEr | caption | one of people's |\n| --- | --- | --- |")
        for item in lot.sample(list(found.items), given.shown):
            cells = (f"{each[item.id]:.2f}", item.whole_text, item.references[0])
            print("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        print(flush=True)


if __name__ == "__main__":
    main()
