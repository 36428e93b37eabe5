"""The texts of the data folder that several parts learn from: captions of photographs, stories, captioned pictures."""

from pathlib import Path

from sightline.io.flickr8k import by_image
from sightline.io.table import TableFile, read_rows

STORIES = "vist_val_stories.jsonl.gz"
COCO_CAPTIONS = "coco_captions.jsonl.gz"
FLICKR8K_CAPTIONS = "flickr8k_captions.tsv.gz"


def told_stories(data: Path) -> list[list[str]]:
    """The sentences of every story of VIST's validation split."""
    return [row.cells["sentences"] for row in read_rows(data / STORIES, ["sentences"])]


def coco_captions(path: Path) -> dict[int, list[str]]:
    """Captions by photo."""
    rows = (row.cells for row in read_rows(path, ["id", "captions"]))
    return {row["id"]: [text.strip() for text in row["captions"] if text.strip()] for row in rows}


def flickr8k_captions(path: Path) -> dict[str, list[str]]:
    """Captions by the photo's file."""
    return {image: [*said.values()] for image, said in by_image(TableFile(path)).items()}
