"""The items of a finished run, beside its scores, with the features that its corpus statistics judge.

A score that stands on theta, idf or document frequencies holds for the corpus they were fitted on. With the features
kept it can be made again for another corpus, without pictures, models or the file that was scored.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from sightline.errors import Unscorable, UsageError
from sightline.features.base import Feature, Features, Statistic
from sightline.io.results import ResultFolder, told, whole
from sightline.io.score_lines import stream, table_of
from sightline.items import Item, Key
from sightline.metrics import Metric
from sightline.pipeline.plan import Plan
from sightline.pipeline.wire import Stored, decode, encode

NAME = "items.parquet"
FORMAT = 3
"""What the file looks like; features in one that looks otherwise are not read."""
ROW_GROUP = 1024
SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("system", pa.string()),
        ("group", pa.string()),
        ("item", pa.binary()),
        ("features", pa.binary()),
    ]
)


def judged(metrics: Sequence[Metric]) -> dict[str, Feature[Any]]:
    """The features that metrics with corpus statistics, and those statistics, read; each by its name and options."""
    askers: list[Metric | Statistic[Any]] = []
    for metric in metrics:
        if fits := metric.fits():
            askers += [metric, *fits]
    return {repr(feature): feature for asker in askers for feature in asker.needs()}


ItemBlock = bytes
"""Some items as rows of items.parquet, in Arrow's stream form."""


def item_block(items: Iterable[tuple[bytes, Item, list[Stored]]]) -> ItemBlock:
    """Items with the features that `judged` names, in its order."""
    rows = [(item.id, item.system, item.group, stored, encode(kept)) for stored, item, kept in items]
    return stream(_table(rows))


def keep_items(
    out: ResultFolder, blocks: Iterable[ItemBlock], plan: Plan, before: "KeptItems | None" = None
) -> None:
    """Write items.parquet from blocks, with the features that were there `before`."""
    wanted = judged(list(plan.metrics.values()))
    also = [name for name in before.names if name not in wanted] if before else []
    earlier = before.stored(also) if before and also else None
    about = {b"format": str(FORMAT).encode(), b"features": msgspec.json.encode([*wanted, *also])}
    path = out.path / NAME
    schema = SCHEMA.with_metadata(about)
    with (
        whole(path) as file,
        told(path),
        pq.ParquetWriter(file, schema, compression="zstd") as parquet,
    ):
        for block in blocks:
            table = table_of(block)
            if earlier is not None:
                table = _table([_beside(row, earlier) for row in table.to_pylist()])
            parquet.write_table(table.replace_schema_metadata(about), ROW_GROUP)


def _beside(row: dict[str, Any], earlier: Callable[[Key], list[Stored]]) -> list[Any]:
    """A row of items.parquet with the features that were there before."""
    kept = decode(row["features"], list[Stored]) + earlier((row["id"], row["system"]))
    return [row["id"], row["system"], row["group"], row["item"], encode(kept)]


def _table(rows: Sequence[Sequence[Any]]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(SCHEMA)
    arrays = [pa.array(column, kind.type) for column, kind in zip(columns, SCHEMA, strict=True)]
    return pa.table(arrays, schema=SCHEMA)


class KeptItems:
    """The items.parquet of a run's folder."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        try:
            self._file = pq.ParquetFile(self.path)
            about = self._file.schema_arrow.metadata or {}
            self._format = int(about.get(b"format", b"0"))
            self.names: list[str] = msgspec.json.decode(about.get(b"features", b"[]"), type=list[str])
        except (OSError, ValueError, pa.ArrowException, msgspec.DecodeError) as fault:
            raise UsageError(f"{self.path}: cannot be read ({str(fault).splitlines()[0]})") from None

    def holds(self, metrics: Sequence[Metric]) -> bool:
        """Whether all that these metrics and their statistics read is there."""
        return self._format == FORMAT and set(judged(metrics)) <= set(self.names)

    def items(self) -> Iterator[Item]:
        for (item,) in self._rows("item"):
            yield self._decoded(item, Item)

    def features(self, metrics: Sequence[Metric]) -> Iterator[Features]:
        """Every item with the features that these metrics read; they must be there."""
        wanted = judged(metrics)
        for item, stored in self._rows("item", "features"):
            got = Features(self._decoded(item, Item))
            found = dict(zip(self.names, self._decoded(stored, list[Stored]), strict=True))
            for name, feature in wanted.items():
                value, reason = found[name].value, found[name].reason
                got.put(
                    feature,
                    Unscorable(reason or "") if value is None else self._decoded(value, feature.value),
                )
            yield got

    def stored(self, names: Sequence[str]) -> Callable[[Key], list[Stored]]:
        """These features of one item after the other, asked for in any order, cheapest in that of the file."""
        places = [self.names.index(name) for name in names]
        rows = self._rows("id", "system", "features")
        passed: dict[Key, Any] = {}

        def of(key: Key) -> list[Stored]:
            while key not in passed:
                id, system, features = next(rows)
                passed[id, system] = features
            found = self._decoded(passed.pop(key), list[Stored])
            return [found[place] for place in places]

        return of

    def _rows(self, *columns: str) -> Iterator[tuple[Any, ...]]:
        try:
            for batch in self._file.iter_batches(ROW_GROUP, columns=list(columns)):
                yield from zip(*(batch.column(name).to_pylist() for name in columns), strict=True)
        except (OSError, pa.ArrowException) as fault:
            raise UsageError(f"{self.path}: cannot be read ({str(fault).splitlines()[0]})") from None

    def _decoded(self, data: bytes, kind: Any) -> Any:
        try:
            return decode(data, kind)
        except (msgspec.DecodeError, ValueError, KeyError, TypeError) as fault:
            raise UsageError(f"{self.path}: written by another version of Sightline ({fault})") from None
