"""What a protocol is: the rows of a study that are kept, their references, what one observation is."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, TypedDict, TypeVar

from sightline.errors import BadLine, UsageError
from sightline.io import Reader, TableFile
from sightline.items import Item
from sightline.meta.ratings import Scale
from sightline.registry import Registry, build, parse_spec

COCO, FLICKR8K = "coco_eval.parquet", "flickr8k_eval.parquet"
"""Pictures in one file."""
TEXTS = ("annotations", "Flickr8k_text", "flickr8k", "composite")
"""Folders in which the published archives have their files of text."""
Observations = Literal["each", "mean"]
P = TypeVar("P", bound="type[Protocol]")
protocols: Registry[type["Protocol"]] = Registry("protocol")


class Rules(TypedDict):
    """How a protocol wants its items evaluated: the arguments of `evaluate` that are its own."""

    observations: Observations
    scale: Scale | None
    overall: bool
    agreement: bool


@dataclass(frozen=True)
class Protocol:
    """Base of all protocols. Items carry their ratings; `extra["group"]` is what the bootstrap resamples."""

    name: ClassVar[str]
    source: ClassVar[str]
    """Where the study is published."""
    keeps: ClassVar[str]
    """Exactly which rows are kept, and how many there are."""
    tree: ClassVar[str] = ""
    """What the folder of `--data` holds, a file or folder a line; any one of several names where there is an `or`."""
    observations: ClassVar[Observations]
    """`each`: every single rating is one observation; `mean`: an item's mean rating is."""
    headline: ClassVar[str] = "kendall_c"
    """The coefficient its published tables print."""
    unit: ClassVar[str] = "image"
    """What the bootstrap resamples."""
    low: ClassVar[float] = 1
    high: ClassVar[float]
    overall: ClassVar[bool] = True
    """Whether several criteria are also summed."""
    agreement: ClassVar[bool] = True
    """Whether people are held against each other: not where the rows were selected for their agreement."""

    def declared(self) -> Scale | None:
        """The scale that all ratings are on, where the protocol says it."""
        return (self.low, self.high) if hasattr(self, "high") else None

    def rules(self) -> Rules:
        return {
            "observations": self.observations,
            "scale": self.declared(),
            "overall": self.overall,
            "agreement": self.agreement,
        }

    def items(self, data: Path, pictures: bool = True) -> list[Item]:
        """The rated items. With `pictures`, their files are made ready; else the paths may not exist yet."""
        raise TypeError(f"{self.name} does not say what its items are")

    def read(self, reader: Reader, path: Path) -> Iterator[Item]:
        """A reader's items, where all must be good and every rating on the protocol's scale."""
        for found in reader.read(TableFile(path)):
            if isinstance(found, BadLine):
                raise found
            for values in found.ratings.values():
                for value in values:
                    rating(value, self.low, self.high, found.source)
            yield found


def protocol(name: str) -> Callable[[P], P]:
    """Register a protocol class under a name."""

    def register(cls: P) -> P:
        cls.name = name
        protocols.add(name)(cls)
        return cls

    return register


def make_protocol(spec: str) -> Protocol:
    """A protocol from `name` or `name:key=value`."""
    name, options = parse_spec(spec)
    return build(protocols.get(name), name, options)


def find(data: Path, *names: str) -> Path:
    """The first of the files that the data folder has, plain or gzipped."""
    if not data.is_dir():
        raise UsageError(f"{data} is no folder; --data names the folder that holds {names[0]}")
    if (found := maybe(data, *names)) is None:
        raise UsageError(f"{data} has no {' or '.join(names)}")
    return found


def maybe(data: Path, *names: str) -> Path | None:
    """The first of the files that the data folder has, plain or gzipped; None where it has none of them.

    They may lie in one of the folders that the published archives unpack to.
    """
    folders = [data, *(data / inner for inner in TEXTS)]
    places = (folder / each for name in names for each in (name, f"{name}.gz") for folder in folders)
    return next((place for place in places if place.is_file()), None)


def grouped(item: Item, group: str) -> Item:
    """The item with the name of what the bootstrap resamples."""
    return replace(item, extra={**item.extra, "group": group})


def rating(value: Any, low: float, high: float, where: str) -> float:
    """A rating within the scale, or a clear complaint."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise UsageError(f"{where}: '{value}' is not a rating") from None
    if not low <= number <= high:
        raise UsageError(f"{where}: rating {number:g} is outside the scale from {low:g} to {high:g}")
    return number


def pictures_of(data: Path, parquet: str) -> Path:
    """Where a data set's pictures lie: in one Parquet file, or as files of their own."""
    source = data / parquet
    return source if source.is_file() else data
