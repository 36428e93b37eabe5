"""Regions from a published region file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from sightline.errors import Unscorable
from sightline.io.region_csv import read_regions
from sightline.items import Box
from sightline.resources import Resource
from sightline.vision.pictures import Picture


@dataclass(frozen=True)
class RegionFile:
    """The first regions that the file lists for a picture, found by the picture's name."""

    resource: Resource
    count: int
    boxes: Mapping[str, list[Box]]
    by_name: ClassVar[bool] = True

    @classmethod
    def open(cls, path: Path, count: int) -> "RegionFile":
        resource = Resource.file(path).ahead()
        boxes: dict[str, list[Box]] = {}
        for id, box in read_regions(path):
            known = boxes.setdefault(id, [])
            if len(known) < count:
                known.append(box)
        return cls(resource, count, boxes)

    @property
    def signature(self) -> str:
        return f"boxes-{self.count}@{self.resource.digest}"

    def propose(self, pictures: Sequence[Picture]) -> list[list[Box]]:
        return [self._of(picture) for picture in pictures]

    def _of(self, picture: Picture) -> list[Box]:
        path = picture.path
        for name in (path.stem, path.name, f"{path.parent.name}/{path.name}"):
            if name in self.boxes:
                return self.boxes[name]
        raise Unscorable(f"{path}: the region file has no region for image_id '{path.stem}'")
