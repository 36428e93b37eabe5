"""The cache on disk: vectors and regions by content and signature, in one SQLite file that processes may share."""

import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path

from sightline.errors import UsageError

FORM = 2
"""Of the file: one of another form is refused, not misread."""

LIMIT = 4 << 30
"""Bytes the cache may grow to; past it, the oldest half goes."""


class Cache:
    """Key to bytes. A path of None keeps everything in memory for the run."""

    def __init__(self, folder: Path | None, limit: int = LIMIT) -> None:
        self._lock = threading.Lock()
        place = ":memory:"
        try:
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
                place = str(folder / "cache.sqlite")
            self._db = sqlite3.connect(place, check_same_thread=False, timeout=60)
            (form,) = self._db.execute("PRAGMA user_version").fetchone()
            if form != FORM and self._db.execute("SELECT 1 FROM sqlite_master").fetchone():
                raise UsageError(
                    f"{place} was made by another version of Sightline; delete it, or give --cache DIR or --no-cache"
                )
            self._db.execute(f"PRAGMA user_version={FORM}")
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute("CREATE TABLE IF NOT EXISTS entry (key TEXT PRIMARY KEY, value BLOB NOT NULL)")
            self._prune(limit)
            self._db.commit()
        except (OSError, sqlite3.DatabaseError) as fault:
            raise UsageError(
                f"the cache at {folder} cannot be used ({fault}); give --cache DIR or --no-cache"
            ) from None

    def get_many(self, keys: Sequence[str]) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        with self._lock:
            for start in range(0, len(keys), 500):
                part = keys[start : start + 500]
                marks = ",".join("?" * len(part))
                found.update(self._db.execute(f"SELECT key, value FROM entry WHERE key IN ({marks})", part))
        return found

    def put_many(self, pairs: Sequence[tuple[str, bytes]]) -> None:
        with self._lock, self._db:
            self._db.executemany("INSERT OR IGNORE INTO entry VALUES (?, ?)", pairs)

    def _prune(self, limit: int) -> None:
        pages, size = (
            self._db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size")
        )
        if pages * size > limit:
            (newest,) = self._db.execute("SELECT max(rowid) FROM entry").fetchone()
            (oldest,) = self._db.execute("SELECT min(rowid) FROM entry").fetchone()
            self._db.execute("DELETE FROM entry WHERE rowid < ?", ((newest + oldest) // 2,))
            self._db.commit()
            self._db.execute("VACUUM")
