"""Items and features as bytes: MessagePack, no pickles. What somebody else wrote can be wrong but cannot run code."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from sightline.errors import Unscorable
from sightline.features.base import Feature, Features, document
from sightline.items import Item

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


def restored(item: Item, kept: Sequence[Feature[Any]], features: Sequence[Stored]) -> Features:
    """An item with the features that were stored of it."""
    values: Mapping[Feature[Any], Any] = {
        feature: Unscorable(one.reason or "") if one.value is None else decode(one.value, feature.value)
        for feature, one in zip(kept, features, strict=True)
    }
    return Features(item, values)


class Names:
    """Digests of an item: of what its features depend on, and of what it says wherever it lies."""

    def __init__(self, item: Item) -> None:
        told = encode(replace(item, source="", images=()))
        states = list(_states(item.images))
        paths = encode(([str(path) for path in item.images], states))
        sizes = encode(([path.name for path in item.images], [size for size, _ in states]))
        self.features = hashlib.blake2b(told + paths, digest_size=16).digest()
        """Of the item and the state of its picture files."""
        self.content = hashlib.blake2b(told + sizes, digest_size=16).digest()
        """Of the item, its pictures by name and size."""


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
