"""The last stage as a pure function over shards: scores, and what the summary adds up. Each shard is safe when done."""

import hashlib
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from sightline.errors import Unscorable
from sightline.features.base import WORDLESS, Features, Fitted
from sightline.io.results import told, whole
from sightline.io.score_lines import ScoreBlock, score_block
from sightline.items import DUPLICATE, Failure, Item, Score
from sightline.metrics import Metric
from sightline.pipeline.batches import Kept
from sightline.pipeline.journal import BadRow, Log, Row
from sightline.pipeline.kept import ItemBlock, item_block, judged
from sightline.pipeline.plan import Plan
from sightline.pipeline.settings import LocalTools
from sightline.pipeline.stages import features_of
from sightline.pipeline.totals import group_hash
from sightline.pipeline.wire import Stored, decode, encode
from sightline.text.sentences import is_caption


class Sums(msgspec.Struct, array_like=True):
    """What the scores of a system in a metric add to the summary, score by score."""

    system: str | None
    metric: str
    groups: bytes
    """Hashes of what a bootstrap resamples, as 64-bit numbers."""
    rows: bytes
    """The score, 1, and what the metric adds up, as 64-bit floats."""
    wordless: int
    failed: int


class Tally(msgspec.Struct, array_like=True):
    """What the summary needs of a shard."""

    items: int
    captions: int
    content: bytes
    """What the items add to the input's digest."""
    scores: int
    failures: int
    sums: list[Sums]


class Shard(msgspec.Struct, array_like=True):
    """A shard as it is stored."""

    key: bytes
    """Of what it was made from."""
    tally: bytes
    lines: ScoreBlock
    items: ItemBlock


class Scored(NamedTuple):
    """What is told of a shard that is scored. In memory it has the scores themselves."""

    tally: Tally
    scores: Sequence[Score] = ()
    failures: Sequence[Failure] = ()
    shard: str = ""
    """The name of its file."""


class Task(NamedTuple):
    """A shard to score."""

    number: int
    batches: Sequence[Kept]


@dataclass(frozen=True)
class ScoreStage:
    """Scores a shard with what was fitted to the corpus."""

    specs: tuple[str, ...]
    fitted: Fitted
    signatures: Mapping[str, str]
    folder: Path | None
    """Where shards go; none keeps scores in memory."""

    def open(self, tools: LocalTools | None = None, log: Log | None = None) -> "ScoreWork":
        return ScoreWork(self, Plan.of(self.specs), log or Log(self.folder))


class ScoreWork:
    """The stage at work in a process."""

    def __init__(self, stage: ScoreStage, plan: Plan, log: Log) -> None:
        self._stage, self._plan, self._log = stage, plan, log
        wanted = judged(list(plan.metrics.values()))
        self._chosen = [plan.kept.index(feature) for feature in wanted.values()]

    def __call__(self, task: Task) -> Scored:
        if self._stage.folder is None:
            return self._made(task)[0]
        path = self._stage.folder / shard_name(task.number)
        key = self._key(task.batches)
        if (known := read_shard(path)) is not None and known.key == key:
            return Scored(msgspec.msgpack.decode(known.tally, type=Tally), shard=path.name)
        made, rows = self._made(task)
        lines = score_block(made.scores, made.failures)
        items = item_block((row.item, item, self._kept(row)) for row, item in rows)
        write_shard(path, Shard(key, msgspec.msgpack.encode(made.tally), lines, items))
        return Scored(made.tally, shard=path.name)

    def close(self) -> None:
        self._log.close()

    def _made(self, task: Task) -> tuple[Scored, list[tuple[Row, Item]]]:
        adding = _Adding()
        scores: list[Score] = []
        failures: list[Failure] = []
        rows: list[tuple[Row, Item]] = []
        every: list[Features] = []
        for batch in task.batches:
            for row, got in features_of(self._log.read(batch.place), batch, self._plan):
                every.append(got)
                rows.append((row, got.item))
                adding.meet(got.item, row.content)
        for spec, metric in self._plan.metrics.items():
            able, found, failed = score_batch(
                spec, metric, every, self._stage.fitted, self._stage.signatures[spec]
            )
            adding.add(spec, metric, able, found, failed)
            scores += found
            failures += failed
        return Scored(adding.tally(len(scores), len(failures)), scores, failures), rows

    def _kept(self, row: Row) -> list[Stored]:
        if not self._chosen:
            return []
        every = decode(row.features, list[Stored])
        return [every[place] for place in self._chosen]

    def _key(self, batches: Sequence[Kept]) -> bytes:
        """Tells whether a shard that is there is this one: made of the same items by the same measurement."""
        made_of = [(batch.place.digest, batch.left_out) for batch in batches]
        return hashlib.blake2b(
            repr((self._stage.specs, sorted(self._stage.signatures.items()), made_of)).encode(),
            digest_size=16,
        ).digest()


@dataclass
class _Adding:
    """Adds up a shard for the summary."""

    items: int = 0
    captions: int = 0
    content: int = 0
    _sums: dict[tuple[str | None, str], "_Rows"] = field(default_factory=lambda: defaultdict(_Rows))
    _groups: dict[int, int] = field(default_factory=dict)

    def meet(self, item: Item, content: bytes) -> None:
        self.items += 1
        self.captions += is_caption(item)
        self.content += int.from_bytes(content)
        self._groups[id(item)] = group_hash(item.group)

    def add(
        self,
        spec: str,
        metric: Metric,
        items: Sequence[Item],
        scores: Sequence[Score],
        failures: Sequence[Failure],
    ) -> None:
        for item, score in zip(items, scores, strict=True):
            rows = self._sums[item.system, spec]
            rows.groups.append(self._groups[id(item)])
            addends = metric.addends(score.evidence) if metric.has_corpus else ()
            rows.numbers.append((score.score, 1.0, *addends))
            rows.wordless += WORDLESS in score.evidence.notes
        for failure in failures:
            self._sums[failure.system, spec].failed += 1

    def tally(self, scores: int, failures: int) -> Tally:
        sums = [
            Sums(
                system, metric,
                np.array(rows.groups, np.uint64).tobytes(), np.array(rows.numbers, np.float64).tobytes(),
                rows.wordless, rows.failed,
            )
            for (system, metric), rows in self._sums.items()
        ]  # fmt: skip
        return Tally(
            self.items, self.captions, (self.content % (1 << 128)).to_bytes(16), scores, failures, sums
        )


@dataclass
class _Rows:
    groups: list[int] = field(default_factory=list)
    numbers: list[tuple[float, ...]] = field(default_factory=list)
    wordless: int = 0
    failed: int = 0


def score_batch(
    spec: str, metric: Metric, batch: Sequence[Features], fitted: Fitted, signature: str
) -> tuple[list[Item], list[Score], list[Failure]]:
    """Scores with the items they are of, and the failures of the others."""
    items: list[Item] = []
    scores: list[Score] = []
    failures: list[Failure] = []
    for got, found in zip(batch, metric.score_batch(batch, fitted), strict=True):
        item = got.item
        if isinstance(found, Unscorable):
            failures.append(Failure(item.id, spec, str(found), item.source, item.system))
        elif not np.isfinite(found[0]):
            reason = f"the score came out as {found[0]}"
            failures.append(Failure(item.id, spec, reason, item.source, item.system))
        else:
            items.append(item)
            scores.append(Score(item.id, spec, float(found[0]), signature, found[1], item.system))
    return items, scores, failures


def left_out(log: Log, batches: Iterable[Kept]) -> list[BadRow]:
    """The lines that are no items, then the items that came before."""
    bad: list[BadRow] = []
    again: list[BadRow] = []
    for batch in batches:
        if batch.bad or batch.left_out:
            record = log.read(batch.place)
            bad += record.bad
            for number in batch.left_out:
                item = decode(record.rows[number].item, Item)
                again.append((item.id, DUPLICATE, item.source, item.system))
    return bad + again


def shard_name(number: int) -> str:
    return f"scores-{number:08d}.shard"


def write_shard(path: Path, shard: Shard) -> None:
    content = encode(shard)
    with told(path), whole(path) as file:
        file.write(zlib.crc32(content).to_bytes(4) + content)


def read_shard(path: Path) -> Shard | None:
    """A shard that is there whole."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    if len(data) < 4 or zlib.crc32(memoryview(data)[4:]) != int.from_bytes(data[:4]):
        return None
    try:
        shard: Shard = msgspec.msgpack.decode(memoryview(data)[4:], type=Shard)
    except msgspec.DecodeError:
        return None
    return shard
