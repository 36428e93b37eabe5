"""Pictures small enough to travel inside the report."""

import io
from base64 import b64encode
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from PIL import Image, ImageOps

BUDGET = 24 << 20
"""Bytes of pictures that one report may carry. Stories past it show their boxes on an empty frame."""

SIZES = ((400, 20_000), (240, 8_000), (140, 3_200))
"""Longest side of a thumbnail, and the bytes to expect of one: the largest at which all fit is taken."""


@dataclass(frozen=True)
class Thumbnail:
    """A picture's upright size in its own pixels, which boxes refer to, and what can be shown of it."""

    width: int
    height: int
    data: str = ""
    """WebP as base64; empty where the picture cannot be opened or there is no room for it."""
    trouble: str = ""


def side_for(pictures: int) -> int:
    """How large thumbnails may be when there are so many pictures."""
    return next((side for side, size in SIZES if pictures * size <= BUDGET), SIZES[-1][0])


class Thumbnails:
    """Makes thumbnails, each picture's once, until the budget is used up; from then on, sizes only."""

    def __init__(self, pictures: int) -> None:
        self._side = side_for(pictures)
        self._left = BUDGET
        self._known: dict[Path, tuple[int, Thumbnail]] = {}

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
        return thumbnail(path, self._side if self._left > 0 else 0)


def thumbnail(path: Path, side: int) -> Thumbnail:
    """A picture's thumbnail; a side of 0 asks for its size alone."""
    try:
        with Image.open(path) as opened:
            turned = opened.getexif().get(0x0112, 1) in (5, 6, 7, 8)
            width, height = opened.size[::-1] if turned else opened.size
            if not side:
                return Thumbnail(width, height, trouble="left out to keep the report small")
            opened.draft("RGB", (2 * side, 2 * side))
            small = ImageOps.exif_transpose(opened).convert("RGB")
            small.thumbnail((side, side))
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as fault:
        return Thumbnail(4, 3, trouble=f"cannot be shown: {type(fault).__name__}")
    out = io.BytesIO()
    small.save(out, "WEBP", quality=72, method=4)
    return Thumbnail(width, height, b64encode(out.getvalue()).decode("ascii"))
