"""What people said of a study's items: ratings by criterion, votes, and the group that the bootstrap resamples."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sightline.errors import UsageError
from sightline.items import Item, Key

OVERALL = "overall"
MIXED = 1.9
"""Where no scale is declared, criteria whose largest ratings differ by this factor are not summed."""
Scale = tuple[float, float]
Rated = dict[str, dict[Key, tuple[float, ...]]]
"""Criterion to item to ratings."""


def votes_of(item: Item) -> float | None:
    """The votes for an item, also from a file in which every value is text; None where there are none."""
    given = item.extra.get("votes")
    if given is None or given == "":
        return None
    try:
        votes = math.nan if isinstance(given, bool) else float(given)
    except (TypeError, ValueError):
        votes = math.nan
    if not math.isfinite(votes):
        raise UsageError(f"{item.source or item.id}: the votes of '{item.id}' are no number: {given!r}")
    return votes


def mean(values: Sequence[float]) -> float:
    """The mean, the same whatever the order, also of numbers whose sum is too large to be written."""
    try:
        return math.fsum(values) / len(values)
    except OverflowError:
        return math.fsum(value / len(values) for value in values)


@dataclass(frozen=True)
class Ratings:
    """Every rated item's ratings on every criterion, and its group."""

    by_criterion: Mapping[str, Mapping[Key, tuple[float, ...]]]
    group: Mapping[Key, str]
    votes: Mapping[Key, float]
    pair: Mapping[Key, str]
    """Which texts were held against each other, where the study says it."""
    notes: tuple[str, ...]

    @classmethod
    def of(cls, items: Iterable[Item], scale: Scale | None = None, overall: bool = True) -> "Ratings":
        """Read the items; several criteria on one scale also give `overall`."""
        found: Rated = {}
        group: dict[Key, str] = {}
        votes: dict[Key, float] = {}
        pair: dict[Key, str] = {}
        for item in items:
            if item.key in group:
                of = f"of system '{item.system}' " if item.system else ""
                raise UsageError(f"{item.source or 'items'}: two items {of}have the id '{item.id}'")
            group[item.key] = item.group
            if "pair" in item.extra:
                pair[item.key] = str(item.extra["pair"])
            if (liked := votes_of(item)) is not None:
                votes[item.key] = liked
            for criterion, values in item.ratings.items():
                if not np.isfinite(values).all():
                    raise UsageError(
                        f"{item.source or item.id}: a rating of '{item.id}' is not a finite number"
                    )
                if values:
                    found.setdefault(criterion, {})[item.key] = tuple(map(float, values))
        if not found:
            raise UsageError("no item has ratings")
        if not overall or len(found) < 2 or OVERALL in found:
            return cls(found, group, votes, pair, ())
        total = _summed(found)
        fits, note = (True, None) if scale else _scales(found)
        summed = {**found, OVERALL: total} if total and fits else found
        return cls(summed, group, votes, pair, (note,) if total and note else ())


def _summed(found: Rated) -> dict[Key, tuple[float, ...]]:
    """The sum of the means of every item that is rated on all criteria (RoViST, Table 1)."""
    first, *others = found.values()
    return {
        id: (sum(mean(rated[id]) for rated in found.values()),)
        for id in first
        if all(id in rated for rated in others)
    }


def _scales(found: Rated) -> tuple[bool, str | None]:
    """Whether criteria without a declared scale look as if they had one scale, and what to tell of it."""
    largest = {criterion: max(max(map(abs, v)) for v in rated.values()) for criterion, rated in found.items()}
    high, low = max(largest, key=largest.__getitem__), min(largest, key=largest.__getitem__)
    if largest[high] == largest[low]:
        return True, None
    seen = f"{high} is rated up to {largest[high]:g} and {low} up to {largest[low]:g}"
    if largest[high] >= MIXED * largest[low]:
        return False, f"no overall: {seen}, and criteria on different scales are not summed"
    return (
        True,
        f"overall takes all criteria to be on one scale, though {seen}; likert:scale=LOW-HIGH says it",
    )
