"""How good a rater is, from what they did; and a consensus that listens more to the good ones."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from sightline.people.consensus import weighted_consensus
from sightline.people.scales import Scale


@dataclass(frozen=True, slots=True)
class RaterQuality:
    """What a moderator looks at."""

    rated: int
    agreement: float | None
    """Share of ratings within half a level of what the others said (mean of the others, leave-one-out)."""
    exact_gold: float | None
    seconds: float | None
    """Median time per item."""
    longest_run: int
    """Most equal ratings in a row: straight-lining."""
    evenness: float | None
    """Entropy of the levels used, 0 (always the same) to 1 (all alike)."""

    @property
    def straight_lining(self) -> bool:
        return self.rated >= 10 and (
            self.longest_run >= 10 or (self.evenness is not None and self.evenness < 0.2)
        )


def quality(
    scale: Scale,
    ratings: Sequence[int],
    others: Sequence[float | None],
    seconds: Sequence[float],
    gold: Sequence[tuple[int, int]] = (),
) -> RaterQuality:
    """A rater's record: ratings in order, the others' mean for each, seconds, (rating, expert) of checks."""
    known = [(own, other) for own, other in zip(ratings, others, strict=True) if other is not None]
    counts = Counter(ratings)
    entropy = (
        -sum(k / len(ratings) * math.log(k / len(ratings)) for k in counts.values()) if ratings else None
    )
    return RaterQuality(
        rated=len(ratings),
        agreement=sum(abs(own - other) <= 1 for own, other in known) / len(known) if known else None,
        exact_gold=sum(own == truth for own, truth in gold) / len(gold) if gold else None,
        seconds=median(seconds) if seconds else None,
        longest_run=_longest_run(ratings),
        evenness=None if entropy is None else entropy / math.log(len(scale.levels)),
    )


def _longest_run(ratings: Sequence[int]) -> int:
    longest = run = 0
    previous: int | None = None
    for rating in ratings:
        run = run + 1 if rating == previous else 1
        longest, previous = max(longest, run), rating
    return longest


PRIOR = 5.0
"""Ratings' worth of a miss by one that everybody starts with, so that a newcomer is near the average."""
GOLD = 2.0
"""A miss of a known answer tells more than a miss of other people's mean."""
FLOOR = 0.05


def weights(
    ratings: Iterable[tuple[str, str, int]],
    gold: Mapping[str, Sequence[tuple[int, int]]] | None = None,
    rounds: int = 20,
) -> dict[str, float]:
    """Each rater's weight, 1 on average: one over the mean squared miss.

    From (item, rater, value), and (rating, expert) of known answers. A miss is taken from the weighted mean
    of the *other* raters of an item, so that nobody agrees with themselves.
    """
    by_item: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for item, rater, value in ratings:
        by_item[item].append((rater, value))
    raters = {rater for given in by_item.values() for rater, _ in given} | set(gold or {})
    weight = dict.fromkeys(raters, 1.0)
    for _ in range(rounds):
        loss, seen = dict.fromkeys(raters, PRIOR), dict.fromkeys(raters, PRIOR)
        for given in by_item.values():
            for rater, miss in _misses(given, weight):
                loss[rater] += miss
                seen[rater] += 1
        for rater, known in (gold or {}).items():
            loss[rater] += GOLD * sum((value - truth) ** 2 for value, truth in known)
            seen[rater] += GOLD * len(known)
        fresh = {rater: 1 / max(loss[rater] / seen[rater], FLOOR) for rater in raters}
        whole = sum(fresh.values())
        weight = {rater: value * len(fresh) / whole for rater, value in fresh.items()}
    return weight


def _misses(given: Sequence[tuple[str, int]], weight: Mapping[str, float]) -> Iterable[tuple[str, float]]:
    total = sum(weight[rater] for rater, _ in given)
    weighed = sum(weight[rater] * value for rater, value in given)
    for rater, value in given:
        rest = total - weight[rater]
        if rest > 0:
            others = (weighed - weight[rater] * value) / rest
            # the others' mean errs too, by about 1/rest: count that much less against the rater
            yield rater, max((value - others) ** 2 - 1 / (rest + 1), 0.0)


def quality_consensus(
    scale: Scale, ratings: Sequence[tuple[str, str, int]], weight: Mapping[str, float]
) -> dict[str, int]:
    """Item to consensus, each rating counted with its rater's weight."""
    by_item: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for item, rater, value in ratings:
        by_item[item].append((value, weight.get(rater, 1.0)))
    found = {item: weighted_consensus(scale, given) for item, given in by_item.items()}
    return {item: level for item, level in found.items() if level is not None}
