"""How far people agree among themselves, and how often a metric prefers what they prefer."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from sightline.meta.correlation import Correlation, correlate, undefined


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


def preferences(
    scores: Mapping[str, float], liking: Mapping[str, float], group: Mapping[str, str]
) -> Preferences:
    """Pairs are items of one group that people liked differently: by mean rating, or by votes."""
    members: dict[str, list[str]] = defaultdict(list)
    for id in scores:
        if id in liking:
            members[group[id]].append(id)
    right = 0.0
    pairs = 0
    for ids in members.values():
        for one, other in combinations(ids, 2):
            wanted = _order(liking[one], liking[other])
            if wanted:
                pairs += 1
                right += (1 + wanted * _order(scores[one], scores[other])) / 2
    return Preferences(pairs, right / pairs if pairs else None)


def _order(one: float, other: float) -> int:
    return (one > other) - (one < other)
