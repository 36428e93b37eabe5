"""A run over files: items in, the contract's result files out, each put in place whole."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sightline.errors import UnwritableError, UsageError
from sightline.io import BadLine
from sightline.io.results import ResultFolder
from sightline.io.scores import FAILURES, SCORES, ScoreWriter, read_failures, read_scores
from sightline.items import Failure, Item, Score
from sightline.pipeline.journal import Journal
from sightline.pipeline.kept import keep_items
from sightline.pipeline.run import Progress, Run
from sightline.pipeline.statistics import write_statistics

JOURNAL = "unfinished.sqlite"


class FileSink:
    """Scores and failures straight to disk."""

    def __init__(self, out: ResultFolder) -> None:
        self._writer = ScoreWriter(out)

    def add(self, scores: Sequence[Score], failures: Sequence[Failure]) -> None:
        self._writer.add(scores, failures)

    def close(self) -> None:
        self._writer.close()

    def abandon(self) -> None:
        self._writer.abandon()


@dataclass(frozen=True)
class Written:
    """A run on disk: what its report is made of."""

    folder: Path
    summary: dict[str, Any]
    journal: Journal

    def items(self) -> Iterator[Item]:
        return self.journal.items(self.summary["items"])

    def scores(self) -> Iterator[Score]:
        return read_scores(self.folder / SCORES)

    def failures(self) -> Iterator[Failure]:
        return read_failures(self.folder / FAILURES)


@contextmanager
def scored_into(
    out: ResultFolder, items: Iterable[Item | BadLine], run: Run, progress: Progress
) -> Iterator[Written]:
    """Score items into a folder, for a block that adds what else belongs there.

    A run that is killed can be resumed from its journal, which goes when the block ends well.
    """
    journal = open_journal(out, run)
    try:
        summary = _score_into(FileSink(out), items, run, journal, progress)
        out.json("summary.json", summary)
        write_statistics(out, run.fitted)
        keep_items(out, journal, run.plan, summary["items"])
        yield Written(out.path, summary, journal)
    except UnwritableError as fault:  # a full disk, a folder where a file should be
        raise UsageError(f"{fault}; --resume goes on") from None
    journal.delete()


def _score_into(
    sink: FileSink, items: Iterable[Item | BadLine], run: Run, journal: Journal, progress: Progress
) -> dict[str, Any]:
    try:
        summary = run.score(items, journal, sink, progress)
    except BaseException as fault:
        sink.abandon()
        if (
            isinstance(fault, UsageError) and journal.is_empty
        ):  # found before anything was done: nothing to resume
            journal.delete()
        raise
    sink.close()
    return summary


def open_journal(out: ResultFolder, run: Run) -> Journal:
    """The folder's journal: a new one, or the unfinished one where the user says to go on."""
    path = out.path / JOURNAL
    if path.exists() and not out.resume:
        if not out.overwrite:
            raise UsageError(
                f"{out.path} holds an unfinished run; give --resume to go on or --overwrite to start over"
            )
        Journal.remove(path)
    return Journal(path, run.fingerprint)
