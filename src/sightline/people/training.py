"""Learning the scale before one's ratings count, and going back when one forgets it."""

from collections.abc import Sequence
from typing import Literal

import msgspec

Phase = Literal["consent", "tutorial", "probation", "qualification", "play", "refused"]


class Training(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tutorial of 10 pairs, then a probation of 20 that opens the game with an accuracy of at least .5.

    `opens = "either"` also takes 25 points, as the game was once run. Points are a weak gate: one who rates
    at random earns about 1.3 a pair (benchmarks/measure_players.py), so accuracy alone is the default.
    """

    tutorial: int = 10
    probation: int = 20
    accuracy: float = 0.5
    points: int = 25
    opens: Literal["accuracy", "points", "either"] = "accuracy"

    def __post_init__(self) -> None:
        if self.tutorial < 0 or self.probation < 0:
            raise ValueError("tutorial and probation cannot be negative")
        if not 0 <= self.accuracy <= 1:
            raise ValueError("accuracy lies between 0 and 1")

    def first_phase(self) -> Phase:
        return "tutorial" if self.tutorial else self.after_tutorial()

    def after_tutorial(self) -> Phase:
        return "probation" if self.probation else "play"

    def shares(self, available: int) -> tuple[int, int]:
        """Pairs for tutorial and probation: as asked, or in that proportion where fewer are there."""
        asked = self.tutorial + self.probation
        if available >= asked:
            return self.tutorial, self.probation
        tutorial = available * self.tutorial // asked
        return tutorial, available - tutorial if self.probation else 0

    def unlocks(self, right: int, rated: int, points: int) -> bool:
        """Whether a finished probation opens the game; fewer pairs ask for fewer points, in proportion."""
        if not rated:
            return not self.probation
        if self.opens != "points" and right / rated >= self.accuracy:
            return True
        return self.opens != "accuracy" and points * self.probation >= self.points * rated


class Checks(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Items with a known answer among the others, and when failing them sends a rater back to training."""

    gold: float = 0.1
    attention: float = 0.02
    window: int = 10
    minimum: int = 4
    floor: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.gold + self.attention <= 0.5 or min(self.gold, self.attention) < 0:
            raise ValueError("gold and attention are shares of the items, together at most 0.5")
        if not 1 <= self.minimum <= self.window:
            raise ValueError("minimum must be between 1 and window")

    def falls(self, recent: Sequence[int]) -> bool:
        """Whether the last checks (each scored 0, 1 or 2) are too poor to go on."""
        last = recent[-self.window :]
        return len(last) >= self.minimum and sum(last) / (2 * len(last)) < self.floor


def competency(rating: int, expert: int) -> int:
    """2 for exact agreement with the expert, 1 for adjacent, 0 for more (VICR, Section 3.1)."""
    return max(2 - abs(rating - expert), 0)


def attention_score(rating: int, expert: int) -> int:
    """An attention check is plain to see: a miss by more than one level fails it."""
    return 2 if abs(rating - expert) <= 1 else 0
