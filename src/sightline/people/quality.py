"""How good a rater is, from what they did; and a consensus that listens more to the good ones."""

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median

from sightline.people.consensus import weighted_consensus
from sightline.people.scales import Scale


@dataclass(frozen=True, slots=True)
class RaterQuality:
    """What a moderator looks at."""

    rated: int
    agreement: float | None
    """How far this rater says what the others say of the same things (leave-one-out), 0 to 1."""
    exact_gold: float | None
    """Share of items with a known answer that were answered so."""
    seconds: float | None
    """Median time per item."""
    longest_run: int
    """Most equal answers in a row: straight-lining."""
    evenness: float | None
    """Entropy of the levels used, 0 (always the same) to 1 (all alike)."""

    @property
    def straight_lining(self) -> bool:
        return self.rated >= 10 and (
            self.longest_run >= 10 or (self.evenness is not None and self.evenness < 0.2)
        )


def quality(
    answers: Sequence[Hashable],
    levels: Sequence[int],
    possible: int,
    agreement: Sequence[float],
    seconds: Sequence[float],
    known: Sequence[bool] = (),
) -> RaterQuality:
    """A rater's record.

    `answers` are all answers in order, as whatever tells equal ones apart; `levels` the single levels in them,
    out of `possible` ones; `agreement` how near each thing came to the others; `known` whether each item with
    a known answer was answered so.
    """
    counts = Counter(levels)
    entropy = -sum(k / len(levels) * math.log(k / len(levels)) for k in counts.values()) if levels else None
    return RaterQuality(
        rated=len(answers),
        agreement=sum(agreement) / len(agreement) if agreement else None,
        exact_gold=sum(known) / len(known) if known else None,
        seconds=median(seconds) if seconds else None,
        longest_run=_longest_run(answers),
        evenness=None if entropy is None else entropy / math.log(possible),
    )


def near_the_others(own: int, others: Sequence[int]) -> float | None:
    """1 within a level of the mean of the others, 0 beyond; None where nobody else said anything."""
    return float(abs(own - sum(others) / len(others)) <= 1) if others else None


def as_most_others(own: int, others: Sequence[int]) -> float | None:
    """The share of the others who chose the same."""
    return sum(own == other for other in others) / len(others) if others else None


def common_words(own: str, others: Sequence[str]) -> float | None:
    """How many words a text shares with those of the others: F1 with the nearest of them."""
    mine = set(own.lower().split())
    theirs = [set(other.lower().split()) for other in others]
    return max((2 * len(mine & words) / max(len(mine) + len(words), 1) for words in theirs), default=None)


def _longest_run(answers: Sequence[Hashable]) -> int:
    return max((sum(1 for _ in run) for _, run in groupby(answers)), default=0)


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
