"""A run over files: items in, the contract's result files out, each put in place whole."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sightline.errors import UnwritableError, UsageError
from sightline.io import BadLine
from sightline.io.results import ResultFolder
from sightline.io.scores import (
    FAILURES,
    SCORES,
    ScoreWriter,
    StoredScore,
    read_failures,
    read_scores,
    stored_scores,
)
from sightline.items import Failure, Item, Key, Score
from sightline.metrics.base import package_version
from sightline.pipeline.finished import Finished
from sightline.pipeline.journal import Journal
from sightline.pipeline.kept import ItemBlock, KeptItems, keep_items
from sightline.pipeline.run import Progress, Run
from sightline.pipeline.scoring import Shard, read_shard
from sightline.pipeline.statistics import write_statistics
from sightline.pipeline.wire import InputDigest, Names

JOURNAL = "unfinished"
OLD_JOURNAL = "unfinished.sqlite"
SUMMARY = "summary.json"


class FileSink:
    """Scores and failures straight to disk."""

    def __init__(self, out: ResultFolder, journal: Journal) -> None:
        self._writer = ScoreWriter(out)
        self._folder = journal.folder or out.path
        self._shards: list[str] = []

    def add(self, scores: Sequence[Score], failures: Sequence[Failure]) -> None:
        self._writer.add(scores, failures)

    def add_shard(self, name: str) -> None:
        self._writer.add_block(self._read(name).lines)
        self._shards.append(name)

    def items(self) -> Iterator[ItemBlock]:
        """The items of all shards, with what is kept of them."""
        return (self._read(name).items for name in self._shards)

    def close(self) -> None:
        self._writer.close()

    def abandon(self) -> None:
        self._writer.abandon()

    def _read(self, name: str) -> Shard:
        shard = read_shard(self._folder / name)
        if shard is None:
            raise UsageError(
                f"{self._folder / name}: was damaged while the run went on; the same command with --resume goes on"
            )
        return shard


@dataclass(frozen=True)
class Written:
    """A run on disk: what its report is made of."""

    folder: Path
    summary: dict[str, Any]

    def items(self) -> Iterator[Item]:
        return KeptItems(self.folder).items()

    def scores(self) -> Iterator[Score]:
        return read_scores(self.folder / SCORES)

    def stored_scores(self) -> Iterator[StoredScore]:
        """The same, their evidence not read yet."""
        return stored_scores(self.folder / SCORES)

    def failures(self) -> Iterator[Failure]:
        return read_failures(self.folder / FAILURES)


@contextmanager
def scored_into(
    out: ResultFolder, items: Iterable[Item | BadLine], run: Run, progress: Progress
) -> Iterator[Written]:
    """Score items into a folder, for a block that adds what else belongs there.

    A run that is killed can be resumed from its journal, which goes when the block ends well. Only then the summary is
    put in place: a folder that has one is finished. To a finished folder metrics are added, over the same items with
    the same settings; anything else is refused, unless the folder may be overwritten.
    """
    earlier = None
    if out.holds(SUMMARY) and not out.overwrite:
        earlier = Earlier.open(out.path)
        items = items if iter(items) is not items else list(items)  # they are read twice
        earlier.check(items, run)
        run = run.of([spec for spec in run.plan.metrics if spec not in earlier.run.metrics])
    try:
        if run.plan.metrics:
            with _scored(out, items, run, progress, earlier) as summary:
                yield Written(out.path, summary)
                out.json(SUMMARY, summary)
        elif earlier is not None:
            out.failed = sum(1 for _ in earlier.run.failures())
            yield Written(out.path, dict(earlier.run.summary))
    except UnwritableError as fault:  # a full disk, a folder where a file should be
        raise UsageError(f"{fault}; --resume goes on") from None


@contextmanager
def _scored(
    out: ResultFolder,
    items: Iterable[Item | BadLine],
    run: Run,
    progress: Progress,
    earlier: "Earlier | None",
) -> Iterator[dict[str, Any]]:
    """The run's files in place, beside those of an earlier run; the journal goes when the block ends well."""
    journal = open_journal(out, run)
    if out.overwrite:
        out.remove(SUMMARY)
    sink = FileSink(out, journal)
    try:
        for score in earlier.scores() if earlier else ():
            sink.add([score], [])
        for failure in earlier.failures() if earlier else ():
            sink.add([], [failure])
        summary = run.score(items, journal, sink, progress)
        keep_items(out, sink.items(), run.plan, earlier.run.kept if earlier else None)
    except BaseException as fault:
        sink.abandon()
        if isinstance(fault, UsageError | KeyboardInterrupt) and journal.is_empty:
            journal.delete()  # nothing was done yet: nothing to resume
        elif isinstance(fault, KeyboardInterrupt):
            fault.add_note(f"what is done is kept in {out.path}: the same command with --resume goes on")
        raise
    sink.close()
    write_statistics(out, run.fitted, earlier.run.statistics if earlier else None)
    yield earlier.joined(summary) if earlier else summary
    journal.delete()


@dataclass(frozen=True)
class Earlier:
    """A finished run in the folder that another is to be added to."""

    run: Finished

    @classmethod
    def open(cls, folder: Path) -> "Earlier":
        try:
            return cls(Finished.open(folder))
        except UsageError as fault:
            raise UsageError(f"{fault} into another folder, or --overwrite these results") from None

    def check(self, items: Iterable[Item | BadLine], run: Run) -> None:
        """Raises UsageError where the folder was made by another version, with other settings or of another input."""
        over = "give another folder, or --overwrite to replace them"
        folder, was = self.run.folder, self.run.summary
        if self.run.version != package_version():
            raise UsageError(f"{folder} holds results of Sightline {self.run.version}; {over}")
        now, then = run.tools.settings.told, was["settings"]
        for name in dict.fromkeys((*then, *now)):
            if then.get(name) != now.get(name):
                told = f"{name} {then.get(name, 'not given')}, not {now.get(name, 'not given')}"
                raise UsageError(f"{folder} holds results made with {told}; {over}")
        if input_digest(items) != was["input"]["digest"]:
            raise UsageError(f"{folder} holds results of another input ({was.get('items')} items); {over}")

    def scores(self) -> Iterator[Score]:
        return (score for score in self.run.scores() if score.metric in self.run.metrics)

    def failures(self) -> Iterator[Failure]:
        return (failure for failure in self.run.failures() if failure.metric in self.run.metrics)

    def joined(self, summary: Mapping[str, Any]) -> dict[str, Any]:
        """The summary of both runs: this one's, with the earlier one's metrics first and its command kept."""
        was = self.run.summary
        systems = {
            name: {**was["systems"].get(name, {}), **rows} for name, rows in summary["systems"].items()
        }
        before = [*was.get("earlier", []), {name: was.get(name) for name in ("command", "date")}]
        return {
            **summary,
            "metrics": {**was["metrics"], **summary["metrics"]},
            "systems": systems,
            "earlier": before,
        }


def input_digest(items: Iterable[Item | BadLine]) -> str:
    """Tells one input from another; lines that are no items, and items that came before, do not count."""
    digest, seen = InputDigest(), set[Key]()
    for item in items:
        if isinstance(item, Item) and item.key not in seen:
            seen.add(item.key)
            digest.add(Names(item).content)
    return str(digest)


def open_journal(out: ResultFolder, run: Run) -> Journal:
    """The folder's journal: a new one, or the unfinished one where the user says to go on."""
    path = out.path / JOURNAL
    if (out.path / OLD_JOURNAL).exists():
        if not out.overwrite:
            raise UsageError(
                f"{out.path} holds a run that another version of Sightline did not finish; --overwrite starts over"
            )
        out.remove(OLD_JOURNAL, f"{OLD_JOURNAL}-wal", f"{OLD_JOURNAL}-shm")
    if path.exists() and not out.resume:
        if not out.overwrite:
            raise UsageError(
                f"{out.path} holds an unfinished run; give --resume to go on or --overwrite to start over"
            )
        Journal.remove(path)
    return Journal(path, run.fingerprint)
