"""Where to look in a picture: sources of regions by name."""

from collections.abc import Callable, Sequence
from itertools import chain, count, islice
from pathlib import Path
from typing import Protocol

from sightline.errors import Unscorable, UsageError
from sightline.items import Box
from sightline.registry import Registry
from sightline.vision.pictures import Picture


class RegionSource(Protocol):
    """Proposes regions. What it proposes for a picture does not depend on the other pictures.

    A source with a true `by_name` goes by the file's name instead of what the picture shows; its regions are not
    remembered for other files of the same content.
    """

    @property
    def signature(self) -> str: ...

    def propose(self, pictures: Sequence[Picture]) -> list[list[Box]]:
        """For each picture its regions, in pixels, upright; raises Unscorable where there are none."""
        ...


region_sources: Registry[Callable[[str, int], RegionSource]] = Registry("region source")
"""Factories by name: `detector:NAME` calls the factory `detector` with `NAME` and the regions wanted."""


def load_regions(spec: str, count: int) -> RegionSource:
    """A region source from `name` or `name:argument`."""
    name, _, argument = spec.partition(":")
    return region_sources.get(name.strip())(argument.strip(), count)


def no_argument(name: str, argument: str) -> None:
    if argument:
        raise UsageError(f"--regions {name} takes no argument, but got '{argument}'")


@region_sources.add("windows")
class Windows:
    """A fixed multi-scale set: the whole picture, five windows of 2/3 its sides, its quarters, ninths, …"""

    def __init__(self, argument: str, count: int) -> None:
        no_argument("windows", argument)
        self._windows = list(islice(_windows(), count))

    @property
    def signature(self) -> str:
        return f"windows-{len(self._windows)}"

    def propose(self, pictures: Sequence[Picture]) -> list[list[Box]]:
        return [
            [(x0 * width, y0 * height, x1 * width, y1 * height) for x0, y0, x1, y1 in self._windows]
            for width, height in (picture.size for picture in pictures)
        ]


def _windows() -> "chain[Box]":
    """Windows relative to the picture, large ones first, without end."""
    large = [(0.0, 0.0), (1 / 3, 0.0), (0.0, 1 / 3), (1 / 3, 1 / 3), (1 / 6, 1 / 6)]
    return chain(
        [(0.0, 0.0, 1.0, 1.0)],
        ((x, y, x + 2 / 3, y + 2 / 3) for x, y in large),
        ((c / n, r / n, (c + 1) / n, (r + 1) / n) for n in count(2) for r in range(n) for c in range(n)),
    )


@region_sources.add("boxes")
def boxes(argument: str, count: int) -> RegionSource:
    """Given regions only: each item's own, or those of a published region file (`boxes:FILE.csv`)."""
    if not argument:
        return OwnBoxes()
    from sightline.vision.region_file import RegionFile

    return RegionFile.open(Path(argument), count)


class OwnBoxes:
    """The item's own regions. They never come here; what comes here is an item without."""

    signature = "boxes"
    by_name = True

    def propose(self, pictures: Sequence[Picture]) -> list[list[Box]]:
        raise Unscorable(
            "the item has no regions of its own; give them as 'regions', or choose another --regions"
        )
