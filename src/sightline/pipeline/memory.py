"""A run whose scores are kept in memory."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sightline.io import BadLine
from sightline.items import Failure, Item, Key, Score
from sightline.pipeline.journal import Journal
from sightline.pipeline.run import Progress, Run


@dataclass
class Kept:
    """The scores and failures of a run, and what its summary says."""

    scores: list[Score] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    summary: dict[str, Any] = field(default_factory=dict)

    def add(self, scores: Sequence[Score], failures: Sequence[Failure]) -> None:
        self.scores.extend(scores)
        self.failures.extend(failures)


def silent(stage: str, done: int) -> None:
    """Progress that is told to nobody."""


def score_in_memory(
    items: Iterable[Item | BadLine],
    run: Run,
    progress: Progress = silent,
    learn_from: Collection[Key] | None = None,
) -> Kept:
    """Score every item; corpus statistics are fitted on the items whose keys are in `learn_from`, or from all."""
    kept = Kept()
    journal = Journal(None, {})
    try:
        kept.summary = run.score(items, journal, kept, progress, learn_from)
    finally:
        journal.close()
    return kept
