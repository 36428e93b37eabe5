"""Who rates what next: how many ratings an item still needs, and when a check is due."""

import hashlib
import math
from functools import cache
from typing import Literal

import msgspec

from sightline.people.consensus import Tally
from sightline.people.training import Checks

Role = Literal["main", "training", "gold", "attention"]


class Hard(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Items on which people disagree (confidence c over `above`) get up to `more` further ratings."""

    more: int = 0
    above: float = 1.4

    def __post_init__(self) -> None:
        if self.more < 0 or not 1 <= self.above <= 2:
            raise ValueError("hard items: more is at least 0, above lies between 1 and 2")


PRIOR_RATINGS = 2.0
"""How many ratings' worth of the usual spread every item begins with: a few that happen to agree prove little."""


class Until(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Ratings until the interval of an item's mean is less than `until` wide, at least and at most so many.

    The spread within an item is estimated from its own ratings and, with the weight of `PRIOR_RATINGS`, from
    `spread`, the standard deviation to be expected (in levels); the interval is Student's.
    """

    until: float
    most: int = 7
    least: int = 2
    level: float = 0.95
    spread: float = 0.7

    def __post_init__(self) -> None:
        if not self.until > 0 or not self.spread > 0 or not 0.5 <= self.level < 1:
            raise ValueError("until and spread are above 0, level lies between 0.5 and 1")
        if not 1 <= self.least <= self.most <= 1000:
            raise ValueError("least and most lie between 1 and 1000, least not above most")

    def width(self, tally: Tally) -> float:
        """How wide the interval of the mean of the people's ratings is."""
        people = tally.people
        if not people:
            return math.inf
        squares = sum(count * (value - _mean(tally)) ** 2 for value, count in enumerate(tally.counts))
        freedom = PRIOR_RATINGS + people - 1
        spread = math.sqrt((PRIOR_RATINGS * self.spread**2 + squares) / freedom)
        return 2 * _quantile(self.level, freedom) * spread / math.sqrt(people)


def _mean(tally: Tally) -> float:
    return sum(value * count for value, count in enumerate(tally.counts)) / tally.people


@cache
def _quantile(level: float, freedom: float) -> float:
    from scipy.stats import t as student  # takes long to import, and most studies have no such rule

    return float(student.ppf((1 + level) / 2, freedom))


def wanted(per_item: int | Until, hard: Hard, tally: Tally) -> int:
    """Ratings this item should have in the end, as far as one can tell now."""
    people, confidence = tally.people, tally.confidence
    if isinstance(per_item, Until):
        enough = people >= per_item.most or (
            people >= per_item.least and per_item.width(tally) < per_item.until
        )
        return people if enough else max(people + 1, per_item.least)
    if people < per_item or confidence is None or confidence <= hard.above:
        return max(per_item, people)
    return min(people + 1, per_item + hard.more) if people < per_item + hard.more else people


def draw(*key: object) -> float:
    """A fair number in [0, 1) that is the same for the same key, on any machine."""
    digest = hashlib.blake2b(":".join(map(str, key)).encode(), digest_size=8).digest()
    return int.from_bytes(digest) / 2**64


def role_of_next(checks: Checks, rater: object, place: int) -> Role:
    """Whether a rater's n-th item is a check. Raters cannot foresee it; all servers agree on it."""
    lot = draw("check", rater, place)
    if lot < checks.gold:
        return "gold"
    return "attention" if lot < checks.gold + checks.attention else "main"
