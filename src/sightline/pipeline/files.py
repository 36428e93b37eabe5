"""A run over files: items in, the contract's result files out, each put in place whole."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from sightline.errors import UsageError
from sightline.features.base import Fitted
from sightline.features.statistics import Theta, WordIdf
from sightline.io import BadLine, read_items
from sightline.io.results import ResultFolder, UnwritableError, whole
from sightline.io.scores import ScoreWriter, read_failures, read_scores
from sightline.items import Evidence, Failure, Item, Score
from sightline.pipeline.journal import Journal
from sightline.pipeline.run import Progress, Run
from sightline.report import write_report

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
        return (
            score.evidence for score in read_scores(self._folder / "scores.jsonl") if score.metric == metric
        )

    def close(self) -> None:
        self._writer.close()

    def abandon(self) -> None:
        self._writer.abandon()


def score_file(
    source: Path,
    run: Run,
    folder: Path,
    *,
    format: str | None = None,
    resume: bool = False,
    overwrite: bool = False,
    title: str | None = None,
    progress: Progress,
) -> dict[str, Any]:
    """Score a file into a folder and return the summary. A run that is killed can be resumed from its journal."""
    items = read_items(source, format=format, on_error="collect")
    with ResultFolder(folder, overwrite=overwrite, resume=resume) as out:
        journal = open_journal(out, run)
        try:
            summary = _score_into(FileSink(out), items, run, journal, progress)
            out.json("summary.json", summary)
            out.text("statistics.json", statistics_text(run.fitted))
            write_report(
                folder / "report.html",
                journal.items(summary["items"]),
                read_scores(folder / "scores.jsonl"),
                list(read_failures(folder / "failures.jsonl")),
                title=title or source.name,
                summary=summary,
            )
        except UnwritableError as fault:  # a full disk, a folder where a file should be
            raise UsageError(f"{fault}; --resume goes on") from None
        journal.delete()
        return {**summary, "failures": out.failed}


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


def write_whole(path: Path, text: str) -> None:
    """Put a file in place at once, so that a reader never sees half of it."""
    with whole(path) as file:
        file.write(text.encode())


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
