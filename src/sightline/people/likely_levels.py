"""The likely level of each item, from a model of how every rater uses the scale; it never sees the truth.

A rater has one of a few dozen habits: to err with some spread around the level, leaning up or down; to guess; to give
always the same level. Which habit is whose, how common each is, and which level each item has are learnt together
by variational EM (Dawid and Skene, 1979, with the confusion tables tied to the habits, so that thirty ratings
tell a rater's). Known answers enter as what they are.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.people.quality import weights
from sightline.people.scales import Scale

SPREADS = (0.3, 0.5, 0.7, 0.9, 1.2, 1.6, 2.2)
LEANS = (-0.6, -0.3, 0.0, 0.3, 0.6)
SLIP = 0.01
"""Anybody may hit the wrong key: no rating is impossible."""
ROUNDS, STILL = 100, 1e-4
Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Likely:
    """An item's most likely level, and how likely it is."""

    level: int
    share: float


def habits(count: int) -> Array:
    """P(rating | level) for each habit: habit x level x rating, for a scale of `count` levels."""
    edges = [-math.inf, *(place + 0.5 for place in range(count - 1)), math.inf]
    tables = [
        [np.diff([_normal((edge - level - lean) / spread) for edge in edges]) for level in range(count)]
        for spread in SPREADS
        for lean in LEANS
    ]
    guess = np.full((1, count, count), 1 / count)
    always = np.stack([np.tile(row, (count, 1)) for row in np.eye(count)])
    return (1 - SLIP) * np.concatenate([np.array(tables), guess, always]) + SLIP / count


def _normal(x: float) -> float:
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


def likely_levels(
    scale: Scale,
    ratings: Sequence[tuple[str, str, int]],
    gold: Mapping[str, Sequence[tuple[int, int]]] | None = None,
) -> dict[str, Likely]:
    """Item to its likely level, from (item, rater, value) and each rater's (rating, expert) of known answers."""
    if not ratings:
        return {}
    gold = gold or {}
    items = {name: place for place, name in enumerate(dict.fromkeys(item for item, _, _ in ratings))}
    names = dict.fromkeys([*(rater for _, rater, _ in ratings), *gold])
    raters = {name: place for place, name in enumerate(names)}
    item = np.array([items[name] for name, _, _ in ratings])
    rater = np.array([raters[name] for _, name, _ in ratings])
    value = np.array([scale.check(given) - scale.low for _, _, given in ratings])
    # how often each rater gave a value where the level was so
    known = np.zeros((len(raters), len(scale.levels), len(scale.levels)))
    for name, pairs in gold.items():
        for given, truth in pairs:
            known[raters[name], scale.check(given) - scale.low, scale.check(truth) - scale.low] += 1
    trust = weights(ratings, gold)
    level = _fit(item, rater, value, known, np.array([trust[name] for _, name, _ in ratings]), len(items))
    best = level.argmax(axis=1)
    return {name: Likely(int(best[at]) + scale.low, float(level[at, best[at]])) for name, at in items.items()}


def _fit(
    item: NDArray[np.int_],
    rater: NDArray[np.int_],
    value: NDArray[np.int_],
    known: Array,
    trust: Array,
    items: int,
) -> Array:
    """P(level | all ratings) of each item."""
    count = known.shape[1]
    log_table = np.log(habits(count))
    common = np.full(len(log_table), 1 / len(log_table))
    level = np.full((items, count), 0.05)
    np.add.at(level, (item, value), trust)  # a start that already hears the better raters more
    level /= level.sum(axis=1, keepdims=True)
    for _ in range(ROUNDS):
        seen = known.copy()
        np.add.at(seen, (rater, value), level[item])
        habit = _shares(np.einsum("rvl,hlv->rh", seen, log_table) + np.log(common))
        common = _smooth(habit)
        telling = np.einsum("rh,hlv->rlv", habit, log_table)
        score = np.tile(np.log(_smooth(level)), (items, 1))
        np.add.at(score, item, telling[rater, :, value])
        before, level = level, _shares(score)
        if np.abs(level - before).max() < STILL:
            break
    return level


def _shares(log: Array) -> Array:
    weight = np.exp(log - log.max(axis=1, keepdims=True))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def _smooth(shares: Array) -> Array:
    """The mean over rows; nothing is ruled out for good."""
    mean = shares.mean(axis=0) + 1e-3
    return np.asarray(mean / mean.sum())
