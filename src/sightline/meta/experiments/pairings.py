"""Original texts against random ones for the same pictures: GROOViST's first criterion."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UsageError
from sightline.items import Failure, Item, Key
from sightline.meta.correlation import interval, resample
from sightline.meta.evaluate import ONE_GROUP
from sightline.meta.scoring import Scored

RANDOM = 5
SEPARATOR = "\x1f"
"""Between an item's id and the number of its random pairing."""
Ends = tuple[float, float] | None
Floats = NDArray[np.float64]


def shuffled(items: Sequence[Item], seed: int = 0) -> list[list[Item]]:
    """For each item, its pictures with five texts of items that have other pictures, or as many as there are."""
    rng = np.random.default_rng(seed)
    alike: dict[object, list[int]] = {}
    for place, item in enumerate(items):
        alike.setdefault(item.images, []).append(place)
    made = []
    for item in items:
        own = np.array(alike[item.images])
        others = len(items) - len(own)
        if not others:
            raise UsageError("random pairings need items with different pictures")
        drawn = rng.choice(others, min(RANDOM, others), replace=False)
        # The k-th item that is not among its own: as many further as there are own ones before it.
        chosen = drawn + np.searchsorted(own - np.arange(len(own)), drawn, side="right")
        made.append([_with_text(item, items[int(k)], number) for number, k in enumerate(chosen)])
    return made


def _with_text(item: Item, other: Item, number: int) -> Item:
    id = f"{item.id}{SEPARATOR}{number}"
    return replace(item, id=id, text=other.text, sentences=other.sentences, ratings={})


def failed(*runs: Scored) -> tuple[Failure, ...]:
    """What the runs could not score, each once; an original that fails tells for its random pairings too."""
    every = [failure for run in runs for failure in run.failures]
    originals = {(failure.key, failure.metric) for failure in every}
    found: dict[tuple[Key, str, str], Failure] = {}
    for failure in every:
        id, pairing, _ = failure.id.partition(SEPARATOR)
        key = id, failure.system
        if pairing and (key, failure.metric) in originals:
            continue
        reason = f"with the text of another item: {failure.reason}" if pairing else failure.reason
        found.setdefault((key, failure.metric, reason), replace(failure, id=id, reason=reason))
    return tuple(found.values())


@dataclass(frozen=True)
class FirstCriterion:
    """Mean difference between originals and their best random texts, and how often the original wins."""

    n: int
    difference: float | None = None
    difference_ci: Ends = None
    wins: float | None = None
    wins_ci: Ends = None
    why: str | None = None


def first_criterion(
    items: Sequence[Item], scores: Mapping[Key, float], samples: int, seed: int
) -> FirstCriterion:
    """A tie counts half; intervals from resampled groups (images, or the pictures of a story)."""
    gaps = {item.key: found for item in items if (found := _gap(item, scores)) is not None}
    if not gaps:
        return FirstCriterion(0, why="no item has a score for its own text and for a random one")
    gap = np.array(list(gaps.values()))
    win = (gap > 0) + 0.5 * (gap == 0)
    names = [item.group for item in items if item.key in gaps]
    ends = mean_intervals((gap, win), names, samples, seed)
    why = ONE_GROUP if samples and len(set(names)) < 2 else None
    return FirstCriterion(len(gap), float(gap.mean()), ends[0], float(win.mean()), ends[1], why)


def mean_intervals(
    columns: Sequence[Floats], names: Sequence[str], samples: int, seed: int
) -> list[tuple[float, float] | None]:
    """The 95 % intervals of means when the named groups are resampled; None for one group alone."""
    groups, cluster = np.unique(np.array(names), return_inverse=True)
    if not samples or len(groups) < 2:
        return [None] * len(columns)
    weights = resample(len(groups), samples, seed)
    n = weights @ np.bincount(cluster, minlength=len(groups))
    return [interval(weights @ np.bincount(cluster, values, len(groups)) / n) for values in columns]


def _gap(item: Item, scores: Mapping[Key, float]) -> float | None:
    """The original's score less the best random one's, where there are both."""
    pairings = [(f"{item.id}{SEPARATOR}{k}", item.system) for k in range(RANDOM)]
    random = [scores[key] for key in pairings if key in scores]
    return scores[item.key] - max(random) if item.key in scores and random else None
