"""The papers' experiments: ablation, original against random, number of references, splits, criteria against votes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sightline.errors import UsageError
from sightline.items import Item
from sightline.meta.correlation import NAMES, correlate
from sightline.meta.evaluate import evaluate
from sightline.meta.scoring import Scored
from sightline.registry import Registry

Score = Callable[[Sequence[Item], Sequence[str]], Scored]
"""Scores items with metrics, every feature once."""
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


@dataclass(frozen=True)
class Table:
    """What an experiment leaves: a table, and the columns to draw as bars."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | float | int | None, ...], ...]
    drawn: str
    """The column that the plot shows."""


Experiment = Callable[[Sequence[Item], Sequence[str], Score], Table]
experiments: Registry[Experiment] = Registry("experiment")


def shuffled(items: Sequence[Item], seed: int = 0) -> list[Item]:
    """Each picture sequence with five texts of other items."""
    rng = np.random.default_rng(seed)
    made = []
    for place, item in enumerate(items):
        others = [k for k in range(len(items)) if k != place and items[k].images != item.images]
        if not others:
            raise UsageError("random pairings need items with different pictures")
        for number, other in enumerate(rng.choice(others, min(RANDOM, len(others)), replace=False)):
            text = items[int(other)]
            made.append(replace(item, id=f"{item.id}\x1f{number}", text=text.text, sentences=text.sentences))
    return made


@experiments.add("random")
def original_against_random(items: Sequence[Item], metrics: Sequence[str], score: Score) -> Table:
    """Original texts against the best of five random ones: mean difference and win rate (GROOViST, criterion 1)."""
    scored = score([*items, *shuffled(items)], metrics).scores
    rows = []
    for metric in metrics:
        gaps = []
        for item in items:
            random = [scored[metric].get(f"{item.id}\x1f{k}") for k in range(RANDOM)]
            best = max((value for value in random if value is not None), default=None)
            own = scored[metric].get(item.id)
            if own is not None and best is not None:
                gaps.append(own - best)
        wins = float(np.mean(np.array(gaps) > 0)) if gaps else None
        rows.append((metric, float(np.mean(gaps)) if gaps else None, wins, len(gaps)))
    return Table(
        "Original against random", ("metric", "mean difference", "win rate", "n"), tuple(rows), "win rate"
    )


@experiments.add("ablation")
def ablation(items: Sequence[Item], metrics: Sequence[str], score: Score) -> Table:
    """GROOViST's seven variants against people, features computed once (Table 2, criterion 2)."""
    found = evaluate(items, score(items, ABLATION).scores, samples=0)
    rows = [
        (row.metric, row.criterion, *(row.correlation.values[name] for name in NAMES), row.correlation.n)
        for row in found.rows
    ]
    return Table("Ablation", ("metric", "criterion", *NAMES, "n"), tuple(rows), "kendall_c")


@experiments.add("references")
def number_of_references(items: Sequence[Item], metrics: Sequence[str], score: Score) -> Table:
    """Correlation against the number of references (RoViST, Figure 4)."""
    most = min((len(item.references) for item in items), default=0)
    if most < 2:
        raise UsageError("every item needs at least two references for this experiment")
    rows: list[tuple[str | float | int | None, ...]] = []
    for count in range(1, most + 1):
        fewer = [replace(item, references=item.references[:count]) for item in items]
        found = evaluate(fewer, score(fewer, metrics).scores, samples=0)
        for row in found.rows:
            values = (row.correlation.values[name] for name in NAMES)
            rows.append((f"{row.metric}, {count}", row.criterion, *values, row.correlation.n))
    columns = ("metric, references", "criterion", *NAMES, "n")
    return Table("Number of references", columns, tuple(rows), "kendall_c")


@experiments.add("splits")
def splits(items: Sequence[Item], metrics: Sequence[str], score: Score) -> Table:
    """Correlation by temporal misalignment T and by proportion of phrases P (GROOViST, Figure 3)."""
    asked = list(dict.fromkeys(["groovist", *metrics]))
    scored = score(items, asked)
    parts = {id: evidence.parts for id, evidence in scored.evidence["groovist"].items()}
    bins = {
        "low T (< 1)": [item for item in items if parts.get(item.id, {}).get("T", np.inf) < 1],
        "high T (>= 1)": [item for item in items if 1 <= parts.get(item.id, {}).get("T", -1) < np.inf],
    }
    liked = [
        item
        for item in items
        if "P" in parts.get(item.id, {}) and _mean(item) is not None and (_mean(item) or 0) >= 3
    ]
    if liked:
        share = np.array([parts[item.id]["P"] for item in liked])
        cut = mode(share)
        bins[f"low P (< {cut:.4f})"] = [item for item, p in zip(liked, share, strict=True) if p < cut]
        bins[f"high P (>= {cut:.4f})"] = [item for item, p in zip(liked, share, strict=True) if p >= cut]
    rows: list[tuple[str | float | int | None, ...]] = []
    for name, members in bins.items():
        for metric in asked:
            kept = [item for item in members if item.id in scored.scores[metric]]
            found = correlate(
                [scored.scores[metric][item.id] for item in kept], [_mean(item) or 0.0 for item in kept]
            )
            rows.append((f"{metric}, {name}", *(found.values[key] for key in NAMES), found.n))
    return Table("Splits by T and P", ("metric, bin", *NAMES, "n"), tuple(rows), "kendall_c")


def mode(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
    """The most frequent value to four decimals, the smallest among equals: GROOViST's cut."""
    found, times = np.unique(np.round(values, 4), return_counts=True)
    return float(found[times.argmax()])


def _mean(item: Item) -> float | None:
    means = [float(np.mean(values)) for values in item.ratings.values() if values]
    return float(np.mean(means)) if means else None


@experiments.add("ranking")
def criteria_against_votes(items: Sequence[Item], metrics: Sequence[str], score: Score) -> Table:
    """Criteria against the ranking by votes within each picture sequence, averaged (RoViST, Table 2)."""
    groups: dict[str, list[Item]] = {}
    for item in items:
        if isinstance(item.extra.get("votes"), int | float) and item.ratings:
            groups.setdefault(str(item.extra.get("group", item.id)), []).append(item)
    criteria = list(dict.fromkeys(name for item in items for name in item.ratings))
    rows: list[tuple[str | float | int | None, ...]] = []
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
    if not groups:
        raise UsageError(
            'no item has "votes"; this experiment ranks the stories of a picture sequence by them'
        )
    return Table("Criteria against votes", ("criterion", *NAMES, "sequences"), tuple(rows), "kendall_b")
