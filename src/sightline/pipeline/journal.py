"""The journal of a run: the features of every batch, each safe as soon as it is made, so that a run can go on.

It is a folder of logs, one for each process that works: records are added at the end, each with its digest. A record
that a kill cut short is not there; everything before it is.
"""

import json
import os
import secrets
import shutil
import struct
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from sightline.errors import UnwritableError, UsageError
from sightline.io.results import told, whole
from sightline.pipeline.plan import difference
from sightline.pipeline.wire import FORMAT, decode, encode

ABOUT = "about.json"
_HEAD = struct.Struct("<4sQ16sQI")
_MARK = b"SLB1"


class Row(msgspec.Struct, array_like=True):
    """An item with what is kept of it."""

    item: bytes
    features: bytes
    """What `wire.stored` made, as MessagePack."""
    whole: bool
    """Whether no feature failed."""
    digest: bytes
    content: bytes
    """The two of `wire.Names`."""


BadRow = tuple[str, str, str, str | None]
"""What is no item: id, reason, where it stands, system."""


class Record(msgspec.Struct, array_like=True):
    """A batch: its items, and the lines among them that are none."""

    rows: list[Row]
    bad: list[BadRow]


class Place(NamedTuple):
    """Where a record lies: the log's name, the offset and length of its content."""

    log: str
    offset: int
    length: int
    digest: bytes
    """Of what it was made from."""


class Log:
    """Records of one process, in a folder or in memory."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._kept: list[bytes] = []
        self._name = f"features-{os.getpid()}-{secrets.token_hex(4)}.log"
        self._file: BinaryIO | None = None
        self._open: dict[str, BinaryIO] = {}

    def add(self, number: int, digest: bytes, record: Record) -> Place:
        content = encode(record)
        if self.folder is None:
            self._kept.append(content)
            return Place("", len(self._kept) - 1, len(content), digest)
        path = self.folder / self._name
        try:
            if self._file is None:
                self._file = path.open("ab")
            head = _HEAD.pack(_MARK, number, digest, len(content), zlib.crc32(content))
            start = self._file.tell()
            self._file.write(head + content)
            self._file.flush()
        except OSError as fault:
            self._file = None
            self._name = f"features-{os.getpid()}-{secrets.token_hex(4)}.log"
            raise UnwritableError(f"{path}: cannot write there ({fault.strerror or fault})") from None
        return Place(self._name, start + _HEAD.size, len(content), digest)

    def read(self, place: Place) -> Record:
        if self.folder is None:
            return self._decoded(self._kept[place.offset])
        try:
            file = self._open.get(place.log) or self._opened(place.log)
            file.seek(place.offset - _HEAD.size)
            data = file.read(_HEAD.size + place.length)
            _, _, _, _, seal = _HEAD.unpack_from(data)
            content = data[_HEAD.size :]
            if zlib.crc32(content) != seal:
                raise ValueError("it was damaged")
            return self._decoded(content)
        except (OSError, ValueError, struct.error, msgspec.DecodeError) as fault:
            raise UsageError(
                f"{self.folder / place.log}: cannot be read ({fault}); the same command with --resume goes on"
            ) from None

    def close(self) -> None:
        for file in (self._file, *self._open.values()):
            if file is not None:
                file.close()
        self._file, self._open = None, {}

    def _opened(self, name: str) -> BinaryIO:
        assert self.folder is not None
        if len(self._open) > 100:  # a long history of resumed runs
            self._open.popitem()[1].close()
        self._open[name] = file = (self.folder / name).open("rb")
        return file

    def _decoded(self, content: bytes) -> Record:
        record: Record = decode(content, Record)
        return record


class Journal:
    """The logs of a run, and where the record of each batch lies. With no folder, a run's that is kept in memory."""

    def __init__(self, folder: Path | None, fingerprint: Mapping[str, str]) -> None:
        self.folder = folder
        self._places: dict[int, list[Place]] = {}
        if folder is not None:
            self._check(folder, dict(fingerprint))
        self.log = Log(folder)

    @property
    def is_empty(self) -> bool:
        return not self._places and not (self.folder and any(self.folder.glob("*.log")))

    def earlier(self, number: int) -> list[Place]:
        """Records that may hold items of a batch: those of this number first, then its neighbours'."""
        return [place for near in (number, number - 1, number + 1) for place in self._places.get(near, ())]

    def close(self) -> None:
        self.log.close()

    def delete(self) -> None:
        """The run is done: its results are written, the journal can go."""
        self.close()
        if self.folder is not None:
            self.remove(self.folder)

    @staticmethod
    def remove(folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)

    @staticmethod
    def count(folder: Path) -> int:
        """How many items are safe in a journal's folder."""
        log = Log(folder)
        try:
            return sum(len(log.read(place).rows) for _, place in _scanned(folder))
        finally:
            log.close()

    def _check(self, folder: Path, fingerprint: dict[str, str]) -> None:
        about = folder / ABOUT
        with told(folder):
            folder.mkdir(exist_ok=True)
        if not about.exists():
            for left in folder.iterdir():  # nothing is known of them
                left.unlink()
            with whole(about) as file:
                file.write(json.dumps({"format": FORMAT, "fingerprint": fingerprint}).encode())
            return
        try:
            found = json.loads(about.read_text("utf-8"))
            form, known = found["format"], found["fingerprint"]
        except (OSError, ValueError, KeyError, TypeError) as fault:
            raise UsageError(
                f"{folder}: not a journal of Sightline ({fault}); delete it to start over"
            ) from None
        if form != FORMAT:
            raise UsageError(
                f"{folder} was left by another version of Sightline; start over with --overwrite"
            )
        if given := difference(known, fingerprint):
            raise UsageError(
                f"{folder} belongs to another run: {given}; repeat that one, or start over with --overwrite"
            )
        for number, place in _scanned(folder):
            self._places.setdefault(number, []).append(place)


def _scanned(folder: Path) -> Iterator[tuple[int, Place]]:
    """Number and place of every record that is whole; what lies behind one that is not is lost."""
    for path in sorted(folder.glob("features-*.log"), key=lambda path: path.stat().st_mtime_ns):
        with path.open("rb") as file:
            while len(head := file.read(_HEAD.size)) == _HEAD.size:
                mark, number, digest, length, seal = _HEAD.unpack(head)
                start = file.tell()
                if mark != _MARK or length > path.stat().st_size - start:
                    break
                if zlib.crc32(file.read(length)) == seal:
                    yield number, Place(path.name, start, length, digest)
