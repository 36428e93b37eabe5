"""Who rates what next: how many ratings an item still needs, and when a check is due."""

import hashlib
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


def wanted(per_item: int, hard: Hard, tally: Tally) -> int:
    """Ratings this item should have in the end, as far as one can tell now."""
    people, confidence = tally.people, tally.confidence
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
