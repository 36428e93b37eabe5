"""Pictures small enough to travel inside the report."""

import io
from base64 import b64encode
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from sightline.errors import Unscorable
from sightline.vision.pictures import Pictures

BUDGET = 24 << 20
"""Bytes of pictures that one report may carry; those past it are left out."""

SIZES = ((400, 20_000), (240, 8_000), (140, 3_200))
"""Longest side of a thumbnail, and the bytes to expect of one: the largest at which all fit is taken."""

DECODED = 64 << 20
"""Bytes of decoded pictures kept while thumbnails are made of them."""


@dataclass(frozen=True)
class Thumbnail:
    """A picture's upright size in its own pixels, which boxes refer to, and what can be shown of it."""

    width: int = 0
    height: int = 0
    data: str = ""
    """WebP as base64; empty where the picture cannot be opened or there is no room for it."""
    trouble: str = ""


def side_for(pictures: int) -> int:
    """How large thumbnails may be when there are so many pictures."""
    return next((side for side, size in SIZES if pictures * size <= BUDGET), SIZES[-1][0])


class Thumbnails:
    """Makes thumbnails, each picture's once, until the budget is used up."""

    def __init__(self, pictures: int) -> None:
        self._side = side_for(pictures)
        self._left = BUDGET
        self._known: dict[Path, tuple[int, Thumbnail]] = {}
        self._pictures = Pictures(DECODED)

    def add(self, paths: Iterable[Path]) -> list[tuple[int, str]]:
        """Make those that are new, and return their numbers and data; what is returned is not kept."""
        fresh = [path for path in dict.fromkeys(paths) if path not in self._known]
        added: list[tuple[int, str]] = []
        with ThreadPoolExecutor(4) as pool:
            for path, made in zip(fresh, pool.map(self._make, fresh), strict=True):
                number = len(self._known)
                self._known[path] = (number, replace(made, data=""))
                if made.data:
                    self._left -= len(made.data)
                    added.append((number, made.data))
        return added

    def __getitem__(self, path: Path) -> tuple[int, Thumbnail]:
        """A picture's number and size; its data went out when it was added."""
        return self._known[path]

    def _make(self, path: Path) -> Thumbnail:
        if self._left <= 0:
            return Thumbnail(trouble="left out to keep the report small")
        try:
            picture = self._pictures.load(path)
            small = picture.crop().copy()
        except Unscorable as reason:
            return Thumbnail(trouble=str(reason))
        small.thumbnail((self._side, self._side))
        out = io.BytesIO()
        small.save(out, "WEBP", quality=72, method=2)
        return Thumbnail(*picture.size, b64encode(out.getvalue()).decode("ascii"))
