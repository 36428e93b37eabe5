"""Anybody's own study: items with their ratings, in any form Sightline reads."""

from dataclasses import dataclass, replace
from pathlib import Path

from sightline.errors import UsageError
from sightline.items import Item
from sightline.meta.protocols.base import Protocol, protocol, rating


@protocol("likert")
@dataclass(frozen=True)
class Likert(Protocol):
    """Ratings by criterion on any scale, from your own file; an item's mean rating is one observation."""

    scale: str = ""
    """`1-5`, to have every rating checked; without it, any number is taken."""
    source = "your own study"
    keeps = "every item that has ratings; one observation an item and criterion: the mean of its ratings"
    observations = "mean"
    unit = "image or story"

    def items(self, data: Path, pictures: bool = True) -> list[Item]:
        from sightline.io import read_items

        low, high = self.limits()
        items = [grouped(item) for item in read_items(data)]
        for item in items:
            for criterion, values in item.ratings.items():
                for value in values:
                    rating(value, low, high, f"{item.source or data}: item '{item.id}', {criterion}")
        if not any(item.ratings for item in items):
            raise UsageError(
                f'{data}: no item has ratings; write them as "ratings": {{"grounding": [3, 4, 4]}}'
            )
        return items

    def limits(self) -> tuple[float, float]:
        if not self.scale:
            return float("-inf"), float("inf")
        low, dash, high = self.scale.partition("-")
        try:
            found = float(low), float(high)
        except ValueError:
            found = (1.0, 0.0)
        if not dash or found[0] >= found[1]:
            raise UsageError(f"scale={self.scale} is not of the form 1-5")
        return found


def grouped(item: Item) -> Item:
    """The item with what the bootstrap resamples: its given group, else its pictures, else itself."""
    if "group" in item.extra:
        return item
    group = "\x1f".join(map(str, item.images)) or item.id
    return replace(item, extra={**item.extra, "group": group})


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
