"""Flickr8k: captions of one photo judged against another (Hodosh et al. 2013)."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from sightline.errors import UsageError
from sightline.io.flickr8k import Flickr8k as Reader
from sightline.items import Item
from sightline.meta.protocols.base import FLICKR8K, Protocol, find, grouped, maybe, pictures_of, protocol

CAPTIONS = ("flickr8k_captions.tsv", "Flickr8k.token.txt")
EXPERT = ("flickr8k_expert.tsv", "ExpertAnnotations.txt", "flickr8k.json")
CROWD = ("flickr8k_crowdflower.tsv", "CrowdFlowerAnnotations.txt", "crowdflower_flickr8k.json")
"""This project's names, the authors' and those of CLIPScore's repository."""


def _tree(judged: str, json: str) -> str:
    return f"""{judged:<39}with Flickr8k.token.txt; or CLIPScore's {json}, which needs no captions
Flickr8k.token.txt                     the captions, also in Flickr8k_text/
Flicker8k_Dataset/ or images/ …        the photos, also right here: 1056338697_4f7d7ce270.jpg …"""


@dataclass(frozen=True)
class Flickr8kProtocol(Protocol):
    """What the three protocols share: pairs of a photo and a caption."""

    files: ClassVar[tuple[str, ...]]
    references: ClassVar[Literal["all", "unrated"]]

    def items(self, data: Path, pictures: bool = True) -> list[Item]:
        path = find(data, *self.files)
        captions = maybe(data, *CAPTIONS) if path.suffix == ".json" else find(data, *CAPTIONS)
        album = pictures_of(data, FLICKR8K) if pictures else data
        reader = Reader(album, captions, self.references)
        return list(self._kept(self.read(reader, path)))

    def _kept(self, items: Iterator[Item]) -> Iterator[Item]:
        for item in items:
            photo, _, caption = item.id.partition("|")
            if self.keeps_pair(item, caption.startswith(f"{photo}#")):
                if not item.references:
                    raise UsageError(f"{item.source}: no captions of {photo}")
                yield grouped(item, photo)

    def keeps_pair(self, item: Item, own: bool) -> bool:
        """Whether a pair is one of the protocol's; `own`: the photo with a caption of its own."""
        return True


@protocol("flickr8k-expert")
@dataclass(frozen=True)
class Expert(Flickr8kProtocol):
    """Three experts' ratings 1-4 of captions for a photo that is not their own (CLIPScore's protocol)."""

    own: Literal["drop", "keep"] = "drop"
    """Whether the 158 pairs of a photo and its own caption are dropped, as published, or kept, as for training."""

    source = "Hodosh et al. 2013; rows as in CLIPScore (Hessel et al. 2021), Section 4.1"
    keeps = (
        "pairs whose caption is not the photo's own: 5,664 of 5,822; references: the photo's five captions; "
        "each of the three ratings is one observation: 16,992"
    )
    observations = "each"
    high = 4
    tree = _tree("ExpertAnnotations.txt", "flickr8k.json")
    files = EXPERT
    references = "all"

    def keeps_pair(self, item: Item, own: bool) -> bool:
        return self.own == "keep" or not own


@protocol("flickr8k-expert-unanimous")
@dataclass(frozen=True)
class ExpertUnanimous(Flickr8kProtocol):
    """The Expert pairs on which all three raters agree (GROOViST's second criterion)."""

    source = "Hodosh et al. 2013; rows as in GROOViST (Surikuchi et al. 2023), Section 2.2"
    keeps = (
        "pairs with three equal ratings, the photo's own captions included: 3,391; references are the four "
        "captions that are never rated; one observation a pair"
    )
    observations = "mean"
    agreement = False
    high = 4
    tree = _tree("ExpertAnnotations.txt", "flickr8k.json (lacks 158 pairs)")
    files = EXPERT
    references = "unrated"

    def keeps_pair(self, item: Item, own: bool) -> bool:
        return len(set(item.ratings["match"])) == 1


@protocol("flickr8k-cf")
@dataclass(frozen=True)
class CrowdFlower(Flickr8kProtocol):
    """Share of three or more people who say that a caption describes the photo."""

    source = "Hodosh et al. 2013; rows as in CLIPScore (Hessel et al. 2021), Section 4.1"
    keeps = (
        "all 47,830 pairs; the share of yes is the observation (each yes is a rating of 1, each no of 0); "
        "references: the photo's four captions that are never rated (a reading: the paper does not "
        "say, and these come nearest to its numbers)"
    )
    observations = "mean"
    headline = "kendall_b"
    low = 0
    high = 1
    tree = _tree("CrowdFlowerAnnotations.txt", "crowdflower_flickr8k.json")
    files = CROWD
    references = "unrated"
