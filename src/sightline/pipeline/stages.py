"""The stages of a run as pure functions over batches: features, and partial sums of the corpus statistics.

A stage can be sent to another process. There it is opened once, with the models it needs, and then works off tasks.
"""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UsageError
from sightline.features.base import Features, Statistic
from sightline.io import BadLine
from sightline.items import Item, Key
from sightline.pipeline.batches import Batch, Kept
from sightline.pipeline.journal import BadRow, Log, Place, Record, Row
from sightline.pipeline.plan import Plan, ahead, compute, difference, fingerprint
from sightline.pipeline.settings import LocalTools, Settings
from sightline.pipeline.wire import Names, StoredFeatures, document_hash, encode, key_hash, stored

Hashes = NDArray[np.uint64]


@dataclass(frozen=True)
class Learned:
    """Which items statistics are fitted on: those of a system, those of these keys, or all."""

    system: str | None = None
    keys: Collection[Key] | None = None

    def __call__(self, item: Item) -> bool:
        if self.keys is not None:
            return item.key in self.keys
        return self.system is None or item.system == self.system


class Computed(NamedTuple):
    """What is told of a batch whose features are in a log."""

    number: int
    place: Place
    items: int
    bad: int
    keys: Hashes
    """Of the items."""
    documents: Mapping[int, Hashes]
    """By the number of the statistic that counts them: of the items that it learns from, 0 for the others."""
    systems: tuple[str | None, ...]


@dataclass(frozen=True)
class FeatureStage:
    """Reads a batch, computes its features and adds them to a log; what an earlier run left is not computed again."""

    specs: tuple[str, ...]
    settings: Settings
    expected: tuple[tuple[str, str], ...]
    """What models and files must be, wherever it is opened."""
    learned: Learned
    counting: tuple[int, ...]
    """The plan's statistics that count the references of an id once."""
    folder: Path | None

    def open(self, tools: LocalTools | None = None, log: Log | None = None) -> "FeatureWork":
        """With tools of the caller's own they are taken to be the right ones."""
        plan = Plan.of(self.specs)
        if tools is None:
            tools = LocalTools(self.settings)
            if told := difference(dict(self.expected), fingerprint(plan, tools)):
                raise UsageError(f"a worker has other models or files than this process: {told}")
        return FeatureWork(self, plan, tools, log or Log(self.folder))


class FeatureWork:
    """The stage at work in a process."""

    def __init__(self, stage: FeatureStage, plan: Plan, tools: LocalTools, log: Log) -> None:
        self._stage, self._plan, self._tools, self._log = stage, plan, tools, log

    def ahead(self, batch: Batch) -> None:
        """Begin with a batch that comes next."""
        if self._plan.looks_ahead:
            ahead(self._plan, [row for row in batch.read() if isinstance(row, Item)], self._tools)

    def __call__(self, batch: Batch) -> Computed:
        rows = batch.read()
        items = [row for row in rows if isinstance(row, Item)]
        bad = [(row.id, row.reason, row.where, row.system) for row in rows if isinstance(row, BadLine)]
        names = [Names(item) for item in items]
        digest = _digest(names, bad)
        place = next((place for place in reversed(batch.earlier) if place.digest == digest), None)
        known = self._known(batch.earlier if place is None else (place,))
        fresh = {
            name.features: Features(item)
            for item, name in zip(items, names, strict=True)
            if name.features not in known
        }
        if place is None or fresh:
            compute(self._plan, list(fresh.values()), self._tools)
            place = self._log.add(batch.number, digest, self._record(items, names, bad, known, fresh))
        return Computed(
            batch.number,
            place,
            len(items),
            len(bad),
            np.array([key_hash(item) for item in items], np.uint64),
            {number: self._documents(number, items, names, fresh) for number in self._stage.counting},
            tuple(dict.fromkeys(item.system for item in items)),
        )

    def close(self) -> None:
        self._log.close()

    def _known(self, earlier: Sequence[Place]) -> Mapping[bytes, Row]:
        """Items whose features are all there."""
        return {row.digest: row for place in earlier for row in self._log.read(place).rows if row.whole}

    def _documents(
        self,
        number: int,
        items: Sequence[Item],
        names: Sequence[Names],
        fresh: Mapping[bytes, Features],
    ) -> Hashes:
        statistic, learned = self._plan.statistics[number], self._stage.learned
        return np.array(
            [
                document_hash(item) if learned(item) and (got is None or statistic.reads(got)) else 0
                for item, name in zip(items, names, strict=True)
                for got in [fresh.get(name.features)]
            ],
            np.uint64,
        )

    def _record(
        self,
        items: Sequence[Item],
        names: Sequence[Names],
        bad: list[BadRow],
        known: Mapping[bytes, Row],
        fresh: Mapping[bytes, Features],
    ) -> Record:
        rows = []
        for item, name in zip(items, names, strict=True):
            if (row := known.get(name.features)) is not None:
                features, whole = row.features, True
            else:
                found, whole = stored(fresh[name.features], self._plan.kept)
                features = encode(found)
            rows.append(Row(encode(item), features, whole, name.features, name.content))
        return Record(rows, bad)


def _digest(names: Sequence[Names], bad: Sequence[BadRow]) -> bytes:
    found = hashlib.blake2b(digest_size=16)
    for name in names:
        found.update(name.features)
    for line in bad:
        found.update(repr(line).encode("utf-8", "backslashreplace"))
    return found.digest()


def features_of(record: Record, batch: Kept, plan: Plan) -> Iterator[tuple[Row, Features]]:
    """The items of a record that count, with the features that were kept of them."""
    out = frozenset(batch.left_out)
    repeats = [(plan.statistics[number], frozenset(again)) for number, again in batch.again]
    for number, row in enumerate(record.rows):
        if number not in out:
            got = StoredFeatures(row.item, plan.kept, row.features)
            if repeats:
                got.again = [statistic for statistic, again in repeats if number in again]
            yield row, got


@dataclass(frozen=True)
class PartialStage:
    """Partial sums of statistics over some batches."""

    specs: tuple[str, ...]
    numbers: tuple[int, ...]
    """Which of the plan's statistics learn from the corpus."""
    learned: Learned
    folder: Path | None

    def open(self, tools: LocalTools | None = None, log: Log | None = None) -> "PartialWork":
        plan = Plan.of(self.specs)
        statistics = [plan.statistics[number] for number in self.numbers]
        return PartialWork(plan, statistics, self.learned, log or Log(self.folder))


class PartialWork:
    """The stage at work in a process."""

    def __init__(self, plan: Plan, statistics: Sequence[Statistic[Any]], learned: Learned, log: Log) -> None:
        self._plan, self._statistics, self._learned, self._log = plan, statistics, learned, log
        self._every = learned == Learned()

    def __call__(self, shard: Sequence[Kept]) -> list[Any]:
        corpus = [
            got
            for batch in shard
            for _, got in features_of(self._log.read(batch.place), batch, self._plan)
            if self._every or self._learned(got.item)
        ]
        return [statistic.partial(corpus) for statistic in self._statistics]

    def close(self) -> None:
        self._log.close()
