"""A player may dispute a loss with an explanation; a moderator decides."""

from typing import Literal

from sightline.errors import UsageError

Verdict = Literal["open", "accepted", "rejected"]
SHORTEST, LONGEST = 10, 1000


def check_dispute(points: int | None, reason: str, existing: str | None) -> str:
    """The explanation, tidied; or why this rating cannot be disputed."""
    if existing is not None:
        raise UsageError("this rating is disputed already")
    if points is None or points >= 0:
        raise UsageError("only a rating that lost points can be disputed")
    reason = " ".join(reason.split())
    if not SHORTEST <= len(reason) <= LONGEST:
        raise UsageError(f"say why in {SHORTEST} to {LONGEST} characters")
    return reason


def returned(points: int, verdict: Verdict) -> int:
    """Points that come back: the loss, when the moderator agrees with the player."""
    return -points if verdict == "accepted" else 0
