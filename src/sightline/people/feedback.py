"""What a player hears after a rating: the consensus, the spread, the points and why."""

from dataclasses import dataclass

from sightline.people.consensus import Tally
from sightline.people.words import Say, english


@dataclass(frozen=True, slots=True)
class Feedback:
    """One rating set beside those before it."""

    rating: int
    consensus: int | None
    counts: tuple[int, ...]
    """Ratings per level so far, lowest first, seeds that still stand among them."""
    confidence: float | None
    points: int
    why: str
    seeds: int = 0
    """How many of the counted ratings are a model's."""


def feedback(
    tally: Tally, rating: int, first_points: int, known: bool = False, say: Say = english
) -> Feedback:
    """The feedback on a rating, given those before it; `known`: an expert's level stands there.

    While a model's rating stands among them, the consensus is called an estimate, not what others say.
    """
    points = tally.points(rating)
    consensus, confidence = tally.consensus, tally.confidence
    if points is None or consensus is None or confidence is None:
        why = say("You are the first here: others will be measured by you.")
        return Feedback(rating, None, tally.standing, None, first_points, why)
    seeds = 0 if known else tally.seeds
    why = _why(abs(rating - consensus), confidence, known, seeds, say)
    return Feedback(rating, consensus, tally.standing, confidence, points, why, seeds)


def _why(miss: int, confidence: float, known: bool, seeds: int, say: Say) -> str:
    if known:
        if miss == 0:
            return say("Spot on: the experts see it as you do.")
        return say("Levels between you and the experts: {miss}.", miss=miss)
    if seeds:
        if miss == 0:
            return say("Spot on: the first estimate, a model's, is the same.")
        return say("Levels between you and the first estimate, a model's: {miss}.", miss=miss)
    if miss == 0:
        return say("Spot on: the others see it as you do.")
    if confidence >= 1.6:
        return say(
            "Levels off: {miss}. But people are not sure about this one, so it costs little.", miss=miss
        )
    if confidence <= 1.3:
        return say("Levels off: {miss}. People agree about this one, so it costs more.", miss=miss)
    return say("Levels between you and where the others are so far: {miss}.", miss=miss)
