"""A run, from items to scores: features batch by batch into the journal, corpus statistics, then every score."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from sightline.errors import Unscorable
from sightline.features.base import Features, Fitted
from sightline.io import BadLine
from sightline.items import DUPLICATE, Evidence, Failure, Item, Score
from sightline.metrics import Metric
from sightline.pipeline.engines import Batch, engines
from sightline.pipeline.journal import Journal
from sightline.pipeline.plan import Plan, fingerprint
from sightline.pipeline.settings import LocalTools, Settings
from sightline.resources import Holder

BATCH_ITEMS = 256
BATCH_PICTURES = 32
"""A batch ends at whichever comes first: enough to fill the encoder, little enough for memory."""


class Progress(Protocol):
    """Told how far the run is."""

    def __call__(self, stage: str, done: int) -> None: ...


class Sink(Protocol):
    """Where scores and failures go as they are made, and where a corpus-level value reads them back."""

    def add(self, scores: Sequence[Score], failures: Sequence[Failure]) -> None: ...
    def evidence(self, metric: str) -> Iterable[Evidence]: ...


@dataclass(frozen=True)
class Corpus:
    """The journal as something statistics can stream over, as often as they like."""

    journal: Journal
    plan: Plan
    places: int
    only: Collection[str] | None = None
    """The ids of the items that count, where not all do."""

    def __iter__(self) -> Iterator[Features]:
        every = self.journal.read(self.plan.kept, self.places)
        return every if self.only is None else (got for got in every if got.item.id in self.only)


class Run:
    """One scoring run. What it loads is let go when it ends, unless the caller gives a holder that keeps it."""

    def __init__(
        self, specs: Sequence[str], settings: Settings, engine: str = "local", holder: Holder | None = None
    ) -> None:
        self.plan = Plan.of(specs)
        self.tools = LocalTools(settings, holder)
        self.engine = engines.get(engine)

    @property
    def fingerprint(self) -> dict[str, str]:
        """What must be equal for a later run to go on from this one's journal."""
        return fingerprint(self.plan, self.tools)

    def score(
        self,
        items: Iterable[Item | BadLine],
        journal: Journal,
        sink: Sink,
        progress: Progress,
        learn_from: Collection[str] | None = None,
    ) -> dict[str, Any]:
        """Score every item into the sink and return the summary. What is no item is a failure of every metric.

        Corpus statistics are learned from the items named in `learn_from`, or from all.
        """
        try:
            return self._score(items, journal, sink, progress, learn_from)
        finally:
            self.tools.close()

    def _score(
        self,
        items: Iterable[Item | BadLine],
        journal: Journal,
        sink: Sink,
        progress: Progress,
        learn_from: Collection[str] | None,
    ) -> dict[str, Any]:
        for statistic in self.plan.statistics:
            statistic.check(self.tools)
        left_out = LeftOut()
        places = self._compute(items, journal, left_out, progress)
        corpus = Corpus(journal, self.plan, places)
        learned = corpus if learn_from is None else Corpus(journal, self.plan, places, learn_from)
        fitted = Fitted({statistic: statistic.fit(learned, self.tools) for statistic in self.plan.statistics})
        signatures = {
            spec: metric.signature(self.tools, fitted) for spec, metric in self.plan.metrics.items()
        }
        totals = {spec: Total() for spec in self.plan.metrics}
        done = 0
        for batch in _chunks(corpus, BATCH_ITEMS):
            for spec, metric in self.plan.metrics.items():
                scores, failures = _score(spec, metric, batch, fitted, signatures[spec])
                totals[spec].add(scores, failures)
                sink.add(scores, failures)
            done += len(batch)
            progress("scores", done)
        for spec in self.plan.metrics:
            failures = left_out.failures(spec)
            totals[spec].add([], failures)
            sink.add([], failures)
        self.fitted = fitted
        return {
            "metrics": {
                spec: totals[spec].summary(
                    signatures[spec],
                    metric.corpus(sink.evidence(spec), fitted)
                    if type(metric).corpus is not Metric.corpus
                    else None,
                )
                for spec, metric in self.plan.metrics.items()
            },
            "resources": self._resources(signatures.values()),
            "items": places,
            "duplicates": len(left_out.duplicates),
            "bad_lines": len(left_out.bad_lines),
        }

    def _resources(self, signatures: Iterable[str]) -> dict[str, dict[str, str]]:
        """What stands behind the digests in the signatures: what the user wrote, where it lies, what it ran on."""
        text = " ".join(signatures)
        held = {one.digest: one.told() for one in self.tools.holder.resources()}
        return {digest: held[digest] for digest in sorted(held) if digest in text}

    def _compute(
        self, items: Iterable[Item | BadLine], journal: Journal, left_out: "LeftOut", progress: Progress
    ) -> int:
        """Features of every item into the journal; returns how many items there are.

        Batches are cut from the whole stream, whether or not a part of it is done already: a resumed run then
        computes the very batches that the unbroken run would have.
        """
        journal.forget_order()
        done = places = 0

        def fresh() -> Iterator[Batch]:
            nonlocal done, places
            for batch in _batches(left_out.without(items)):
                places += len(batch)
                known = journal.renew(batch)
                rest = [(place, got) for place, got in batch if got.item.id not in known]
                done += len(batch) - len(rest)
                progress("features", done)
                if rest:
                    yield rest

        for batch in self.engine(self.plan, self.tools, fresh()):
            journal.add(batch, self.plan.kept)
            done += len(batch)
            progress("features", done)
        return places


@dataclass
class LeftOut:
    """What the input holds besides items: lines that are none, and items whose id came before."""

    duplicates: list[Item] = field(default_factory=list)
    bad_lines: list[BadLine] = field(default_factory=list)

    def without(self, stream: Iterable[Item | BadLine]) -> Iterator[tuple[int, Features]]:
        """The items of the stream with their places; the rest is noted here."""
        seen: set[str] = set()
        for one in stream:
            if isinstance(one, BadLine):
                self.bad_lines.append(one)
            elif one.id in seen:
                self.duplicates.append(one)
            else:
                seen.add(one.id)
                yield len(seen) - 1, Features(one)

    def failures(self, metric: str) -> list[Failure]:
        return [
            *(Failure(bad.id, metric, bad.reason, bad.where) for bad in self.bad_lines),
            *(Failure(item.id, metric, DUPLICATE, item.source) for item in self.duplicates),
        ]


@dataclass
class Total:
    """What the summary says of one metric."""

    n: int = 0
    sum: float = 0.0
    failed: int = 0

    def add(self, scores: Sequence[Score], failures: Sequence[Failure]) -> None:
        self.n += len(scores)
        self.sum += float(np.sum([score.score for score in scores]))
        self.failed += len(failures)

    def summary(self, signature: str, corpus: float | None) -> dict[str, Any]:
        mean = self.sum / self.n if self.n else None
        found: dict[str, Any] = {"mean": mean, "n": self.n, "failed": self.failed, "signature": signature}
        return found if corpus is None else {**found, "corpus": corpus}


def _score(
    spec: str, metric: Metric, batch: Sequence[Features], fitted: Fitted, signature: str
) -> tuple[list[Score], list[Failure]]:
    scores: list[Score] = []
    failures: list[Failure] = []
    for got, found in zip(batch, metric.score_batch(batch, fitted), strict=True):
        if isinstance(found, Unscorable):
            failures.append(Failure(got.item.id, spec, str(found), got.item.source))
        elif not np.isfinite(found[0]):
            failures.append(Failure(got.item.id, spec, f"the score came out as {found[0]}", got.item.source))
        else:
            scores.append(Score(got.item.id, spec, float(found[0]), signature, found[1]))
    return scores, failures


def _batches(items: Iterable[tuple[int, Features]]) -> Iterator[Batch]:
    batch: list[tuple[int, Features]] = []
    pictures: set[Path] = set()
    for place, got in items:
        batch.append((place, got))
        pictures.update(got.item.images)
        if len(batch) >= BATCH_ITEMS or len(pictures) >= BATCH_PICTURES:
            yield batch
            batch, pictures = [], set()
    if batch:
        yield batch


def _chunks(corpus: Iterable[Features], size: int) -> Iterator[list[Features]]:
    stream = iter(corpus)
    while chunk := list(islice(stream, size)):
        yield chunk
