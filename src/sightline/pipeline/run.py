"""A run, from items to scores: features batch by batch into the journal, corpus statistics, then every score."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Protocol

from sightline.errors import BadLine, UsageError, unknown
from sightline.features.base import Features, Fit, Fitted, Statistic
from sightline.io.item_file import ItemFile
from sightline.io.provenance import provenance
from sightline.items import Failure, Item, Key, Score
from sightline.pipeline import local, ray_engine
from sightline.pipeline.batches import Kept, cut, shards
from sightline.pipeline.engines import Engine, Here, engines, rarely_swept, same_bits
from sightline.pipeline.journal import Journal, Log
from sightline.pipeline.plan import Plan, fingerprint
from sightline.pipeline.repeats import Repeats
from sightline.pipeline.scoring import Scored, ScoreStage, Task, left_out
from sightline.pipeline.settings import LocalTools, Settings
from sightline.pipeline.stages import Computed, FeatureStage, Learned, PartialStage, features_of
from sightline.pipeline.totals import Totals
from sightline.pipeline.wire import InputDigest
from sightline.resources import Holder

ENGINES = (local.local, ray_engine.ray)
"""Those that are always there, by their names in the registry."""


class Progress(Protocol):
    """Told how far the run is."""

    def __call__(self, stage: str, done: int) -> None: ...


class Sink(Protocol):
    """Where scores and failures go as they are made."""

    def add(self, scores: Sequence[Score], failures: Sequence[Failure]) -> None: ...

    def add_shard(self, name: str) -> None:
        """Scores that a worker left in the journal's folder."""
        ...


@dataclass(frozen=True)
class JournalCorpus:
    """The journal as something a statistic that has no parts can stream over, as often as it likes."""

    journal: Journal
    plan: Plan
    batches: Sequence[Kept]
    learned: Learned

    def __iter__(self) -> Iterator[Features]:
        for batch in self.batches:
            for _, got in features_of(self.journal.log.read(batch.place), batch, self.plan):
                if self.learned(got.item):
                    yield got


class Run:
    """One scoring run. What it loads is let go when it ends, unless the caller gives a holder that keeps it."""

    def __init__(
        self,
        specs: Sequence[str],
        settings: Settings,
        engine: str = "local",
        holder: Holder | None = None,
        workers: int | None = None,
    ) -> None:
        self.plan = Plan.of(specs)
        self.tools = LocalTools(settings, holder)
        self.fitted = Fitted()
        self._engine, self._workers = engines.get(engine), workers

    def engine(self, log: Log) -> Engine:
        """What does the work."""
        return self._engine(Here(self.tools, log, self._workers))

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
            with same_bits(), rarely_swept():
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
        engine = self.engine(journal.log)
        if engine.elsewhere and self.tools.option("judge_budget"):
            raise UsageError("--judge-budget holds within one process: leave out --workers and --engine")
        learned = Learned(self.tools.option("fit_on") if learn_from is None else None, learn_from)
        batches = self._compute(items, journal, engine, learned, progress)
        self.fitted = fitted = self._fit(batches, journal, engine, learned)
        signatures = {
            spec: metric.signature(self.tools, fitted) for spec, metric in self.plan.metrics.items()
        }
        totals, digest = Totals(self.plan.metrics), InputDigest()
        stage = ScoreStage(tuple(self.plan.metrics), fitted, signatures, journal.folder)
        tasks = (Task(number, shard) for number, shard in enumerate(shards(batches)))
        done = captions = 0
        scored: Scored
        for scored in engine.map(stage, tasks):
            totals.add_sums(scored.tally.sums)
            digest.add(scored.tally.content)
            captions += scored.tally.captions
            done += scored.tally.items
            if scored.shard:
                sink.add_shard(scored.shard)
            else:
                sink.add(scored.scores, scored.failures)
            progress("scores", done)
        bad, duplicates = self._left_out(batches, journal, totals, sink)
        told = totals.summary(signatures)
        for spec, metric in self.plan.metrics.items():
            if metric.lower_is_better:
                told["metrics"][spec]["lower_is_better"] = True
        return {
            **told,
            "resources": self._resources(signatures.values()),
            "items": done,
            "duplicates": duplicates,
            "bad_lines": bad,
            "captions": captions,
            **provenance(),
            "input": {"digest": str(digest)},
            "settings": self.tools.settings.told,
            **({"judges": spent} if (spent := self.tools.spent) else {}),
        }

    def _left_out(
        self, batches: Sequence[Kept], journal: Journal, totals: Totals, sink: Sink
    ) -> tuple[int, int]:
        """Failures of every metric: lines that are no items, and items that came before. Returns how many of each."""
        rows = left_out(journal.log, batches)
        for spec in self.plan.metrics:
            failures = [Failure(id, spec, reason, where, system) for id, reason, where, system in rows]
            totals.fail(failures)
            sink.add([], failures)
        duplicates = sum(len(batch.left_out) for batch in batches)
        return len(rows) - duplicates, duplicates

    def _resources(self, signatures: Iterable[str]) -> dict[str, dict[str, str]]:
        """What stands behind the digests in the signatures: what the user wrote, where it lies, what it ran on."""
        text = " ".join(signatures)
        held = {one.digest: one.told() for one in self.tools.holder.resources()}
        return {digest: held[digest] for digest in sorted(held) if digest in text}

    def _compute(
        self,
        items: Iterable[Item | BadLine],
        journal: Journal,
        engine: Engine,
        learned: Learned,
        progress: Progress,
    ) -> list[Kept]:
        """Features of every item into the journal."""
        counting = tuple(
            number for number, statistic in enumerate(self.plan.statistics) if statistic.counts_documents
        )
        specs = tuple(self.plan.metrics)
        expected = tuple(self.fingerprint.items()) if engine.elsewhere else ()
        stage = FeatureStage(specs, self.tools.settings, expected, learned, counting, journal.folder)
        batches = (
            replace(batch, earlier=tuple(journal.earlier(batch.number)))
            for batch in cut(items, self.plan.needs_pictures, engine.elsewhere)
        )
        repeats = Repeats(counting)
        systems: dict[str | None, None] = {}
        done = 0
        computed: Computed
        for computed in engine.map(stage, batches):
            repeats.add(computed)
            systems.update(dict.fromkeys(computed.systems))
            done += computed.items
            progress("features", done)
        found = repeats.found(journal.log)
        if not done and isinstance(items, ItemFile):
            rows = left_out(journal.log, islice(found, 1))
            id, reason, where, system = rows[0] if rows else ("", "", "", None)
            items.refuse_no_items(BadLine(where, reason, id, system) if rows else None)
        chosen = learned.system
        if chosen is not None and chosen not in systems:
            raise unknown("system", chosen, [name for name in systems if name is not None])
        return found

    def _fit(self, batches: Sequence[Kept], journal: Journal, engine: Engine, learned: Learned) -> Fitted:
        every = self.plan.statistics
        numbers = tuple(
            number
            for number, statistic in enumerate(every)
            if statistic.merges and statistic.learns(self.tools)
        )
        parts: dict[int, list[Any]] = {number: [] for number in numbers}
        if numbers:
            stage = PartialStage(tuple(self.plan.metrics), numbers, learned, journal.folder)
            for found in engine.map(stage, shards(batches)):
                for number, part in zip(numbers, found, strict=True):
                    parts[number].append(part)
                    if len(parts[number]) > AT_ONCE:
                        parts[number] = [every[number].merged(parts[number])]
        corpus = JournalCorpus(journal, self.plan, batches, learned)
        fits: dict[Statistic[Any], Fit[Any]] = {}
        for number, statistic in enumerate(every):
            if statistic.merges:
                part = statistic.merged(parts[number]) if number in parts else None
                fits[statistic] = statistic.fitted(part, self.tools)
            else:
                fits[statistic] = statistic.fit(corpus, self.tools)
        return Fitted(fits)


AT_ONCE = 16
"""Parts of a statistic that are merged together."""
