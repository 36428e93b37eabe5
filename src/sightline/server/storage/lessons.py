"""How an answer moves its rater: through training, on in play, or back when checks go wrong."""

from typing import Any

from sqlalchemy import Connection, select

from sightline.people import known
from sightline.people.feedback import Feedback
from sightline.people.forms import Given
from sightline.people.study import SINGLE
from sightline.server.storage import qualification, raters
from sightline.server.storage import schema as t
from sightline.server.storage.studies import StoredStudy

TRAINING = ("tutorial", "probation", "qualification")
Moved = tuple[dict[str, Any], str | None]
"""Column values that change, and the event if a stage ended."""


def known_answer(connection: Connection, stored: StoredStudy, item: Any) -> Any | None:
    """What the experts said of an item, where they did."""
    if stored.study.kind in SINGLE or item.role == "main":
        return item.expert if item.role != "main" else None
    origin = connection.execute(select(t.Item.origin).where(t.Item.id == item.id)).scalar_one()
    return origin.get("known")


def progress(
    connection: Connection,
    stored: StoredStudy,
    rater: Any,
    item: Any,
    given: Given,
    heard: Feedback | None,
    now: float,
) -> Moved:
    """What changes for a rater who has answered."""
    answer = known_answer(connection, stored, item)
    score = None
    if answer is not None:
        score = known.score(stored.study, item.content, answer, given, item.role == "attention")
    if rater.phase in TRAINING:
        return _lesson(connection, stored, rater, score, heard, _told(stored, rater, item, answer, score))
    changes: dict[str, Any] = {"place": rater.place + 1, "rated": rater.rated + 1, "notice": None}
    most = stored.study.items_per_person
    if most is not None and rater.rated + 1 >= most and rater.finished is None:
        changes["finished"] = now
    if heard:
        streak = rater.streak + 1 if heard.points >= 2 else 0
        changes |= {
            "points": rater.points + heard.points,
            "streak": streak,
            "best_streak": max(streak, rater.best_streak),
        }
    if item.role == "main" or score is None:
        return changes, None
    recent = (rater.recent + str(score))[-stored.study.checks.window :]
    if not stored.study.checks.falls([int(digit) for digit in recent]):
        return {**changes, "recent": recent}, None
    again = raters.training_steps(connection, stored)
    if again["phase"] == "play":  # nothing to train with: stay, and let the moderator see it
        return {**changes, "recent": recent}, None
    notice = {"event": "retrain"}
    return {**changes, **again, "round": rater.round + 1, "recent": "", "notice": notice}, "retrain"


def _told(
    stored: StoredStudy, rater: Any, item: Any, answer: Any, score: int | None
) -> dict[str, Any] | None:
    """In a survey's tutorial the known answer is told beside the next item; the game tells it at once."""
    if rater.phase != "tutorial" or stored.study.is_game or score is None:
        return None
    return {"event": "known", "right": score == known.RIGHT, "known": answer, "why": item.content.get("why")}


def _lesson(
    connection: Connection,
    stored: StoredStudy,
    rater: Any,
    score: int | None,
    heard: Feedback | None,
    told: dict[str, Any] | None,
) -> Moved:
    done, right = rater.lesson + 1, rater.lesson_right + (score == known.RIGHT)
    points = rater.lesson_points + (heard.points if heard else 0)
    if done < rater.lesson_goal:
        return {"lesson": done, "lesson_right": right, "lesson_points": points, "notice": told}, None
    if rater.phase == "tutorial":
        notice = {**(told or {}), "event": "tutorial over"}
        return {
            **raters.training_steps(connection, stored, after="tutorial"),
            "notice": notice,
        }, "tutorial over"
    if rater.phase == "qualification":
        if qualification.admits(connection, stored, rater.id, rater.round):
            after = raters.training_steps(connection, stored, after="qualification")
            return {**after, "notice": {"event": "passed"}}, "passed"
        return {"phase": "refused", "lesson": done, "notice": {"event": "screened out"}}, "failed"
    lessons = stored.study.lessons
    result = {
        "right": right,
        "done": done,
        "needed": lessons.accuracy,
        "points": points,
        "opens": lessons.opens,
    }
    if lessons.unlocks(right, done, points):
        after = raters.training_steps(connection, stored, after="probation")
        return {**after, "notice": {"event": "passed", **result}}, "passed"
    again = raters.training_steps(connection, stored)
    return {**again, "round": rater.round + 1, "notice": {"event": "failed", **result}}, "failed"
