"""Scores of a study's items, through the same pipeline as every other score."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sightline.errors import BadLine
from sightline.items import Evidence, Failure, Item, Key
from sightline.meta.rivals import with_rivals
from sightline.metrics import make_metric
from sightline.pipeline.memory import score_in_memory, silent
from sightline.pipeline.plan import Plan
from sightline.pipeline.run import Progress, Run
from sightline.pipeline.settings import Settings


@dataclass(frozen=True)
class Scored:
    """Scores by metric and item (its id and system), the evidence behind them, and what could not be scored."""

    scores: dict[str, dict[Key, float]]
    evidence: dict[str, dict[Key, Evidence]]
    signatures: dict[str, str]
    failures: list[Failure]
    corpus: dict[str, float | None] = field(default_factory=dict)
    """Corpus-level values, of the metrics that have one."""
    notes: tuple[str, ...] = ()
    """What a reader must know: whose scores are turned, so that higher is better; which pictures are missing."""


def reads_pictures(metrics: Sequence[str]) -> bool:
    """Whether any of the metrics opens picture files, or has them shown to a judge."""
    return Plan.of(metrics).needs_pictures


def missing_pictures(items: Iterable[Item], named: int = 5) -> tuple[str, ...]:
    """A note that counts the pictures that are not there and names some; the rest is scored."""
    every = {path for item in items for path in item.images}
    missing = sorted(path.name for path in every if not path.is_file())
    if not missing:
        return ()
    more = f" and {len(missing) - named:,} more" if len(missing) > named else ""
    return (f"{len(missing):,} of {len(every):,} pictures are missing: {', '.join(missing[:named])}{more}",)


def score_items(
    items: Sequence[Item | BadLine],
    metrics: Sequence[str],
    settings: Settings | None = None,
    *,
    engine: str = "local",
    workers: int | None = None,
    progress: Progress = silent,
    learn_from: Collection[Key] | None = None,
) -> Scored:
    """Score items with metrics, every feature computed once; corpus statistics from the named items, or from all.

    A line that was none is a failure of every metric.
    """
    run = Run(metrics, settings or Settings(), engine, workers=workers)
    kept = score_in_memory(
        with_rivals(items, run.plan),
        run,
        progress,
        None if learn_from is None else set(learn_from),
    )
    scores: dict[str, dict[Key, float]] = {spec: {} for spec in metrics}
    evidence: dict[str, dict[Key, Evidence]] = {spec: {} for spec in metrics}
    turned = [spec for spec in metrics if make_metric(spec).lower_is_better]
    for found in kept.scores:
        scores[found.metric][found.key] = -found.score if found.metric in turned else found.score
        evidence[found.metric][found.key] = found.evidence
    signatures = {spec: row["signature"] for spec, row in kept.summary["metrics"].items()}
    corpus = {spec: row.get("corpus") for spec, row in kept.summary["metrics"].items()}
    notes = tuple(
        f"{spec} counts faults: its scores are held against people with their sign turned" for spec in turned
    )
    if run.plan.needs_pictures:
        notes += missing_pictures(item for item in items if isinstance(item, Item))
    return Scored(scores, evidence, signatures, kept.failures, corpus, notes)


def shared_notes(evidence: Mapping[str, Mapping[Key, Evidence]], share: float = 0.05) -> tuple[str, ...]:
    """What the evidence of at least this share of a metric's items says, word for word: a reader of the row must know.

    Above all that a learned metric was trained on the very pictures it is tested on here.
    """
    found: list[str] = []
    for metric, by_item in evidence.items():
        counts = Counter(note for one in by_item.values() for note in set(one.notes))
        found += [
            f"{metric}: {note} ({count:,} of {len(by_item):,} items)"
            for note, count in counts.items()
            if count >= share * len(by_item)
        ]
    return tuple(found)
