"""A run over files: items in, the contract's result files out, each put in place whole."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sightline.errors import UnwritableError, UsageError
from sightline.features.base import Fitted
from sightline.features.statistics import Theta, WordIdf
from sightline.io import BadLine
from sightline.io.results import ResultFolder
from sightline.io.scores import FAILURES, SCORES, ScoreWriter, read_failures, read_scores
from sightline.items import Evidence, Failure, Item, Score
from sightline.pipeline.journal import Journal
from sightline.pipeline.run import Progress, Run

JOURNAL = "unfinished.sqlite"


class FileSink:
    """Scores and failures straight to disk."""

    def __init__(self, out: ResultFolder) -> None:
        self._folder = out.path
        self._writer = ScoreWriter(out)

    def add(self, scores: Sequence[Score], failures: Sequence[Failure]) -> None:
        self._writer.add(scores, failures)

    def evidence(self, metric: str) -> Iterable[Evidence]:
        self._writer.close()
        return (score.evidence for score in read_scores(self._folder / SCORES) if score.metric == metric)

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
        out.text("statistics.json", statistics_text(run.fitted))
        yield Written(out.path, summary, journal)
    except UnwritableError as fault:  # a full disk, a folder where a file should be
        raise UsageError(f"{fault}; --resume goes on") from None
    journal.delete()


def _score_into(
    sink: FileSink, items: Iterable[Item | BadLine], run: Run, journal: Journal, progress: Progress
) -> dict[str, Any]:
    try:
        summary = run.score(items, journal, sink, progress)
    except UsageError:
        sink.abandon()
        if journal.is_empty:  # wrong use, found before anything was done: nothing to resume
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


def statistics_text(fitted: Fitted) -> str:
    """What the run learned from its corpus, for `--theta FILE` and `--idf FILE` of a later run."""
    found: dict[str, Any] = {}
    for statistic, fit in fitted.items():
        if isinstance(statistic, Theta):
            found[f"theta.{statistic.units}"] = fit.value
        elif isinstance(statistic, WordIdf):
            found[f"idf.{statistic.units}"] = fit.value.to_json()
        found[f"{statistic.name}.source"] = fit.source
    return json.dumps(found, indent=2, allow_nan=False) + "\n"
