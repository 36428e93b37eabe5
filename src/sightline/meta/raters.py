"""How far people agree among themselves, and how often a metric prefers what they prefer."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sightline.items import Key
from sightline.meta.correlation import Correlation, correlate, undefined

Floats = NDArray[np.float64]


def leave_one_out(ratings: Sequence[Sequence[float]]) -> Correlation | None:
    """Each single rating against the mean of the item's others, all pooled; None without single ratings.

    This is agreement between people, not a ceiling: a metric may agree with them better.
    """
    several = [values for values in ratings if len(values) > 1]
    if not several:
        return None
    held_out = [value for values in several for value in values]
    rest = [(sum(values) - value) / (len(values) - 1) for values in several for value in values]
    if len(several) == 1:
        return undefined(len(held_out), "only one item has several ratings")
    if len(set(held_out)) == 1:
        return undefined(len(held_out), "all ratings are equal")
    if len(set(rest)) == 1:
        return undefined(len(held_out), "the means of the others' ratings are equal")
    return correlate(rest, held_out)


@dataclass(frozen=True)
class Preferences:
    """How often a metric orders two texts on the same pictures as people do; its ties count half."""

    pairs: int
    accuracy: float | None
    ties: int = 0
    """Pairs to whose texts the metric gave one score."""
    right: Mapping[str, tuple[float, int]] = field(default_factory=dict, repr=False, compare=False)
    """By group: pairs that the metric orders as people do, ties half, and all pairs."""

    def resampled(self, names: Sequence[str], weights: Floats) -> Floats:
        """The accuracy in resamples of the named groups; NaN where a sample drew no pair."""
        sums = np.array([self.right.get(name, (0.0, 0)) for name in names], np.float64).reshape(-1, 2)
        right, pairs = (weights @ sums).T
        found: Floats = np.divide(right, pairs, out=np.full(len(weights), np.nan), where=pairs > 0)
        return found


def preferences(
    scores: Mapping[Key, float],
    liking: Mapping[Key, float],
    group: Mapping[Key, str],
    pair: Mapping[Key, str] | None = None,
) -> Preferences:
    """Pairs are items of one group that people liked differently: by mean rating, or by votes.

    Where a study says which two texts were held against each other (`pair`), only these are.
    """
    members: dict[tuple[str, str | None], list[Key]] = defaultdict(list)
    for key in scores:
        if key in liking:
            members[group[key], pair.get(key) if pair else None].append(key)
    right: dict[str, tuple[float, int]] = {}
    ties = 0
    for (name, _), keys in members.items():
        for one, other in combinations(keys, 2):
            if wanted := _order(liking[one], liking[other]):
                found = _order(scores[one], scores[other])
                ties += not found
                won, pairs = right.get(name, (0.0, 0))
                right[name] = (won + (1 + wanted * found) / 2, pairs + 1)
    won, pairs = (sum(column) for column in zip(*right.values(), strict=True)) if right else (0.0, 0)
    return Preferences(int(pairs), won / pairs if pairs else None, ties, right)


def _order(one: float, other: float) -> int:
    return (one > other) - (one < other)
