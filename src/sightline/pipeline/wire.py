"""Items and features as bytes: MessagePack, no pickles. What somebody else wrote can be wrong but cannot run code."""

import hashlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np

from sightline.errors import Unscorable
from sightline.features.base import Feature, Features, document
from sightline.items import Item

V = TypeVar("V")

FORMAT = 4
"""Of what is stored between runs; what is of another form is refused, not misread."""


def _to_wire(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return {"dtype": value.dtype.str, "shape": value.shape, "data": value.tobytes()}
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(
        f"a {type(value).__name__} cannot be stored in the journal"
    )  # what msgspec expects


def _from_wire(kind: Any, value: Any) -> Any:
    if kind is np.ndarray or getattr(kind, "__origin__", None) is np.ndarray:
        return np.frombuffer(value["data"], np.dtype(value["dtype"])).reshape(value["shape"])
    if isinstance(kind, type) and issubclass(kind, Path):
        return Path(value)
    raise NotImplementedError(f"a {kind} cannot be read from the journal")


encode = msgspec.msgpack.Encoder(enc_hook=_to_wire).encode


@lru_cache(maxsize=256)
def _decoder(kind: Any) -> Any:
    return msgspec.msgpack.Decoder(kind, dec_hook=_from_wire)


def decode(data: bytes, kind: Any) -> Any:
    return _decoder(kind).decode(data)


class Stored(msgspec.Struct, frozen=True):
    """One feature on disk: its value, or the reason why there is none."""

    value: bytes | None = None
    reason: str | None = None


def stored(got: Features, kept: Sequence[Feature[Any]]) -> tuple[list[Stored], bool]:
    """The features kept of an item, and whether all of them are there."""
    found, whole = [], True
    for feature in kept:
        failure = got.failure(feature)
        whole = whole and failure is None
        found.append(Stored(value=encode(got[feature])) if failure is None else Stored(reason=str(failure)))
    return found, whole


class StoredFeatures(Features):
    """An item with the features that were stored of it, each read when it is asked for."""

    __slots__ = ("_data", "_item", "_stored")

    def __init__(self, item: bytes, kept: Sequence[Feature[Any]], features: bytes) -> None:
        self._data = item
        self._item: Item | None = None
        self._stored = dict(zip(kept, decode(features, list[Stored]), strict=True))
        self._values: dict[Feature[Any], Any] = {}
        self.again = ()

    @property
    def item(self) -> Item:  # type: ignore[override]
        if self._item is None:
            self._item = decode(self._data, Item)
        return self._item

    def __getitem__(self, feature: Feature[V]) -> V:
        if feature not in self._values:
            one = self._stored[feature]
            if one.value is None:
                raise Unscorable(one.reason or "")
            self._values[feature] = decode(one.value, feature.value)
        value: V = self._values[feature]
        return value

    def __contains__(self, feature: Feature[Any]) -> bool:
        return feature in self._stored

    def failure(self, feature: Feature[Any]) -> Unscorable | None:
        one = self._stored[feature]
        return Unscorable(one.reason or "") if one.value is None else None


class Names:
    """Digests of an item: of what its features depend on, and of what it says wherever it lies."""

    def __init__(self, item: Item) -> None:
        told = encode(
            (
                item.id,
                item.system,
                item.text,
                item.sentences,
                item.references,
                item.ratings,
                item.regions,
                item.extra,
            )
        )
        states = list(_states(item.images))
        paths = encode(([str(path) for path in item.images], states))
        self.features = hashlib.blake2b(told + paths, digest_size=16).digest()
        """Of the item and the state of its picture files."""
        self.content = self.features
        """Of the item, its pictures by name and size."""
        if item.images:
            sizes = encode(([path.name for path in item.images], [size for size, _ in states]))
            self.content = hashlib.blake2b(told + sizes, digest_size=16).digest()


def _states(images: Sequence[Path]) -> Iterator[tuple[int, int]]:
    for path in images:
        try:
            state = path.stat()
            yield state.st_size, state.st_mtime_ns
        except (OSError, ValueError):
            yield -1, -1


def key_hash(item: Item) -> int:
    """Of id and system: equal ones have equal hashes, different ones almost never."""
    return short_hash(repr(item.key))


def document_hash(item: Item) -> int:
    """Of id and references; never 0."""
    return int(document(item)[:16], 16) or 1


def short_hash(text: str) -> int:
    return int.from_bytes(
        hashlib.blake2b(text.encode("utf-8", "backslashreplace"), digest_size=8).digest(), "little"
    )


class InputDigest:
    """Tells one input from another by content: items in any order, pictures by name and size."""

    def __init__(self) -> None:
        self.total = 0

    def add(self, content: bytes) -> None:
        self.total += int.from_bytes(content)

    def __str__(self) -> str:
        return f"{self.total % (1 << 128):032x}"
