"""Where the folder of a protocol keeps the captions of COCO's pictures."""

from pathlib import Path

from sightline.meta.protocols.base import maybe

CAPTIONS = (
    *("coco_eval_references.jsonl", "captions_val2014.json"),
    *("references.jsonl", "references.csv", "references.parquet"),
)
TREE = """val2014/ or images/ …                  COCO's photos, also right here: COCO_val2014_000000000192.jpg, 192.webp
annotations/captions_val2014.json      or references.jsonl: {"id" or "image": …, "references": […]}"""


def coco_captions(data: Path) -> Path | None:
    """COCO's own annotations, or a file of items with references; None where there is neither."""
    return maybe(data, *CAPTIONS)
