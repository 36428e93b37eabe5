"""What a player hears after a rating: the consensus, the spread, the points and why."""

from dataclasses import dataclass

from sightline.people.consensus import Tally


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


def feedback(tally: Tally, rating: int, first_points: int, known: bool = False) -> Feedback:
    """The feedback on a rating, given those before it; `known`: an expert's level stands there."""
    points = tally.points(rating)
    consensus, confidence = tally.consensus, tally.confidence
    if points is None or consensus is None or confidence is None:
        why = "You are the first here: others will be measured by you."
        return Feedback(rating, None, tally.standing, None, first_points, why)
    return Feedback(
        rating,
        consensus,
        tally.standing,
        confidence,
        points,
        _why(abs(rating - consensus), confidence, known),
    )


def _why(miss: int, confidence: float, known: bool) -> str:
    said = "the experts" if known else "the others"
    if miss == 0:
        return f"Spot on: {said} see it as you do."
    distance = "One level" if miss == 1 else f"{miss} levels"
    if known:
        return f"{distance} from what {said} said."
    if confidence >= 1.6:
        return f"{distance} off, but people are not sure about this one, so it costs little."
    if confidence <= 1.3:
        return f"{distance} off, and people agree about this one, so it costs more."
    return f"{distance} from where {said} are so far."
