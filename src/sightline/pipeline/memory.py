"""A run whose scores are kept in memory."""

import tempfile
from collections.abc import Collection, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sightline.io import BadLine
from sightline.io.scores import decoded_failures, decoded_scores
from sightline.items import Failure, Item, Key, Score
from sightline.pipeline.journal import Journal, Log
from sightline.pipeline.run import Progress, Run
from sightline.pipeline.scoring import read_shard


@dataclass
class Kept:
    """The scores and failures of a run, and what its summary says."""

    scores: list[Score] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    summary: dict[str, Any] = field(default_factory=dict)
    folder: Path | None = None
    """Where other processes leave what they did, where they do the work."""

    def add(self, scores: Sequence[Score], failures: Sequence[Failure]) -> None:
        self.scores.extend(scores)
        self.failures.extend(failures)

    def add_shard(self, name: str) -> None:
        assert self.folder is not None
        shard = read_shard(self.folder / name)
        assert shard is not None
        self.add(decoded_scores(shard.lines.scores), decoded_failures(shard.lines.failures))


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
    with ExitStack() as stack:
        if run.engine(Log(None)).elsewhere:
            kept.folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sightline-")))
        journal = Journal(kept.folder, {})
        stack.callback(journal.close)
        kept.summary = run.score(items, journal, kept, progress, learn_from)
    return kept
