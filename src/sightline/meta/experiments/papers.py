"""The papers' experiments: ablation, original against random, number of references, splits, criteria against votes."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UsageError
from sightline.items import Item, Key
from sightline.meta.correlation import NAMES, correlate
from sightline.meta.evaluate import ONE_GROUP, evaluate
from sightline.meta.experiments.base import Cells, ExperimentTable, ExperimentTask, Plot, experiments, why
from sightline.meta.experiments.pairings import (
    FirstCriterion,
    failed,
    first_criterion,
    mean_intervals,
    shuffled,
)
from sightline.meta.ratings import OVERALL, mean, votes_of
from sightline.meta.scoring import Scored
from sightline.registry import build, parse_spec

__all__ = [
    "ABLATION",
    "ExperimentTask",
    "ExperimentTable",
    "experiments",
    "make_experiment",
    "mode",
    "split_at",
]

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
LIKED = 3.0
"""GROOViST's split by phrases looks at texts that people rate so high at least."""
Parts = Mapping[Key, Mapping[str, float]]
"""Item to the named numbers beside its score."""
Groups = Mapping[str, Sequence[Item]]


@dataclass(frozen=True)
class Nothing:
    """No options."""


@dataclass(frozen=True)
class Cuts:
    """Where `splits` cuts: `splits:p=0.2325,t=1`."""

    p: float | None = None
    """The proportion of phrases that is high; the mode of the liked texts' where it is not given."""
    t: float = 1.0
    """The temporal misalignment that is high."""


@dataclass(frozen=True)
class ReferencesAsked:
    """How far `references` goes: `references:most=5`."""

    most: int | None = None
    """References an item must have to take part; as many as half the items have, where it is not given."""


def make_experiment(spec: str) -> tuple[str, Callable[[ExperimentTask], ExperimentTable]]:
    """An experiment's name, and the experiment, from `name` or `name:key=value`."""
    name, options = parse_spec(spec)
    found = experiments.get(name)
    if name == "splits":
        return name, partial(split_at, cuts=build(Cuts, name, options))
    if name == "references":
        return name, partial(up_to_references, asked=build(ReferencesAsked, name, options))
    build(Nothing, name, options)
    return name, found


FIRST = ("difference", "low", "high", "win rate", "win rate low", "win rate high", "n")
DIFFERENCE = Plot("difference", interval=("low", "high"), once=True)
WINS = Plot("win rate", interval=("win rate low", "win rate high"), once=True, span=(0, 1), mark=0.5)


def first_cells(found: FirstCriterion) -> Cells:
    between, wins = found.difference_ci or (None, None), found.wins_ci or (None, None)
    return found.difference, *between, found.wins, *wins, found.n


def first_of(
    given: ExperimentTask, items: Sequence[Item], metrics: Sequence[str]
) -> tuple[Scored, dict[str, FirstCriterion], str]:
    """Originals and random pairings in one run; theta and idf come from the originals alone, as in the paper."""
    random = shuffled(items, given.seed)
    together = [one for item, others in zip(items, random, strict=True) for one in (item, *others)]
    scored = given.score(together, metrics, learn_from={item.key for item in items})
    found = {
        metric: first_criterion(items, scored.scores[metric], given.samples, given.seed) for metric in metrics
    }
    counts = sorted({len(others) for others in random})
    best = " to ".join(str(count) for count in dict.fromkeys((counts[0], counts[-1])))
    return scored, found, (
        f"{len(items):,} items, each original text against the best of {best} texts of other items for the same "
        "pictures; n counts the items with a score for both; theta and idf from the originals; intervals by "
        "bootstrap over the images or stories"
    )  # fmt: skip


@experiments.add("random")
def original_against_random(given: ExperimentTask) -> ExperimentTable:
    """Original texts against the best of five random ones: mean difference and win rate (GROOViST, criterion 1)."""
    scored, first, note = first_of(given, given.items, given.metrics)
    rows = tuple((metric, *first_cells(found), found.why) for metric, found in first.items())
    columns = ("metric", *FIRST, "why")
    return ExperimentTable(
        "Original against random", columns, rows, (DIFFERENCE, WINS), (note,), failed(scored)
    )


@experiments.add("ablation")
def ablation(given: ExperimentTask) -> ExperimentTable:
    """GROOViST's seven variants on both criteria, each item's features computed once (Tables 2 and 3)."""
    rated = [item for item in given.items if item.ratings]
    stories = [item for item in given.items if len(item.images) > 1] or list(given.items)
    mine = {item.key for item in stories}
    pairings, first, note = first_of(given, stories, ABLATION)
    scored = pairings if all(item.key in mine for item in rated) else given.score(rated, ABLATION)
    rows: list[Cells] = [
        (metric, None, *first_cells(found), *(None,) * 7, found.why) for metric, found in first.items()
    ]
    if rated:
        rows = [
            (
                row.metric,
                row.criterion,
                *first_cells(first[row.metric]),
                *given.cells(row),
                row.correlation.n,
                why(row) or first[row.metric].why,
            )
            for row in given.evaluate(rated, scored).rows
        ]
    columns = ("metric", "criterion", *FIRST[:-1], "stories", *NAMES, *given.ends, "observations", "why")
    notes = (
        f"Criterion 1: {note}",
        f"Criterion 2: {len(rated):,} rated items" if rated else "Criterion 2: no item has ratings",
    )
    plots = (DIFFERENCE, WINS, Plot(given.headline, interval=given.ends))
    return ExperimentTable("Ablation", columns, tuple(rows), plots, notes, failed(pairings, scored))


@experiments.add("references")
def number_of_references(given: ExperimentTask) -> ExperimentTable:
    """Correlation against the number of references (RoViST, Figure 4)."""
    return up_to_references(given, ReferencesAsked())


def up_to_references(given: ExperimentTask, asked: ReferencesAsked) -> ExperimentTable:
    """The same items with one reference, two, … up to what is asked for: those that have so many."""
    counts = sorted((len(item.references) for item in given.items), reverse=True)
    most = asked.most if asked.most is not None else counts[(len(counts) - 1) // 2] if counts else 0
    kept = [item for item in given.items if len(item.references) >= most]
    if most < 2 or not kept:
        raise UsageError(
            f"this experiment needs items with at least two references; with references:most={max(most, 2)} there is "
            f"{'none' if most >= 2 else 'too little'} (the most that an item has is {counts[0] if counts else 0})"
        )
    rows: list[Cells] = []
    runs: list[Scored] = []
    for count in range(1, most + 1):
        fewer = [replace(item, references=item.references[:count]) for item in kept]
        runs.append(given.score(fewer, given.metrics))
        rows.extend(
            (row.metric, row.criterion, count, *given.cells(row), row.correlation.n, why(row))
            for row in given.evaluate(fewer, runs[-1]).rows
        )
    columns = ("metric", "criterion", "references", *NAMES, *given.ends, "n", "why")
    plots = (
        Plot(given.headline, colour="metric", across="references"),
        Plot(
            given.headline,
            colour="metric",
            interval=given.ends,
            named=("metric", "references"),
            title="With intervals",
        ),
    )
    left_out = len(given.items) - len(kept)
    notes = (
        f"{left_out:,} of {len(given.items):,} items have fewer than {most} references and are left out",
    )
    return ExperimentTable(
        "Number of references", columns, tuple(rows), plots, notes if left_out else (), failed(*runs)
    )


@experiments.add("splits")
def splits(given: ExperimentTask) -> ExperimentTable:
    """Correlation by temporal misalignment T and by proportion of phrases P (GROOViST, Figure 3)."""
    return split_at(given, Cuts())


def split_at(given: ExperimentTask, cuts: Cuts) -> ExperimentTable:
    """The four bins' correlations, with the given cuts."""
    asked = list(dict.fromkeys(["groovist", *given.metrics]))
    scored = given.score(given.items, asked)
    parts = {key: evidence.parts for key, evidence in scored.evidence["groovist"].items()}
    rated = {
        item.key: replace(item, ratings={"mean": (liked,)}, extra={"group": item.group})
        for item in given.items
        if (liked := _mean(item)) is not None and item.key in parts
    }
    rows: list[Cells] = []
    for name, members in _bins(list(rated.values()), parts, cuts).items():
        if not members:
            rows.extend((name, metric, *(None,) * 6, 0, "no item is in this bin") for metric in asked)
            continue
        found = evaluate(members, scored.scores, samples=given.samples, seed=given.seed)
        rows.extend((name, row.metric, *given.cells(row), row.correlation.n, why(row)) for row in found.rows)
    columns = ("bin", "metric", *NAMES, *given.ends, "n", "why")
    plot = Plot(given.headline, colour="metric", interval=given.ends, named=("bin", "metric"))
    note = f"P: texts with a mean rating of {LIKED:g} at least, cut at " + (
        "the most frequent P" if cuts.p is None else "the given P"
    )
    return ExperimentTable("Splits by T and P", columns, tuple(rows), (plot,), (note,), failed(scored))


def _bins(rated: Sequence[Item], parts: Parts, cuts: Cuts) -> dict[str, list[Item]]:
    """Items by T, and those that people like by P; shares are compared as they are printed, to four decimals."""
    t = {item.key: parts[item.key]["T"] for item in rated if "T" in parts[item.key]}
    bins = {
        f"low T (< {cuts.t:g})": [item for item in rated if t.get(item.key, math.inf) < cuts.t],
        f"high T (≥ {cuts.t:g})": [item for item in rated if t.get(item.key, -math.inf) >= cuts.t],
    }
    liked = [item for item in rated if "P" in parts[item.key] and item.ratings["mean"][0] >= LIKED]
    if liked:
        p = {item.key: round(parts[item.key]["P"], 4) for item in liked}
        cut = mode(np.array(list(p.values()))) if cuts.p is None else round(cuts.p, 4)
        bins[f"low P (< {cut:.4f})"] = [item for item in liked if p[item.key] < cut]
        bins[f"high P (≥ {cut:.4f})"] = [item for item in liked if p[item.key] >= cut]
    return bins


def mode(values: NDArray[np.float64]) -> float:
    """The most frequent value to four decimals, the smallest among equals: GROOViST's cut."""
    found, times = np.unique([round(float(value), 4) for value in values], return_counts=True)
    return float(found[times.argmax()])


def _mean(item: Item) -> float | None:
    means = [mean(values) for values in item.ratings.values() if values]
    return mean(means) if means else None


@experiments.add("ranking")
def criteria_against_votes(given: ExperimentTask) -> ExperimentTable:
    """Criteria against the ranking by votes within each picture sequence, averaged (RoViST, Table 2)."""
    groups: dict[str, list[Item]] = {}
    for item in given.items:
        if votes_of(item) is not None and item.ratings:
            groups.setdefault(item.group, []).append(item)
    if not groups:
        raise UsageError(
            'no item has "votes"; this experiment ranks the stories of a picture sequence by them'
        )
    criteria = list(dict.fromkeys(name for item in given.items for name in item.ratings))
    rows = [
        (criterion, *_against_votes(given, criteria if criterion == OVERALL else [criterion], groups))
        for criterion in dict.fromkeys((*criteria, OVERALL))
    ]
    columns = ("criterion", *NAMES, "kendall_b low", "kendall_b high", "sequences", "why")
    plot = Plot("kendall_b", interval=("kendall_b low", "kendall_b high"))
    return ExperimentTable("Criteria against votes", columns, tuple(rows), (plot,))


def _against_votes(given: ExperimentTask, names: Sequence[str], groups: Groups) -> Cells:
    """The criteria's sum against the votes: means over the sequences, tau_b's interval, their number, and why not."""
    found: dict[str, list[float]] = {}
    reasons: list[str] = []
    for group, members in groups.items():
        kept = [item for item in members if all(item.ratings.get(name) for name in names)]
        liking = [sum(mean(item.ratings[name]) for name in names) for item in kept]
        one = correlate([votes_of(item) or 0.0 for item in kept], liking)
        if one.why is None:
            found[group] = [value for value in one.values.values() if value is not None]
        else:
            reasons.append(one.why.replace("scores", "votes"))
    if not found:
        return *(None,) * 6, 0, "; ".join(dict.fromkeys(reasons))
    values = np.array(list(found.values()))
    (ends,) = mean_intervals([values[:, 0]], list(found), given.samples, given.seed)
    why_not = ONE_GROUP if given.samples and len(found) < 2 else None
    return *map(float, values.mean(axis=0)), *(ends or (None, None)), len(found), why_not
