"""What the readers of published data sets share: pictures lie in one folder and are found by their ids."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sightline.errors import BadLine, UsageError
from sightline.io.base import Found, Reader, checked
from sightline.io.items import NO_NAMES
from sightline.io.source import Source, naming

SUFFIXES = (".jpg", ".png", ".jpeg", ".webp", ".gif")


@dataclass(frozen=True)
class Published(Reader):
    """Base of these readers. `images` is the folder of pictures: as given, else `images` beside the file."""

    images: Path | None = None

    def album(self, source: Source) -> "Album":
        if self.images is not None:
            if not self.images.is_dir():
                raise UsageError(f"images={self.images}: there is no such folder")
            return Album(self.images)
        beside = source.folder / "images"
        return Album(beside if beside.is_dir() else source.folder)


@dataclass(frozen=True)
class Album:
    """A folder of pictures. An id from a file never leads out of it."""

    folder: Path

    def find(self, place: str, *names: str) -> str:
        """The path of the first of these names that is there, whatever its extension; else of the first name.

        A name has at most one folder in it. Raises ValueError where it is anything but a plain name, with the
        place that the names are from, such as "field 'image'".
        """
        with naming(place):
            paths = [self._path(name) for name in names]
        for path in paths:
            for candidate in (path, *(path.with_name(path.name + suffix) for suffix in SUFFIXES)):
                if candidate.is_file():
                    return str(candidate.absolute())
        first = paths[0]
        return str((first if first.suffix else first.with_name(first.name + ".jpg")).absolute())

    def _path(self, name: str) -> Path:
        parts = name.split("/")
        plain = all(part.strip() not in ("", ".", "..") for part in parts)
        if len(parts) > 2 or not plain or any(bad in name for bad in ("\\", "\0", ":")) or len(name) > 200:
            raise ValueError(f"'{name[:80]}' is not the name of a picture")
        return self.folder / name


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
