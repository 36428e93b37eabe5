"""VICR: captions rated 1-5 by trained players of a rating game (Validated Image Caption Rating)."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sightline.errors import UsageError
from sightline.io.references import picture_key
from sightline.io.table import TableFile
from sightline.io.vicr import Vicr as Reader
from sightline.items import Item
from sightline.meta.protocols.base import COCO, Protocol, find, grouped, maybe, pictures_of, protocol
from sightline.meta.protocols.coco import TREE, coco_captions

FILES = ("vicr_sample.csv", "vicr.csv", "VICR.csv")


@protocol("vicr")
@dataclass(frozen=True)
class VicrProtocol(Protocol):
    """Single ratings 1-5 of captions of COCO photos, four to seven each."""

    subset: Literal["all", "train", "val", "test"] = "all"
    """Only the pairs of this part, as the file's column `subset` has them."""

    source = "Validated Image Caption Rating (VICR) Scale, Dataset, and Model, Section 4"
    keeps = (
        "every pair of the file, or of one subset of it; each single rating is one observation (the sample used here: "
        "249 pairs, 1,118 ratings); references are the photo's COCO captions where known, without the candidate"
    )
    tree = f"""NAME.csv                               VICR's file: image,caption,subset,num_ratings,ratings,…
{TREE}"""
    observations = "each"
    high = 5

    def items(self, data: Path, pictures: bool = True) -> list[Item]:
        album = pictures_of(data, COCO) if pictures else data
        reader = Reader(album, self.subset, coco_captions(data))
        items = self.read(reader, maybe(data, *FILES) or _only_one(data, reader))
        return [grouped(item, picture_key(item.id.rpartition("#")[0])) for item in items]


def _only_one(data: Path, reader: Reader) -> Path:
    """The file of the folder that has VICR's columns, whatever it is called."""
    tables = sorted(path for path in data.glob("*.csv*") if path.name.endswith((".csv", ".csv.gz")))
    fitting = [path for path in tables if path.stat().st_size and reader.recognises(TableFile(path))]
    if len(fitting) > 1:
        names = ", ".join(path.name for path in fitting)
        raise UsageError(f"{data}: {names} could each be VICR's file; leave one there, or call one vicr.csv")
    return fitting[0] if fitting else find(data, *FILES)
