"""The cache on disk: vectors and regions by content and signature, in one SQLite file that processes may share.

Every row is sealed with a digest of its key and value. What does not answer to its seal is not there: it is computed
again. A cache that cannot be read or written is left aside and the run goes on: a cache never changes a score.
"""

import hashlib
import logging
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from sightline.errors import UsageError
from sightline.io.mounts import journal_mode

FORM = 3
"""Of the file: one of another form is refused, not misread."""

LIMIT = 4 << 30
"""Bytes the cache may grow to; past it, the oldest half goes."""

FILE = "cache.sqlite"
SEAL = 8
"""Bytes of digest before each value."""

AT_ONCE = 500
"""Keys asked for in one statement."""

TRIALS = 250
"""To open a file that another process opens too, 20 ms apart."""

FAULTS = (OSError, sqlite3.Error, UnicodeDecodeError)
"""What a damaged or a full file leads to; the last where SQLite quotes damaged text in its message."""

log = logging.getLogger("sightline.cache")


def seal(key: str, value: bytes) -> bytes:
    """Tells a row's value from one that was damaged, and from another key's."""
    return hashlib.blake2b(b"%s\0%s" % (key.encode("utf-8", "replace"), value), digest_size=SEAL).digest()


@dataclass(frozen=True)
class CacheCheck:
    """What a look at every row found."""

    rows: int
    damaged: int
    whole: bool
    """Whether the file itself is sound; one that is not was made anew, empty."""


class Cache:
    """Key to bytes. A path of None keeps everything in memory for the run."""

    def __init__(self, folder: Path | None, limit: int = LIMIT) -> None:
        self._lock = threading.Lock()
        self.place = None if folder is None else folder / FILE
        self.damaged = 0
        """Rows found damaged so far; what they held is computed again."""
        self._db = self._memory()
        if self.place is not None:
            try:
                self.place.parent.mkdir(parents=True, exist_ok=True)
                self._db = _open(self.place)
                _prune(self._db, limit)
            except FAULTS as fault:
                self._leave_aside(fault)

    def get_many(self, keys: Sequence[str]) -> dict[str, bytes]:
        """The values that are there; what is damaged is not."""
        found: dict[str, bytes] = {}
        with self._lock:
            try:
                for key, row in self._rows(keys):
                    if _holds(key, row):
                        found[key] = row[SEAL:]
                    else:
                        self._tell_damage()
            except FAULTS as fault:
                self._leave_aside(fault)
        return found

    def put_many(self, pairs: Sequence[tuple[str, bytes]]) -> None:
        rows = [(key, seal(key, value) + value) for key, value in pairs]
        with self._lock:
            try:
                self._put(rows)
            except FAULTS as fault:
                self._leave_aside(fault)
                self._put(rows)

    def close(self) -> None:
        self._db.close()

    def _rows(self, keys: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        for start in range(0, len(keys), AT_ONCE):
            part = keys[start : start + AT_ONCE]
            marks = ",".join("?" * len(part))
            yield from self._db.execute(f"SELECT key, value FROM entry WHERE key IN ({marks})", part)

    def _put(self, rows: Sequence[tuple[str, bytes]]) -> None:
        with self._db:
            self._db.executemany("INSERT OR REPLACE INTO entry VALUES (?, ?)", rows)

    def _leave_aside(self, fault: Exception) -> None:
        """The file cannot be used: the rest of the run keeps in memory what it computes."""
        log.warning(
            "the cache at %s is left aside for this run (%s); 'sightline cache --verify' looks at it",
            self.place,
            fault,
        )
        with suppress(sqlite3.Error):
            self._db.close()
        self._db = self._memory()

    def _memory(self) -> sqlite3.Connection:
        db = sqlite3.connect(":memory:", check_same_thread=False)
        _prepare(db, None)
        return db

    def _tell_damage(self) -> None:
        if not self.damaged:
            log.warning(
                "the cache at %s holds damaged rows; what they held is computed again", self.place or "memory"
            )
        self.damaged += 1


def _holds(key: object, row: object) -> bool:
    """Whether a row is what was put there."""
    return isinstance(key, str) and isinstance(row, bytes) and seal(key, row[SEAL:]) == row[:SEAL]


def _open(place: Path) -> sqlite3.Connection:
    """Raises UsageError where the file is of another version."""
    db = sqlite3.connect(str(place), check_same_thread=False, timeout=60)
    try:
        _set_mode(db, journal_mode(place))
        _prepare(db, place)
    except BaseException:
        db.close()
        raise
    return db


def _set_mode(db: sqlite3.Connection, mode: str) -> None:
    """SQLite does not wait by itself where another process opens a new file at the same moment."""
    for trial in range(TRIALS):
        try:
            db.execute(f"PRAGMA journal_mode={mode}")
            return
        except sqlite3.OperationalError as fault:
            if "locked" not in str(fault) or trial == TRIALS - 1:
                raise
            time.sleep(0.02)


def _prepare(db: sqlite3.Connection, place: Path | None) -> None:
    db.execute("PRAGMA synchronous=NORMAL")
    db.execute("BEGIN IMMEDIATE")
    with db:
        (form,) = db.execute("PRAGMA user_version").fetchone()
        if form != FORM and db.execute("SELECT 1 FROM sqlite_master").fetchone():
            raise UsageError(
                f"{place} was made by another version of Sightline; "
                "delete it, or give --cache DIR or --no-cache"
            )
        db.execute(f"PRAGMA user_version={FORM}")
        db.execute("CREATE TABLE IF NOT EXISTS entry (key TEXT PRIMARY KEY, value BLOB NOT NULL)")


def _bytes(db: sqlite3.Connection) -> int:
    pages, free, size = (
        db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)


def _prune(db: sqlite3.Connection, limit: int) -> None:
    """The older half goes, where there are more bytes than the limit."""
    oldest, newest = db.execute("SELECT min(rowid), max(rowid) FROM entry").fetchone()
    if oldest is not None and _bytes(db) > limit:
        with db:
            db.execute("DELETE FROM entry WHERE rowid <= ?", ((newest + oldest) // 2,))
        db.execute("VACUUM")


def look(folder: Path) -> tuple[int, int]:
    """Rows and bytes of the cache in a folder."""
    db = _open(folder / FILE)
    with closing(db):
        (rows,) = db.execute("SELECT count(*) FROM entry").fetchone()
        return rows, _bytes(db)


def prune(folder: Path, limit: int) -> None:
    """Let the oldest rows go until no more than so many bytes are kept, or none."""
    with closing(_open(folder / FILE)) as db:
        while _bytes(db) > limit and db.execute("SELECT 1 FROM entry").fetchone():
            _prune(db, limit)


def verify(folder: Path) -> CacheCheck:
    """Look at every row and let the damaged ones go. A file that is no sound cache is made anew, empty."""
    place = folder / FILE
    rows, damaged, whole = 0, [], False
    with suppress(*FAULTS), closing(_open(place)) as db:
        for number, key, row in db.execute("SELECT rowid, key, value FROM entry"):
            rows += 1
            if not _holds(key, row):
                damaged.append((number,))
        with db:
            db.executemany("DELETE FROM entry WHERE rowid = ?", damaged)
        whole = db.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",)
    if not whole:
        for suffix in ("", "-wal", "-shm", "-journal"):
            place.with_name(FILE + suffix).unlink(missing_ok=True)
        _open(place).close()
    return CacheCheck(rows, len(damaged), whole)
