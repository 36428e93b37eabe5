"""Pictures with their captions by axis, kept on disk so that a corpus of any length needs little memory."""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import msgspec


@dataclass(slots=True)
class Caption:
    """One caption, with what people and published scorers said of it."""

    text: str
    confidence: float | None = None
    purity: float | None = None
    """As published in the file."""


@dataclass(slots=True)
class Entry:
    """One picture with its captions by axis."""

    id: str
    image: str = ""
    """Path of the picture; empty where there is none."""
    axes: dict[str, list[Caption]] = field(default_factory=dict)
    self_bleu: dict[str, float] = field(default_factory=dict)
    """As published in the file (HL calls it `diversity`)."""
    source: str = ""


class Entries:
    """The corpus in a temporary file, in the order in which pictures first appeared."""

    def __init__(self) -> None:
        self._db = sqlite3.connect("")  # an unnamed database on disk that goes when it is closed
        self._db.execute("PRAGMA journal_mode=OFF")
        self._db.execute("CREATE TABLE entry (place INTEGER PRIMARY KEY, id TEXT UNIQUE, body BLOB)")
        self._count = 0
        self._decode = msgspec.msgpack.Decoder(Entry).decode
        self._encode = msgspec.msgpack.Encoder().encode

    def __len__(self) -> int:
        return self._count

    def add(self, entry: Entry) -> bool:
        """Whether the picture is new; one that is there already is left as it is."""
        row = (self._count, entry.id, self._encode(entry))
        new = bool(self._db.execute("INSERT OR IGNORE INTO entry VALUES (?, ?, ?)", row).rowcount)
        self._count += new
        return new

    def extend(self, entry: Entry) -> None:
        """Add the captions to those that the picture has already."""
        if self.add(entry):
            return
        (body,) = self._db.execute("SELECT body FROM entry WHERE id = ?", (entry.id,)).fetchone()
        known = self._decode(body)
        for axis, captions in entry.axes.items():
            known.axes.setdefault(axis, []).extend(captions)
        self._db.execute("UPDATE entry SET body = ? WHERE id = ?", (self._encode(known), entry.id))

    def chunks(self, size: int) -> Iterator[list[Entry]]:
        """All of them, so many at a time."""
        for start in range(0, self._count, size):
            found = self._db.execute(
                "SELECT body FROM entry WHERE place >= ? AND place < ? ORDER BY place", (start, start + size)
            )
            yield [self._decode(body) for (body,) in found]

    def at(self, places: Sequence[int]) -> list[Entry]:
        """Those at these places."""
        query = "SELECT body FROM entry WHERE place = ?"
        return [self._decode(self._db.execute(query, (place,)).fetchone()[0]) for place in places]

    def close(self) -> None:
        self._db.close()
