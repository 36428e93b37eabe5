"""What people said of a study's items: ratings by criterion, votes, and the group that the bootstrap resamples."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sightline.errors import UsageError
from sightline.items import Item

OVERALL = "overall"
MIXED = 1.9
"""Where no scale is declared, criteria whose largest ratings differ by this factor are not summed."""
Scale = tuple[float, float]
Rated = dict[str, dict[str, tuple[float, ...]]]
"""Criterion to item id to ratings."""


def group_of(item: Item) -> str:
    """What the bootstrap resamples: the item's given group, else its pictures, else itself."""
    return str(item.extra.get("group") or "\x1f".join(map(str, item.images)) or item.id)


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

    by_criterion: Mapping[str, Mapping[str, tuple[float, ...]]]
    group: Mapping[str, str]
    votes: Mapping[str, float]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, items: Iterable[Item], scale: Scale | None = None, overall: bool = True) -> "Ratings":
        """Read the items; several criteria on one scale also give `overall`."""
        found: Rated = {}
        group: dict[str, str] = {}
        votes: dict[str, float] = {}
        for item in items:
            if item.id in group:
                raise UsageError(f"{item.source or 'items'}: two items have the id '{item.id}'")
            group[item.id] = group_of(item)
            if (liked := votes_of(item)) is not None:
                votes[item.id] = liked
            for criterion, values in item.ratings.items():
                if not np.isfinite(values).all():
                    raise UsageError(
                        f"{item.source or item.id}: a rating of '{item.id}' is not a finite number"
                    )
                if values:
                    found.setdefault(criterion, {})[item.id] = tuple(map(float, values))
        if not found:
            raise UsageError("no item has ratings")
        if not overall or len(found) < 2 or OVERALL in found:
            return cls(found, group, votes, ())
        total = _summed(found)
        fits, note = (True, None) if scale else _scales(found)
        summed = {**found, OVERALL: total} if total and fits else found
        return cls(summed, group, votes, (note,) if total and note else ())


def _summed(found: Rated) -> dict[str, tuple[float, ...]]:
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
