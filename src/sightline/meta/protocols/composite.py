"""Composite: captions of three datasets rated 1-5 for correctness (Aditya et al. 2018)."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from sightline.errors import UsageError
from sightline.io.composite import Composite as Reader
from sightline.io.published import Album, coco_names
from sightline.items import Item
from sightline.meta.protocols.base import (
    COCO,
    FLICKR8K,
    Protocol,
    find,
    grouped,
    maybe,
    pictures_of,
    protocol,
)
from sightline.meta.protocols.coco import TREE, coco_captions
from sightline.meta.protocols.flickr8k import CAPTIONS

ONE = ("composite.jsonl", "composite.json", "composite_correctness.json")
PUBLISHED = ("8k_correctness.csv", "30k_correctness.csv", "coco_correctness.csv")
FLICKR30K = ("results_20130124.token", "flickr30k.token")
CRITERION = "correctness"


@protocol("composite")
@dataclass(frozen=True)
class CompositeProtocol(Protocol):
    """Captions by people and by two systems, rated 1-5, with the photos of COCO and Flickr8k."""

    own: Literal["drop", "keep"] = "drop"
    """Whether candidates that are among Flickr8k's captions of their photo are dropped: 158, as published."""

    source = "Aditya et al. 2018; as in CLIPScore (Hessel et al. 2021), Appendix A"
    keeps = (
        "captions whose photo has references in DIR; of 8k_correctness.csv less the 158 that are word for word among "
        "their photo's own; a candidate that is among its photo's references is left out of them; one observation a "
        "caption. Criteria: correctness, and each part alone"
    )
    tree = f"""{{8k,30k,coco}}_correctness.csv         as published, or CLIPScore's composite.json; one part is enough
Flickr8k.token.txt                     for the references of 8k
results_20130124.token                 for the references of 30k
Flicker8k_Dataset/, flickr30k-images/  their photos
{TREE}"""
    observations = "each"
    high = 5
    overall = False  # `correctness` is that already

    def items(self, data: Path, pictures: bool = True) -> list[Item]:
        one = maybe(data, *ONE)
        parts = [maybe(data, name) for name in PUBLISHED]
        paths = [one] if one else [path for path in parts if path] or [find(data, *ONE, *PUBLISHED)]
        reader = Reader(data, coco_captions(data), maybe(data, *CAPTIONS), maybe(data, *FLICKR30K), self.own)
        albums = {
            "coco": Album.at(pictures_of(data, COCO)),
            "flickr8k": Album.at(pictures_of(data, FLICKR8K)),
        } if pictures else {}  # fmt: skip
        found = [_kept(item, albums) for path in paths for item in self.read(reader, path) if item.references]
        if not found:
            raise UsageError(
                f"{data}: no photo of Composite has references there; give captions_val2014.json"
            )
        return found


def _kept(item: Item, albums: dict[str, Album]) -> Item:
    """The item with its part as a criterion, and its photo from where the part's photos lie."""
    part, _, photo = item.id.rpartition("#")[0].partition("/")
    if part in albums:
        names = coco_names(photo) if part == "coco" else (photo, f"{photo}.jpg")
        item = replace(item, images=(Path(albums[part].find(item.source, *names)),))
    ratings = {**item.ratings, part: item.ratings[CRITERION]}
    return grouped(replace(item, ratings=ratings), f"{part}|{photo}")
