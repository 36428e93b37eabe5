"""VICR: captions rated 1-5 by trained players of a rating game (Validated Image Caption Rating)."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sightline.io.references import picture_key
from sightline.io.vicr import Vicr as Reader
from sightline.items import Item
from sightline.meta.protocols.base import COCO, Protocol, find, grouped, pictures_of, protocol
from sightline.meta.protocols.coco import coco_captions

FILES = ("vicr_sample.csv", "vicr.csv", "VICR.csv")


@protocol("vicr")
@dataclass(frozen=True)
class Vicr(Protocol):
    """Single ratings 1-5 of captions of COCO photos, four to seven each."""

    subset: Literal["all", "train", "val", "test"] = "all"
    """Only the pairs of this part, as the file's column `subset` has them."""

    source = "Validated Image Caption Rating (VICR) Scale, Dataset, and Model, Section 4"
    keeps = (
        "every pair of the file (249 in the public sample), or of one subset of it; each single rating is one "
        "observation: 1,118; references are the photo's COCO captions where known, without the candidate"
    )
    observations = "each"
    high = 5

    def items(self, data: Path, pictures: bool = True) -> list[Item]:
        album = pictures_of(data, *COCO) if pictures else data
        reader = Reader(album, self.subset, coco_captions(data))
        items = self.read(reader, find(data, *FILES))
        return [grouped(item, picture_key(item.id.rpartition("#")[0])) for item in items]
