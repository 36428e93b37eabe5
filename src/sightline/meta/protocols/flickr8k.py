"""Flickr8k: captions of one photo judged against another (Hodosh et al. 2013)."""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sightline.errors import UsageError
from sightline.items import Item
from sightline.meta.protocols.base import (
    Protocol,
    columns,
    extract_pictures,
    find,
    picture_folder,
    protocol,
    rating,
)

CANDIDATE = "2"
"""Every rated caption is the third of its own photo."""


@dataclass(frozen=True)
class Captions:
    """The five captions of each photo, by id and by photo."""

    text: dict[str, str]
    of: dict[str, tuple[str, ...]]
    others: dict[str, tuple[str, ...]]
    """Without the one that serves as a candidate."""


def read_captions(data: Path) -> Captions:
    path = find(data, "flickr8k_captions.tsv.gz", "flickr8k_captions.tsv", "Flickr8k.token.txt")
    text: dict[str, str] = {}
    of: dict[str, list[str]] = defaultdict(list)
    others: dict[str, list[str]] = defaultdict(list)
    for number, (id, caption) in columns(path, 2):
        # One published id is malformed: `….jpg.1` for `….jpg#1`.
        photo, hash_, place = id.partition("#") if "#" in id else id.rpartition(".")
        if not hash_ or not place.isdigit():
            raise UsageError(f"{path}, line {number}: '{id}' is no caption id of the form photo.jpg#k")
        text[f"{photo}#{place}"] = caption
        of[photo].append(caption)
        if place != CANDIDATE:
            others[photo].append(caption)
    return Captions(text, {k: tuple(v) for k, v in of.items()}, {k: tuple(v) for k, v in others.items()})


@dataclass(frozen=True)
class Flickr8k(Protocol):
    """What the three protocols share: pairs of a photo and a caption."""

    def _items(self, data: Path, path: Path, pairs: list[tuple[int, str, str, tuple[float, ...]]],
               pictures: bool, own_references: bool) -> list[Item]:  # fmt: skip
        captions = read_captions(data)
        parquet = data / "flickr8k_eval.parquet"
        folder = picture_folder(parquet) if parquet.is_file() else data
        items: list[Item] = []
        for number, photo, id, ratings in pairs:
            if id not in captions.text or photo not in captions.of:
                raise UsageError(
                    f"{path}, line {number}: no captions of {photo if id in captions.text else id}"
                )
            items.append(
                Item(
                    id=f"{photo}|{id}",
                    images=(folder / f"{photo}.webp" if parquet.is_file() else folder / photo,),
                    text=captions.text[id],
                    references=(captions.of if own_references else captions.others)[photo],
                    ratings={"match": ratings},
                    extra={"group": photo},
                    source=f"{path}, line {number}",
                )
            )
        if pictures and parquet.is_file():
            extract_pictures(parquet, "file", list({str(item.extra["group"]) for item in items}))
        return items

    def _expert(self, data: Path) -> tuple[Path, list[tuple[int, str, str, tuple[float, ...]]]]:
        path = find(data, "flickr8k_expert.tsv.gz", "flickr8k_expert.tsv", "ExpertAnnotations.txt")
        rows = []
        for number, (photo, id, *values) in columns(path, 5):
            where = f"{path}, line {number}"
            rows.append(
                (number, photo, id, tuple(rating(value, self.low, self.high, where) for value in values))
            )
        return path, rows


@protocol("flickr8k-expert")
@dataclass(frozen=True)
class Expert(Flickr8k):
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

    def items(self, data: Path, pictures: bool = True) -> list[Item]:
        path, rows = self._expert(data)
        kept = [row for row in rows if self.own == "keep" or not row[2].startswith(f"{row[1]}#")]
        return self._items(data, path, kept, pictures, True)


@protocol("flickr8k-expert-unanimous")
@dataclass(frozen=True)
class ExpertUnanimous(Flickr8k):
    """The Expert pairs on which all three raters agree (GROOViST's second criterion)."""

    source = "Hodosh et al. 2013; rows as in GROOViST (Surikuchi et al. 2023), Section 2.2"
    keeps = (
        "pairs with three equal ratings, the photo's own captions included: 3,391; references are the four "
        "captions that are never rated; one observation a pair"
    )
    observations = "mean"
    agreement = False
    high = 4

    def items(self, data: Path, pictures: bool = True) -> list[Item]:
        path, rows = self._expert(data)
        return self._items(data, path, [row for row in rows if len(set(row[3])) == 1], pictures, False)


@protocol("flickr8k-cf")
@dataclass(frozen=True)
class CrowdFlower(Flickr8k):
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

    def items(self, data: Path, pictures: bool = True) -> list[Item]:
        path = find(
            data, "flickr8k_crowdflower.tsv.gz", "flickr8k_crowdflower.tsv", "CrowdFlowerAnnotations.txt"
        )
        rows: list[tuple[int, str, str, tuple[float, ...]]] = []
        for number, (photo, id, _, yes, no) in columns(path, 5):
            rows.append((number, photo, id, _said(yes, no, f"{path}, line {number}")))
        return self._items(data, path, rows, pictures, False)


def _said(yes: str, no: str, where: str) -> tuple[float, ...]:
    """Every person's answer: 1 for yes, 0 for no."""
    if not (yes.isdecimal() and no.isdecimal()) or int(yes) + int(no) == 0:
        raise UsageError(f"{where}: '{yes}' and '{no}' do not say how many people said yes and no")
    return (1.0,) * int(yes) + (0.0,) * int(no)
