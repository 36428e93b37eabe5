"""The papers' experiments: ablation, original against random, number of references, splits, criteria against votes."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UsageError
from sightline.items import Failure, Item
from sightline.meta.correlation import NAMES, correlate
from sightline.meta.evaluate import SAMPLES, Evaluation, evaluate
from sightline.meta.protocols.base import Observations
from sightline.meta.ratings import Scale
from sightline.meta.scoring import Scored
from sightline.registry import Registry

ABLATION = (
    "groovist",
    "groovist:weights=none",
    "groovist:penalty=off",
    "groovist:weights=none,penalty=off",
    "groovist:units=nouns",
    "groovist:weights=idf",
    "groovist:weights=idf,units=nouns",
)
"""GROOViST and its six variants (Table 2)."""
RANDOM = 5
SEPARATOR = "\x1f"
"""Between an item's id and the number of its random pairing."""
HIGH_T = 1.0
LIKED = 3.0
"""GROOViST's split by phrases looks at texts that people rate so high at least."""
Cell = str | float | int | None


class Score(Protocol):
    """Scores items with metrics, every feature once; corpus statistics from the named items alone."""

    def __call__(
        self, items: Sequence[Item], metrics: Sequence[str], *, learn_from: Collection[str] | None = None
    ) -> Scored: ...


@dataclass(frozen=True)
class Given:
    """What an experiment works on."""

    items: Sequence[Item]
    metrics: Sequence[str]
    score: Score
    observations: Observations = "mean"
    headline: str = "kendall_c"
    scale: Scale | None = None
    overall: bool = True
    agreement: bool = True
    samples: int = SAMPLES
    seed: int = 0

    def evaluate(self, items: Sequence[Item], scored: Scored) -> Evaluation:
        return evaluate(
            items,
            scored.scores,
            observations=self.observations,
            scale=self.scale,
            overall=self.overall,
            agreement=self.agreement,
            samples=self.samples,
            seed=self.seed,
        )


@dataclass(frozen=True)
class Plot:
    """A column to draw: as bars, coloured by another column, or against a column of numbers as lines."""

    column: str
    colour: str | None = None
    across: str | None = None
    interval: tuple[str, str] | None = None
    once: bool = False
    """Whether it is the same for every criterion."""


@dataclass(frozen=True)
class Table:
    """What an experiment leaves."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    plots: tuple[Plot, ...]
    notes: tuple[str, ...] = ()
    failures: tuple[Failure, ...] = ()


Experiment = Callable[[Given], Table]
experiments: Registry[Experiment] = Registry("experiment")


def shuffled(items: Sequence[Item], seed: int = 0) -> list[list[Item]]:
    """For each item, its pictures with five texts of other items."""
    rng = np.random.default_rng(seed)
    made = []
    for place, item in enumerate(items):
        others = [k for k in range(len(items)) if k != place and items[k].images != item.images]
        if not others:
            raise UsageError("random pairings need items with different pictures")
        chosen = [items[int(k)] for k in rng.choice(others, min(RANDOM, len(others)), replace=False)]
        made.append(
            [
                replace(
                    item,
                    id=f"{item.id}{SEPARATOR}{number}",
                    text=text.text,
                    sentences=text.sentences,
                    ratings={},
                )
                for number, text in enumerate(chosen)
            ]
        )
    return made


def score_with_random(given: Given, items: Sequence[Item], metrics: Sequence[str]) -> Scored:
    """Originals and random pairings in one run; theta and idf come from the originals alone, as in the paper."""
    together = [one for item, random in zip(items, shuffled(items), strict=True) for one in (item, *random)]
    return given.score(together, metrics, learn_from={item.id for item in items})


def failed(*runs: Scored) -> tuple[Failure, ...]:
    """What the runs could not score, each once; an original that fails tells for its random pairings too."""
    every = [failure for run in runs for failure in run.failures]
    originals = {(failure.id, failure.metric) for failure in every}
    found: dict[tuple[str, str, str], Failure] = {}
    for failure in every:
        id, pairing, _ = failure.id.partition(SEPARATOR)
        if pairing and (id, failure.metric) in originals:
            continue
        reason = f"with the text of another item: {failure.reason}" if pairing else failure.reason
        found.setdefault((id, failure.metric, reason), replace(failure, id=id, reason=reason))
    return tuple(found.values())


def gaps(items: Sequence[Item], scores: Mapping[str, float]) -> NDArray[np.float64]:
    """The original's score less the best random one's, of every item that has both."""
    found = []
    for item in items:
        random = [scores[id] for k in range(RANDOM) if (id := f"{item.id}{SEPARATOR}{k}") in scores]
        if item.id in scores and random:
            found.append(scores[item.id] - max(random))
    return np.array(found)


def first_criterion(items: Sequence[Item], scores: Mapping[str, float]) -> tuple[Cell, ...]:
    """Mean difference with its interval, win rate (a tie counts half) and n."""
    gap = gaps(items, scores)
    if not len(gap):
        return None, None, None, None, 0
    wins = float(np.mean((gap > 0) + 0.5 * (gap == 0)))
    rng = np.random.default_rng(0)
    means = [gap[rng.integers(0, len(gap), len(gap))].mean() for _ in range(SAMPLES)]
    low, high = np.quantile(means, (0.025, 0.975))
    return float(gap.mean()), float(low), float(high), wins, len(gap)


FIRST = ("difference", "low", "high", "win rate", "n")


@experiments.add("random")
def original_against_random(given: Given) -> Table:
    """Original texts against the best of five random ones: mean difference and win rate (GROOViST, criterion 1)."""
    scored = score_with_random(given, given.items, given.metrics)
    rows = tuple((metric, *first_criterion(given.items, scored.scores[metric])) for metric in given.metrics)
    plots = (Plot("difference", interval=("low", "high")), Plot("win rate"))
    return Table(
        "Original against random",
        ("metric", *FIRST),
        rows,
        plots,
        (_criterion_1(given.items),),
        failed(scored),
    )


def _criterion_1(items: Sequence[Item]) -> str:
    return (
        f"{len(items):,} items, each original text against the best of {RANDOM} texts of other items for the same "
        "pictures; n counts the items with a score for both; theta and idf from the originals; intervals by "
        "bootstrap over the items"
    )


@experiments.add("ablation")
def ablation(given: Given) -> Table:
    """GROOViST's seven variants on both criteria, each item's features computed once (Tables 2 and 3)."""
    rated = [item for item in given.items if item.ratings]
    stories = [item for item in given.items if len(item.images) > 1] or list(given.items)
    mine = {item.id for item in stories}
    pairings = score_with_random(given, stories, ABLATION)
    scored = pairings if all(item.id in mine for item in rated) else given.score(rated, ABLATION)
    first = {metric: first_criterion(stories, pairings.scores[metric]) for metric in ABLATION}
    rows: list[tuple[Cell, ...]] = [(metric, None, *first[metric], *(None,) * 7) for metric in ABLATION]
    if rated:
        evaluation = given.evaluate(rated, scored)
        rows = [
            (
                row.metric,
                row.criterion,
                *first[row.metric],
                *(row.correlation.values[name] for name in NAMES),
                *(row.ci.get(given.headline) or (None, None)),
                row.correlation.n,
            )
            for row in evaluation.rows
        ]
    ends = (f"{given.headline} low", f"{given.headline} high")
    columns = ("metric", "criterion", *FIRST[:-1], "stories", *NAMES, *ends, "observations")
    plots = (Plot("difference", interval=("low", "high"), once=True), Plot(given.headline, interval=ends))
    notes = (
        f"Criterion 1: {_criterion_1(stories)}",
        f"Criterion 2: {len(rated):,} rated items" if rated else "Criterion 2: no item has ratings",
    )
    return Table("Ablation", columns, tuple(rows), plots, notes, failed(pairings, scored))


@experiments.add("references")
def number_of_references(given: Given) -> Table:
    """Correlation against the number of references (RoViST, Figure 4)."""
    most = min((len(item.references) for item in given.items), default=0)
    if most < 2:
        raise UsageError("every item needs at least two references for this experiment")
    rows: list[tuple[Cell, ...]] = []
    runs: list[Scored] = []
    for count in range(1, most + 1):
        fewer = [replace(item, references=item.references[:count]) for item in given.items]
        runs.append(given.score(fewer, given.metrics))
        for row in given.evaluate(fewer, runs[-1]).rows:
            values = (row.correlation.values[name] for name in NAMES)
            between = row.ci.get(given.headline) or (None, None)
            rows.append((row.metric, row.criterion, count, *values, *between, row.correlation.n))
    ends = (f"{given.headline} low", f"{given.headline} high")
    columns = ("metric", "criterion", "references", *NAMES, *ends, "n")
    plots = tuple(
        Plot(name, colour="metric", across="references")
        for name in dict.fromkeys((given.headline, "spearman"))
    )
    return Table("Number of references", columns, tuple(rows), plots, failures=failed(*runs))


@experiments.add("splits")
def splits(given: Given) -> Table:
    """Correlation by temporal misalignment T and by proportion of phrases P (GROOViST, Figure 3)."""
    asked = list(dict.fromkeys(["groovist", *given.metrics]))
    scored = given.score(given.items, asked)
    parts = {id: evidence.parts for id, evidence in scored.evidence["groovist"].items()}
    rated = [item for item in given.items if _mean(item) is not None and item.id in parts]
    timed = [item for item in rated if "T" in parts[item.id]]
    bins = {
        f"low T (< {HIGH_T:g})": [item for item in timed if parts[item.id]["T"] < HIGH_T],
        f"high T (≥ {HIGH_T:g})": [item for item in timed if parts[item.id]["T"] >= HIGH_T],
    }
    liked = [item for item in rated if "P" in parts[item.id] and (_mean(item) or 0) >= LIKED]
    if liked:
        share = np.array([parts[item.id]["P"] for item in liked])
        cut = mode(share)
        bins[f"low P (< {cut:.4f})"] = [item for item, p in zip(liked, share, strict=True) if p < cut]
        bins[f"high P (≥ {cut:.4f})"] = [item for item, p in zip(liked, share, strict=True) if p >= cut]
    rows: list[tuple[Cell, ...]] = []
    for name, members in bins.items():
        for metric in asked:
            kept = [item for item in members if item.id in scored.scores[metric]]
            found = correlate(
                [scored.scores[metric][item.id] for item in kept], [_mean(item) or 0.0 for item in kept]
            )
            rows.append((name, metric, *(found.values[key] for key in NAMES), found.n))
    plot = Plot(given.headline, colour="metric")
    return Table(
        "Splits by T and P", ("bin", "metric", *NAMES, "n"), tuple(rows), (plot,), failures=failed(scored)
    )


def mode(values: NDArray[np.float64]) -> float:
    """The most frequent value to four decimals, the smallest among equals: GROOViST's cut."""
    found, times = np.unique(np.round(values, 4), return_counts=True)
    return float(found[times.argmax()])


def _mean(item: Item) -> float | None:
    means = [float(np.mean(values)) for values in item.ratings.values() if values]
    return float(np.mean(means)) if means else None


@experiments.add("ranking")
def criteria_against_votes(given: Given) -> Table:
    """Criteria against the ranking by votes within each picture sequence, averaged (RoViST, Table 2)."""
    groups: dict[str, list[Item]] = {}
    for item in given.items:
        if isinstance(item.extra.get("votes"), int | float) and item.ratings:
            groups.setdefault(str(item.extra.get("group", item.id)), []).append(item)
    if not groups:
        raise UsageError(
            'no item has "votes"; this experiment ranks the stories of a picture sequence by them'
        )
    criteria = list(dict.fromkeys(name for item in given.items for name in item.ratings))
    rows: list[tuple[Cell, ...]] = []
    for criterion in [*criteria, "overall"]:
        found: list[Mapping[str, float | None]] = []
        for members in groups.values():
            names = criteria if criterion == "overall" else [criterion]
            kept = [item for item in members if all(item.ratings.get(name) for name in names)]
            liking = [sum(float(np.mean(item.ratings[name])) for name in names) for item in kept]
            one = correlate(liking, [float(item.extra["votes"]) for item in kept])
            if one.why is None:
                found.append(one.values)
        means = [float(np.mean([v[name] for v in found])) if found else None for name in NAMES]
        rows.append((criterion, *means, len(found)))
    columns = ("criterion", *NAMES, "sequences")
    return Table("Criteria against votes", columns, tuple(rows), (Plot("kendall_b"),))
