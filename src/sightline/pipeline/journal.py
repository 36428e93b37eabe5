"""The journal of a run: every item with the features computed of it, durable batch by batch, so that a run can go on.

Features are stored as MessagePack, never as pickles: a journal from somebody else can be wrong but cannot run code.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from sightline.errors import Unscorable, UsageError
from sightline.features.base import Feature, Features
from sightline.io.mounts import journal_mode
from sightline.items import Item, Key
from sightline.pipeline.plan import difference

FORMAT = 3
"""What a journal looks like; one that looks otherwise is refused, not misread."""


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


def encode(value: Any) -> bytes:
    return msgspec.msgpack.encode(value, enc_hook=_to_wire)


def decode(data: bytes, kind: Any) -> Any:
    return msgspec.msgpack.decode(data, type=kind, dec_hook=_from_wire)


@dataclass(frozen=True)
class Stored:
    """One feature on disk: its value, or the reason why there is none."""

    value: bytes | None = None
    reason: str | None = None


def _refuse_other_forms(path: Path | None, db: sqlite3.Connection) -> None:
    (form,) = db.execute("PRAGMA user_version").fetchone()
    if form != FORMAT and db.execute("SELECT 1 FROM sqlite_master").fetchone():
        raise UsageError(f"{path} was left by another version of Sightline; start over with --overwrite")


class Journal:
    """Items and their features in the order they came, in a SQLite file (or in memory)."""

    def __init__(self, path: Path | None, fingerprint: Mapping[str, str]) -> None:
        self.path = path
        try:
            self._db = sqlite3.connect(":memory:" if path is None else str(path))
            _refuse_other_forms(path, self._db)
            self._db.execute(f"PRAGMA journal_mode={journal_mode(path) if path else 'MEMORY'}")
            self._db.execute("PRAGMA synchronous=FULL")
            self._db.execute(f"PRAGMA user_version={FORMAT}")
            self._db.execute("CREATE TABLE IF NOT EXISTS about (fingerprint TEXT)")
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS entry "
                "(key TEXT PRIMARY KEY, place INTEGER, digest TEXT, whole INTEGER, item BLOB, features BLOB)"
            )
            self._db.execute("CREATE INDEX IF NOT EXISTS by_place ON entry (place)")
            known = self._db.execute("SELECT fingerprint FROM about").fetchone()
        except sqlite3.OperationalError as fault:
            raise UsageError(f"{path}: cannot write there ({fault})") from None
        except sqlite3.DatabaseError as fault:
            raise UsageError(
                f"{path}: not a journal of Sightline ({fault}); delete it to start over"
            ) from None
        if known is None:
            self._db.execute("INSERT INTO about VALUES (?)", (json.dumps(dict(fingerprint)),))
            self._db.commit()
        elif told := difference(json.loads(known[0]), fingerprint):
            raise UsageError(
                f"{path} belongs to another run: {told}; repeat that one, or start over with --overwrite"
            )

    def renew(self, batch: Sequence[tuple[int, Features]]) -> set[Key]:
        """The keys of those items that are here, unchanged and without a failure. They take their new places."""
        known: dict[Key, tuple[int, str]] = {}
        for place, got in batch:
            key = _key(got.item)
            row = self._db.execute("SELECT digest, whole FROM entry WHERE key = ?", (key,)).fetchone()
            if row is not None and row[1] and row[0] == digest(got.item):
                known[got.item.key] = (place, key)
        if known:
            with self._db:
                self._db.executemany("UPDATE entry SET place = ? WHERE key = ?", known.values())
        return set(known)

    @property
    def is_empty(self) -> bool:
        return self._db.execute("SELECT 1 FROM entry LIMIT 1").fetchone() is None

    def add(self, batch: Sequence[tuple[int, Features]], kept: Sequence[Feature[Any]]) -> None:
        """Store a batch, all of it or nothing."""
        rows = []
        for place, got in batch:
            failures = {feature: got.failure(feature) for feature in kept}
            stored = [
                Stored(reason=str(failures[feature]))
                if failures[feature]
                else Stored(value=encode(got[feature]))
                for feature in kept
            ]
            whole = not any(failures.values())
            rows.append((_key(got.item), place, digest(got.item), whole, encode(got.item), encode(stored)))
        with self._db:
            self._db.executemany("INSERT OR REPLACE INTO entry VALUES (?, ?, ?, ?, ?, ?)", rows)

    def read(self, kept: Sequence[Feature[Any]], places: int) -> Iterator[Features]:
        """Every item with the features kept of it, in order; those of an earlier input (beyond `places`) left out."""
        for item, features in self.rows(places):
            got = Features(decode(item, Item))
            for feature, stored in zip(kept, features, strict=True):
                got.put(
                    feature,
                    Unscorable(stored.reason)
                    if stored.value is None
                    else decode(stored.value, feature.value),
                )
            yield got

    def rows(self, places: int) -> Iterator[tuple[bytes, list[Stored]]]:
        """Every item and its features as they are stored, in order."""
        rows = self._db.cursor().execute(
            "SELECT item, features FROM entry WHERE place >= 0 AND place < ? ORDER BY place", (places,)
        )
        for item, features in rows:
            yield item, decode(features, list[Stored])

    def items(self, places: int) -> Iterator[Item]:
        rows = self._db.cursor().execute(
            "SELECT item FROM entry WHERE place >= 0 AND place < ? ORDER BY place", (places,)
        )
        for (item,) in rows:
            yield decode(item, Item)

    def forget_order(self) -> None:
        """Before a resumed run reads its input again: what is not found there any more is not scored."""
        with self._db:
            self._db.execute("UPDATE entry SET place = -1")

    def close(self) -> None:
        self._db.close()

    def delete(self) -> None:
        """The run is done: its results are written, the journal can go."""
        self.close()
        if self.path is not None:
            self.remove(self.path)

    @staticmethod
    def remove(path: Path) -> None:
        for suffix in ("", "-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)


def _key(item: Item) -> str:
    """Id and system as one text."""
    return json.dumps(item.key)


@dataclass
class InputDigest:
    """Tells one input from another by content: items in any order, pictures by name and size."""

    total: int = 0

    def add(self, item: Item) -> None:
        sizes = [_size(path) for path in item.images]
        content = encode((replace(item, source="", images=()), [path.name for path in item.images], sizes))
        self.total += int.from_bytes(hashlib.blake2b(content, digest_size=16).digest())

    def __str__(self) -> str:
        return f"{self.total % (1 << 128):032x}"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except (OSError, ValueError):
        return -1


def digest(item: Item) -> str:
    """What the features depend on: the item and the state of its picture files."""
    files = []
    for path in item.images:
        try:
            state = path.stat()
            files.append((state.st_size, state.st_mtime_ns))
        except OSError:
            files.append((-1, -1))
    return hashlib.blake2b(encode((replace(item, source=""), files)), digest_size=16).hexdigest()
