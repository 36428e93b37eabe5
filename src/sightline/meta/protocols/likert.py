"""Anybody's own study: items with their ratings, in any form Sightline reads."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from sightline.errors import UsageError
from sightline.io import read_items
from sightline.io.ratings import read_ratings, with_ratings
from sightline.items import Item
from sightline.meta.protocols.base import Protocol, protocol, rating
from sightline.meta.ratings import Scale

NUMBER = r"-?\d+(?:\.\d+)?"


@protocol("likert")
@dataclass(frozen=True)
class Likert(Protocol):
    """Ratings by criterion on any scale, from your own file; an item's mean rating is one observation."""

    scale: str = ""
    """`1-5` or `-1-1`, to have every rating checked and criteria summed; without it, any number is taken."""
    ratings: Path | None = None
    """Single ratings of the items, in the form that `sightline ratings export` writes."""
    source = "your own study"
    keeps = "every item that has ratings; one observation an item and criterion: the mean of its ratings"
    observations = "mean"
    unit = "image or story"

    def items(self, data: Path, pictures: bool = True) -> list[Item]:
        return self.checked(read_items(data), data)

    def checked(self, given: Iterable[Item], data: Path) -> list[Item]:
        """Items of one's own file, their ratings held against the scale."""
        low, high = self.declared() or (float("-inf"), float("inf"))
        if self.ratings is not None:
            given = with_ratings(given, read_ratings(self.ratings), self.ratings)
        items = [grouped(item) for item in given]
        for item in items:
            for criterion, values in item.ratings.items():
                for value in values:
                    rating(value, low, high, f"{item.source or data}: item '{item.id}', {criterion}")
        if not any(item.ratings for item in items):
            raise UsageError(
                f'{data}: no item has ratings; write them as "ratings": {{"grounding": [3, 4, 4]}}'
            )
        return items

    def declared(self) -> Scale | None:
        if not self.scale:
            return None
        ends = re.fullmatch(rf"({NUMBER})-({NUMBER})", self.scale)
        if ends is None or float(ends[1]) >= float(ends[2]):
            raise UsageError(f"scale={self.scale} is not of the form 1-5")
        return float(ends[1]), float(ends[2])


def grouped(item: Item) -> Item:
    """The item with what the bootstrap resamples: its given group, else its pictures, else itself."""
    return replace(item, extra={**item.extra, "group": item.group})


@protocol("vist-rovist")
@dataclass(frozen=True)
class VistRovist(Likert):
    """Stories of several systems for the same photos: criteria rated 1-5 and votes for the best story."""

    scale: str = "1-5"
    source = "RoViST (Wang et al. 2022), Section 5: 80 stories, 26 raters"
    keeps = (
        "every story of your file that has ratings; one observation a story and criterion: the mean of its "
        "ratings; `overall` is the sum of the criteria; `votes` say which story of a sequence is liked best"
    )
    unit = "story"
