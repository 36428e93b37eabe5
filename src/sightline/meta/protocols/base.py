"""What a protocol is: the rows of a study that are kept, their references, what one observation is."""

import gzip
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, TypedDict, TypeVar

import pyarrow.parquet as pq

from sightline.errors import UsageError
from sightline.items import Item
from sightline.meta.ratings import Scale
from sightline.registry import Registry, build, parse_spec

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
    """The first of the files that the data folder has."""
    if not data.is_dir():
        raise UsageError(f"{data} is no folder; --data names the folder that holds {names[0]}")
    for name in names:
        if (data / name).is_file():
            return data / name
    raise UsageError(f"{data} has no {' or '.join(names)}")


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Numbered lines of a text file, gzipped or not."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as found:
            for number, line in enumerate(found, 1):
                yield number, line.decode("utf-8").rstrip("\r\n")
    except (OSError, EOFError, UnicodeDecodeError) as fault:
        raise UsageError(f"{path}: cannot be read ({fault})") from None


def columns(path: Path, count: int) -> Iterator[tuple[int, list[str]]]:
    """Numbered rows of a tab-separated file, each of exactly `count` columns; empty lines are passed over."""
    for number, line in lines(path):
        if not line.strip():
            continue
        row = line.split("\t")
        if len(row) != count:
            raise UsageError(f"{path}, line {number}: {len(row)} columns instead of {count}")
        yield number, row


def objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Numbered objects of a JSON Lines file; empty lines are passed over."""
    for number, line in lines(path):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
        except json.JSONDecodeError as fault:
            raise UsageError(f"{path}, line {number}: not JSON ({fault})") from None
        if not isinstance(found, dict):
            raise UsageError(f"{path}, line {number}: not a JSON object")
        yield number, found


def field(row: Mapping[str, Any], name: str, where: str) -> Any:
    """What a row says under a name, or a clear complaint that it says nothing."""
    if row.get(name) is None:
        raise UsageError(f"{where}: no '{name}'")
    return row[name]


def text_field(row: Mapping[str, Any], name: str, where: str) -> str:
    found = field(row, name, where)
    if not isinstance(found, str):
        raise UsageError(f"{where}: '{name}' is not text")
    return found


def texts_field(row: Mapping[str, Any], name: str, where: str) -> tuple[str, ...]:
    found = field(row, name, where)
    if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
        raise UsageError(f"{where}: '{name}' is not a list of texts")
    return tuple(found)


def rating(value: Any, low: float, high: float, where: str) -> float:
    """A rating within the scale, or a clear complaint."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise UsageError(f"{where}: '{value}' is not a rating") from None
    if not low <= number <= high:
        raise UsageError(f"{where}: rating {number:g} is outside the scale from {low:g} to {high:g}")
    return number


def picture_folder(parquet: Path) -> Path:
    """Where the pictures of a Parquet file are put: in the cache, one folder for each state of the file."""
    from sightline.pipeline.settings import default_cache

    state = parquet.stat()
    return default_cache() / "pictures" / f"{parquet.stem}-{state.st_size}-{state.st_mtime_ns}"


def extract_pictures(parquet: Path, key: str, wanted: Sequence[str]) -> None:
    """Put the named pictures of a Parquet file (column `image`, named by `key`) into its folder, once."""
    folder = picture_folder(parquet)
    missing = {name for name in wanted if not (folder / f"{name}.webp").is_file()}
    if not missing:
        return
    folder.mkdir(parents=True, exist_ok=True)
    with pq.ParquetFile(parquet) as found:
        for batch in found.iter_batches(64, columns=[key, "image"]):
            for name, data in zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True):
                if str(name) in missing:
                    part = folder / f"{name}.part"
                    part.write_bytes(data)
                    part.rename(folder / f"{name}.webp")
