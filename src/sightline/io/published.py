"""What the readers of published data sets share: pictures lie in one folder and are found by their ids."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from sightline.errors import BadLine, UsageError
from sightline.io.base import Found, Reader, checked
from sightline.io.items import NO_NAMES
from sightline.io.picture_table import unpacked
from sightline.io.source import Source, naming

SUFFIXES = (".jpg", ".png", ".jpeg", ".webp", ".gif")
FOLDERS = (
    *("images", "Images", "coco", "COCO", "mscoco", "val2014", "train2014", "val2017", "train2017"),
    *(
        "flickr8k",
        "Flicker8k_Dataset",
        "Flickr8k_Dataset",
        "flickr30k",
        "flickr30k_images",
        "flickr30k-images",
    ),
)
"""What the archives of the data sets' pictures unpack to; pictures are also looked for in these, one in another too."""
COCO = re.compile(r"(?:COCO_\w+2014_)?(\d+)(?:\.\w+)?")
"""A picture of COCO: the name of its file, or its bare id."""


@dataclass(frozen=True)
class Published(Reader):
    """Base of these readers. `images` is the folder of pictures (or a Parquet file that holds them): as given, else
    `images` beside the file."""

    images: Path | None = None

    def album(self, source: Source) -> "Album":
        if self.images is not None:
            return Album.at(self.images)
        beside = source.folder / "images"
        return Album(beside if beside.is_dir() else source.folder)


@dataclass(frozen=True)
class Album:
    """A folder of pictures. An id from a file never leads out of it."""

    folder: Path
    _files: dict[str, frozenset[str]] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def at(cls, path: Path) -> "Album":
        """The pictures of a folder, or of a Parquet file."""
        if path.is_file():
            return cls(unpacked(path))
        if not path.is_dir():
            raise UsageError(f"images={path}: there is no such folder")
        return cls(path)

    def find(self, place: str, *names: str) -> str:
        """The path of the first of these names that is there, whatever its extension; else of the first name.

        A name has at most one folder in it. Raises ValueError where it is anything but a plain name, with the
        place that the names are from, such as "field 'image'".
        """
        with naming(place):
            for name in names:
                _check_name(name)
        for name in names:
            inner, _, last = name.rpartition("/")
            for folder in self._folders:
                files = self._files_in(f"{folder}/{inner}" if inner else folder)
                for suffix in ("", *SUFFIXES) if files else ():
                    if last + suffix in files:
                        return f"{folder}/{name}{suffix}"
        first = f"{self._folders[0]}/{names[0]}"
        return first if "." in names[0].rpartition("/")[2][1:] else f"{first}.jpg"

    @cached_property
    def _folders(self) -> list[str]:
        """The folder, those of the data sets' archives that lie in it, and those in these."""
        outer = _known_in(self.folder)
        inner = [path for folder in outer for path in _known_in(folder)]
        return [str(path.absolute()) for path in (self.folder, *outer, *inner)]

    def _files_in(self, folder: str) -> frozenset[str]:
        """The names in a folder, listed once; none where there is no such folder."""
        if folder not in self._files:
            try:
                with os.scandir(folder) as found:
                    self._files[folder] = frozenset(entry.name for entry in found if entry.is_file())
            except OSError:
                self._files[folder] = frozenset()
        return self._files[folder]


def _known_in(folder: Path) -> list[Path]:
    """Folders of the data sets' archives in a folder; once each where the file system knows no capitals."""
    try:
        there = {entry.name for entry in os.scandir(folder) if entry.is_dir()}
    except OSError:
        there = set()
    return [folder / name for name in FOLDERS if name in there]


def _check_name(name: str) -> None:
    parts = name.split("/")
    plain = all(part.strip() not in ("", ".", "..") for part in parts)
    if len(parts) > 2 or not plain or any(bad in name for bad in ("\\", "\0", ":")) or len(name) > 200:
        raise ValueError(f"'{name[:80]}' is not the name of a picture")


def coco_names(name: str) -> tuple[str, ...]:
    """What the file of a COCO picture may be called, from its file name or id; the name itself where it is no such."""
    found = COCO.fullmatch(name)
    if found is None:
        return (name,)
    padded = found[1].lstrip("0").zfill(12)
    files = (f"COCO_{split}2014_{padded}" for split in ("val", "train"))
    given = () if name.isdecimal() else (name,)
    return tuple(dict.fromkeys((*given, padded, *files, padded.lstrip("0") or "0")))


def last_parts(path: str, count: int = 1) -> str:
    """The last names of a path or address: what is left of it in a folder of downloaded pictures."""
    return "/".join(path.split("?")[0].replace("\\", "/").rstrip("/").split("/")[-count:])


def id_in(record: Mapping[str, Any], field: str) -> str:
    """The id in this field; it may be written as a number."""
    value = record.get(field)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 64:
        return str(value)
    if isinstance(value, str) and value.strip():
        return value
    raise ValueError(f"field '{field}': is missing or no id")


def as_number(cell: str) -> float:
    """The number in a cell of a table."""
    try:
        return float(cell)
    except ValueError:
        raise ValueError(f"'{cell[:80]}' is not a number") from None


def objects_in(source: Source, found: Any, name: str) -> Iterator[tuple[str, dict[str, Any] | BadLine]]:
    """Where and what for every object of a list in a JSON document."""
    if not isinstance(found, list):
        raise UsageError(f"{source.path}: {name} is not a list")
    for number, one in enumerate(found):
        where = f"{source.path}: {name}[{number}]"
        yield where, one if isinstance(one, dict) else BadLine(where, "not an object")


def built(
    source: Source,
    where: str,
    id: str,
    images: Sequence[str],
    called: Mapping[str, str] = NO_NAMES,
    **fields: Any,
) -> Found:
    """An item of a published data set; `called` is what the file calls the contract's fields."""
    given = {key: value for key, value in fields.items() if value is not None and value != []}
    return checked({"id": id, "images": list(images), **given}, source.folder, where, called)
