"""Vectors that were computed before, by whatever model: `vectors:FILE`.

The file is JSON Lines, CSV or Parquet with a row for each picture (`image`, `vector`) and each text (`text`, `vector`).
A picture goes by its file's name, or by the end of its path where names are not enough; a text by its words, without
any prompt. Regions have rows with a `box` of four numbers.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from sightline.encoders.base import Vectors, encoders, unit
from sightline.encoders.calibration import Calibration
from sightline.errors import Unscorable, UsageError
from sightline.io.source import parse_json
from sightline.io.table import read_rows
from sightline.items import Box
from sightline.resources import Resource
from sightline.vision.pictures import Picture


@encoders.add("vectors")
def vectors(argument: str) -> "GivenVectors":
    """Vectors computed before: `vectors:FILE`, a row per picture (`image`, `vector`) and text (`text`, `vector`)."""
    if not argument:
        raise UsageError("--encoder vectors needs a file: vectors:FILE.jsonl, .csv or .parquet")
    return GivenVectors(Path(argument))


class GivenVectors:
    """Looks vectors up; a picture or text that has none cannot be scored."""

    def __init__(self, path: Path) -> None:
        self.resource = Resource.file(path).ahead()
        self._path = path
        self._texts: dict[str, Vectors] = {}
        self._pictures: dict[str, list[tuple[str, Box | None, Vectors]]] = {}
        for where, row in read_rows(path, ("vector",)):
            self._take(row, where)
        if not self._texts or not self._pictures:
            raise UsageError(f"{path}: it needs rows with image and vector, and rows with text and vector")
        self.calibration = Calibration()

    @property
    def dimensions(self) -> int:
        return len(next(iter(self._texts.values())))

    @property
    def signature(self) -> str:
        return f"vectors@{self.resource.digest}"

    def truncated(self, text: str) -> bool:
        """What was read is not known here."""
        return False

    def encode_texts(self, texts: Sequence[str]) -> Vectors:
        return self._stacked([self._text(text) for text in texts])

    def encode_images(self, images: Sequence[Image.Image]) -> Vectors:
        raise TypeError("pictures are known by their files")

    def encode_regions(self, regions: Sequence[tuple[Picture, Box | None]]) -> Vectors:
        return self._stacked([self._picture(picture.path, box) for picture, box in regions])

    def _text(self, text: str) -> Vectors:
        if text not in self._texts:
            raise Unscorable(f"{self._path} has no vector of the text '{text[:60]}'")
        return self._texts[text]

    def _picture(self, path: Path, box: Box | None) -> Vectors:
        place = path.as_posix()
        for name, own, row in self._pictures.get(path.name, ()):
            if _same(box, own) and (place == name or place.endswith(f"/{name}")):
                return row
        region = "" if box is None else f" and the region [{', '.join(f'{edge:g}' for edge in box)}]"
        raise Unscorable(f"{self._path} has no vector of the picture {path.name}{region}")

    def _stacked(self, rows: list[Vectors]) -> Vectors:
        return np.stack(rows) if rows else np.zeros((0, self.dimensions), np.float32)

    def _take(self, row: dict[str, Any], where: str) -> None:
        vector = _numbers(row["vector"], where, "vector")
        known = next(iter(self._texts.values()), vector)
        if vector.shape != known.shape or not len(vector):
            raise UsageError(f"{where}: a vector of {len(vector)} numbers beside others of {len(known)}")
        if (text := row.get("text")) is not None:
            self._texts[str(text)] = unit(vector)
        if (image := row.get("image")) is not None:
            name = Path(str(image)).as_posix()
            box = row.get("box")
            edges = None if box is None or box == "" else _numbers(box, where, "box")
            if edges is not None and edges.shape != (4,):
                raise UsageError(f"{where}: a box is four numbers [x0, y0, x1, y1]")
            own = None if edges is None else tuple(float(edge) for edge in edges)
            self._pictures.setdefault(Path(name).name, []).append((name, own, unit(vector)))  # type: ignore[arg-type]
        if text is None and image is None:
            raise UsageError(f"{where}: neither 'image' nor 'text' says what the vector is of")


def _numbers(given: Any, where: str, name: str) -> Vectors:
    """A list of numbers, in a cell of CSV as JSON."""
    try:
        found = np.asarray(parse_json(given) if isinstance(given, str) else given, np.float32)
    except (ValueError, TypeError):
        found = np.zeros((0, 0), np.float32)
    if found.ndim != 1 or not np.isfinite(found).all():
        raise UsageError(f"{where}: '{name}' is not a list of numbers")
    return found


def _same(one: Box | None, other: Box | None) -> bool:
    if one is None or other is None:
        return one is other
    return bool(np.allclose(one, other, atol=0.5))
