"""Joins items with their scores on disk, so that a report of any length needs little memory."""

import sqlite3
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

import msgspec

from sightline.io.scores import StoredScore
from sightline.items import DUPLICATE, Evidence, Failure, Item, Key, Score
from sightline.report.page import clean

STORIES = 10_000
"""A report shows so many stories in detail, the first of the file; its overview counts all."""

Distributions = Mapping[str, Mapping[str | None, Sequence[float]]]


@dataclass
class Story:
    """An item with all that is known about it."""

    place: int
    item: Item
    scores: dict[str, tuple[float, Evidence]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)


class Gathered:
    """What a report is made of, read once and kept in a temporary file."""

    def __init__(
        self, items: Iterable[Item], scores: Iterable[Score | StoredScore], failures: Iterable[Failure]
    ) -> None:
        self._db = sqlite3.connect("")  # an unnamed database on disk that goes when it is closed
        self._db.execute("PRAGMA journal_mode=OFF")
        self._db.execute(
            "CREATE TABLE item (place INTEGER PRIMARY KEY, id TEXT, system TEXT, body BLOB, UNIQUE (id, system))"
        )
        self._db.execute("CREATE TABLE score (place INTEGER, metric TEXT, score REAL, evidence BLOB)")
        self._db.execute("CREATE TABLE failure (place INTEGER, metric TEXT, reason TEXT)")
        self.items = 0
        self.pictures = 0
        """How many different pictures the stories that are shown have."""
        self.captions = 0
        """How many have one picture."""
        self._shown: dict[Key, int] = {}
        """The places of the stories that are shown."""
        self._systems = False
        """Whether any item is a system's."""
        self._add_items(items)
        self.distributions: Distributions = self._add_scores(scores)
        self._add_failures(failures)
        for table in ("score", "failure"):
            self._db.execute(f"CREATE INDEX {table}_place ON {table} (place)")

    def noun(self, captions: int | None) -> str:
        """What the items are called, so many of which are captions: `caption`, `story`, or `item` where there are both.

        Whether a text without pictures is one cannot be told here; without a count those of one picture are.
        """
        found = self.captions if captions is None else captions
        return "caption" if found == self.items else "item" if found else "story"

    @property
    def shown(self) -> int:
        return min(self.items, STORIES)

    def stories(self) -> Iterator[Story]:
        """The stories that are shown, in the order of the file."""
        for place, body in self._db.execute(
            "SELECT place, body FROM item WHERE place < ? ORDER BY place", (STORIES,)
        ):
            story = Story(place, msgspec.msgpack.decode(body, type=Item, dec_hook=_from_text))
            for metric, number, evidence in self._db.execute(
                "SELECT metric, score, evidence FROM score WHERE place = ?", (place,)
            ):
                story.scores[metric] = (number, _evidence(evidence))
            story.failures.update(
                self._db.execute("SELECT metric, reason FROM failure WHERE place = ?", (place,))
            )
            yield story

    def places(self, keys: Iterable[Key]) -> dict[Key, int]:
        """Where the stories of these ids and systems are shown."""
        found = {key: self._find(key)[0] for key in keys}
        return {key: place for key, place in found.items() if place is not None and place < STORIES}

    def close(self) -> None:
        self._db.close()

    def _add_items(self, items: Iterable[Item]) -> None:
        paths: set[str] = set()
        for item in items:
            shown = self.items < STORIES
            row = (self.items, _text(item.id), _text(item.system or ""), encode(item) if shown else b"")
            cursor = self._db.execute("INSERT OR IGNORE INTO item VALUES (?, ?, ?, ?)", row)
            if cursor.rowcount:  # a second item of the same key is a failure of its own and has no scores
                self.items += 1
                self.captions += item.is_caption
                self._systems = self._systems or item.system is not None
                if shown:
                    self._shown[_text(item.id), _text(item.system or "")] = self.items - 1
                paths.update(map(str, item.images if shown else ()))
        self.pictures = len(paths)

    def _add_scores(self, scores: Iterable[Score | StoredScore]) -> Distributions:
        found: dict[str, dict[str | None, array[float]]] = defaultdict(
            lambda: defaultdict(lambda: array("d"))
        )
        stream = iter(scores)
        while batch := list(islice(stream, 512)):
            rows = []
            for score in batch:
                place, system = self._find(score.key)
                found[score.metric][system].append(score.score)
                if place is not None and place < STORIES:
                    stored = score.evidence
                    body = bytes(stored) if isinstance(stored, msgspec.Raw) else encode(stored)
                    rows.append((place, score.metric, score.score, body))
            self._db.executemany("INSERT INTO score VALUES (?, ?, ?, ?)", rows)
        return found

    def _add_failures(self, failures: Iterable[Failure]) -> None:
        for failure in failures:
            if failure.reason == DUPLICATE:  # of a later item; the story shown is the first
                continue
            place, _ = self._find(failure.key)
            if place is not None and place < STORIES:
                self._db.execute(
                    "INSERT INTO failure VALUES (?, ?, ?)", (place, failure.metric, clean(failure.reason))
                )

    def _find(self, key: Key) -> tuple[int | None, str | None]:
        """Place and system of an item; a score that names no system is of the first item with its id."""
        id, system = key
        place = self._shown.get((_text(id), _text(system or "")))
        if place is not None or not self._systems:
            return place, system
        one = "SELECT place, system FROM item WHERE id = ?"
        row = self._db.execute(f"{one} AND system = ?", (_text(id), _text(system or ""))).fetchone()
        if row is None and system is None:
            row = self._db.execute(f"{one} ORDER BY place", (_text(id),)).fetchone()
        return (row[0], row[1] or None) if row else (None, system)


def _evidence(stored: bytes) -> Evidence:
    """From JSON, as scores.jsonl has it, or from MessagePack, as `encode` makes it."""
    if stored.startswith(b"{"):
        return msgspec.json.decode(stored, type=Evidence)
    return msgspec.msgpack.decode(stored, type=Evidence)


def encode(value: object) -> bytes:
    """MessagePack; text that is not valid Unicode is mended first, as rarely as it occurs."""
    try:
        return msgspec.msgpack.encode(value, enc_hook=str)
    except UnicodeEncodeError:
        return msgspec.msgpack.encode(_mended(msgspec.to_builtins(value, enc_hook=str)))


def _mended(value: object) -> object:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {_mended(key): _mended(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_mended(inner) for inner in value]
    return value


def _text(name: str) -> str:
    return name.encode("utf-8", "backslashreplace").decode()


def _from_text(kind: type, value: str) -> object:
    return kind(value)
