"""A run, from items to scores: features batch by batch into the journal, corpus statistics, then every score."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from sightline.errors import Unscorable, unknown
from sightline.features.base import Features, Fitted
from sightline.io import BadLine
from sightline.io.provenance import provenance
from sightline.items import DUPLICATE, Failure, Item, Key, Score
from sightline.metrics import Metric
from sightline.pipeline.engines import Batch, engines, same_bits
from sightline.pipeline.journal import InputDigest, Journal
from sightline.pipeline.plan import Plan, fingerprint
from sightline.pipeline.settings import LocalTools, Settings
from sightline.pipeline.totals import Totals
from sightline.resources import Holder
from sightline.text.sentences import is_caption

BATCH_ITEMS = 256
BATCH_PICTURES = 32
"""A batch ends at whichever comes first: enough to fill the encoder, little enough for memory."""


class Progress(Protocol):
    """Told how far the run is."""

    def __call__(self, stage: str, done: int) -> None: ...


class Sink(Protocol):
    """Where scores and failures go as they are made."""

    def add(self, scores: Sequence[Score], failures: Sequence[Failure]) -> None: ...


@dataclass(frozen=True)
class JournalCorpus:
    """The journal as something statistics can stream over, as often as they like."""

    journal: Journal
    plan: Plan
    places: int
    only: Callable[[Item], bool] | None = None
    """Which items count, where not all do."""

    def __iter__(self) -> Iterator[Features]:
        every = self.journal.read(self.plan.kept, self.places)
        return every if self.only is None else (got for got in every if self.only(got.item))


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

    def of(self, specs: Sequence[str]) -> "Run":
        """The same with some of its metrics only, maybe with none."""
        other = copy(self)
        other.plan = Plan.of(specs) if specs else Plan({}, (), (), ())
        return other

    def score(
        self,
        items: Iterable[Item | BadLine],
        journal: Journal,
        sink: Sink,
        progress: Progress,
        learn_from: Collection[Key] | None = None,
    ) -> dict[str, Any]:
        """Score every item into the sink and return the summary. What is no item is a failure of every metric.

        Corpus statistics are fitted once, whatever systems there are: on the items whose keys are in `learn_from`, on
        those of the system that the option `fit_on` names, or on all.
        """
        try:
            with same_bits():
                return self._score(items, journal, sink, progress, learn_from)
        finally:
            self.tools.close()

    def _score(
        self,
        items: Iterable[Item | BadLine],
        journal: Journal,
        sink: Sink,
        progress: Progress,
        learn_from: Collection[Key] | None,
    ) -> dict[str, Any]:
        for statistic in self.plan.statistics:
            statistic.check(self.tools)
        left_out = LeftOut()
        places = self._compute(items, journal, left_out, progress)
        corpus = JournalCorpus(journal, self.plan, places)
        learned = JournalCorpus(journal, self.plan, places, self._learned(learn_from, left_out))
        fitted = Fitted({statistic: statistic.fit(learned, self.tools) for statistic in self.plan.statistics})
        signatures = {
            spec: metric.signature(self.tools, fitted) for spec, metric in self.plan.metrics.items()
        }
        totals = Totals(self.plan.metrics)
        done = 0
        for batch in _chunks(corpus, BATCH_ITEMS):
            for spec, metric in self.plan.metrics.items():
                able, scores, failures = score_batch(spec, metric, batch, fitted, signatures[spec])
                totals.add(spec, able, scores)
                totals.fail(failures)
                sink.add(scores, failures)
            done += len(batch)
            progress("scores", done)
        for spec in self.plan.metrics:
            failures = left_out.failures(spec)
            totals.fail(failures)
            sink.add([], failures)
        self.fitted = fitted
        told = totals.summary(signatures)
        for spec, metric in self.plan.metrics.items():
            if metric.lower_is_better:
                told["metrics"][spec]["lower_is_better"] = True
        return {
            **told,
            "resources": self._resources(signatures.values()),
            "items": places,
            "duplicates": len(left_out.duplicates),
            "bad_lines": len(left_out.bad_lines),
            "captions": left_out.captions,
            **provenance(),
            "input": {"digest": str(left_out.digest)},
            "settings": self.tools.settings.told,
            **({"judges": spent} if (spent := self.tools.spent) else {}),
        }

    def _resources(self, signatures: Iterable[str]) -> dict[str, dict[str, str]]:
        """What stands behind the digests in the signatures: what the user wrote, where it lies, what it ran on."""
        text = " ".join(signatures)
        held = {one.digest: one.told() for one in self.tools.holder.resources()}
        return {digest: held[digest] for digest in sorted(held) if digest in text}

    def _learned(
        self, learn_from: Collection[Key] | None, left_out: "LeftOut"
    ) -> Callable[[Item], bool] | None:
        """Which items statistics are fitted on, where not on all."""
        chosen = self.tools.option("fit_on")
        if learn_from is not None:
            return lambda item: item.key in learn_from
        if chosen is None:
            return None
        if chosen not in left_out.systems:
            raise unknown("system", chosen, [name for name in left_out.systems if name is not None])
        return lambda item: item.system == chosen

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
                rest = [(place, got) for place, got in batch if got.item.key not in known]
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
    """What the input holds besides items: lines that are none, and items whose id the system had before."""

    duplicates: list[Item] = field(default_factory=list)
    bad_lines: list[BadLine] = field(default_factory=list)
    digest: InputDigest = field(default_factory=InputDigest)
    """Of the items."""
    captions: int = 0
    """How many of the items are captions; the others are stories."""
    systems: dict[str | None, None] = field(default_factory=dict)
    """Those that the items are of."""

    def without(self, stream: Iterable[Item | BadLine]) -> Iterator[tuple[int, Features]]:
        """The items of the stream with their places; the rest is noted here."""
        seen: set[Key] = set()
        for one in stream:
            if isinstance(one, BadLine):
                self.bad_lines.append(one)
            elif one.key in seen:
                self.duplicates.append(one)
            else:
                seen.add(one.key)
                self.systems.setdefault(one.system)
                self.digest.add(one)
                self.captions += is_caption(one)
                yield len(seen) - 1, Features(one)

    def failures(self, metric: str) -> list[Failure]:
        return [
            *(Failure(bad.id, metric, bad.reason, bad.where, bad.system) for bad in self.bad_lines),
            *(Failure(item.id, metric, DUPLICATE, item.source, item.system) for item in self.duplicates),
        ]


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
