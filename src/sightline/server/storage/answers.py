"""Taking a rater's answer: checked, counted once, and followed by the next item, in one transaction."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

from sqlalchemy import Connection, Row, bindparam, insert, select, update

from sightline.errors import UsageError
from sightline.people.assignment import wanted
from sightline.people.consensus import Tally, expert
from sightline.people.feedback import Feedback, feedback
from sightline.people.forms import Given, check_given
from sightline.people.scales import Scale
from sightline.people.training import attention_score, competency
from sightline.server.storage import assignment, qualification, raters
from sightline.server.storage import schema as t
from sightline.server.storage.assignment import Task
from sightline.server.storage.statements import Statement
from sightline.server.storage.studies import StoredStudy
from sightline.server.storage.writer import Conflict

LONGEST_THOUGHT = 3600.0
STRANGER = "you are not in this study"


class NotYours(UsageError):  # noqa: N818 - a verdict, not a fault
    """The item is not the one this rater has before them."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a rater stands after an answer."""

    phase: str
    round: int
    lesson: int
    lesson_goal: int
    rated: int
    points: int
    streak: int
    best_streak: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an answer."""

    answer: int
    feedback: Feedback | None
    event: str | None
    """passed, failed or retrain, when the answer ended a stage."""
    standing: Standing
    next: Task | None
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Submission:
    """An answer on its way in."""

    item: int
    token: str
    given: Mapping[str, Any]
    seconds: float


ANSWER, RATER, ITEM, LEASE = (t.Base.metadata.tables[name] for name in ("answer", "rater", "item", "lease"))


@dataclass(frozen=True, slots=True)
class Held:
    """The item a rater answers, as it stood before."""

    id: int
    role: str
    content: dict[str, Any]
    expert: int | None
    seed: int | None
    counts: str
    people: int
    wanted: int
    free: int


HELD = tuple(Held.__dataclass_fields__)
MOVING = (
    *("phase", "round", "lesson", "lesson_goal", "lesson_right", "lesson_points", "place", "cursor"),
    *("rated", "points", "streak", "best_streak", "recent", "seen"),
)
_RATER = select(RATER).where(RATER.c.id == bindparam("rater"))
_mine = (LEASE.c.rater_id == RATER.c.id) & (LEASE.c.item_id == bindparam("item"))
_TURN = Statement(
    select(*RATER.c, *(ITEM.c[name].label(f"item_{name}") for name in HELD))
    .select_from(RATER.outerjoin(LEASE, _mine).outerjoin(ITEM, ITEM.c.id == LEASE.c.item_id))
    .where(RATER.c.id == bindparam("rater"))
)
_BY_TOKEN = Statement(select(*ANSWER.c).where(ANSWER.c.token == bindparam("token")))
_COUNT = Statement(
    update(ITEM)
    .where(ITEM.c.id == bindparam("item"), ITEM.c.counts == bindparam("old"))
    .values(
        counts=bindparam("new"),
        people=ITEM.c.people + 1,
        wanted=bindparam("wants"),
        free=ITEM.c.free + bindparam("more"),
    )
)
_INSERT = Statement(
    insert(ANSWER)
    .values({column.name: bindparam(column.name) for column in ANSWER.c if column.name != "id"})
    .returning(ANSWER.c.id)
)
_MOVE = Statement(
    update(RATER)
    .where(RATER.c.id == bindparam("rater"))
    .values({name: bindparam(f"new_{name}") for name in MOVING})
)


def rater_row(connection: Connection, rater_id: int, study_id: int) -> Row[Any]:
    row = connection.execute(_RATER, {"rater": rater_id}).one_or_none()
    if row is None or not row.active or row.study_id != study_id:
        raise NotYours(STRANGER)
    return row


def counts_of(text: str, scale: Scale) -> tuple[int, ...]:
    return tuple(map(int, text.split(","))) if text else (0,) * len(scale.levels)


def submit(
    connection: Connection, stored: StoredStudy, rater_id: int, submission: Submission, now: float
) -> Outcome:
    """Count an answer. Sent again with the same token it changes nothing and tells the same."""
    rater = _TURN.one(connection, {"rater": rater_id, "item": submission.item})
    if rater is None or not rater.active or rater.study_id != stored.id:
        raise NotYours(STRANGER)
    if rater.item_id is None:
        return _replay(connection, stored, rater, submission, now)
    item = Held(*(getattr(rater, f"item_{name}") for name in HELD))
    study = stored.study
    given = check_given(study, item.content, submission.given)
    tally = _tally(study.levels, item)
    heard = _hear(stored, item, tally, given)
    training = rater.phase != "playing"
    row = {
        "study_id": stored.id,
        "item_id": item.id,
        "rater_id": rater_id,
        "round": rater.round if training else 0,
        "phase": rater.phase if training else "playing" if item.role == "main" else item.role,
        "value": given.value,
        "answers": given.answers or None,
        "seconds": min(max(submission.seconds, 0.0), LONGEST_THOUGHT),
        "before": ",".join(map(str, tally.standing)),
        "consensus": heard.consensus if heard else None,
        "points": heard.points if heard else None,
        "returned": 0,
        "at": now,
        "token": submission.token,
    }
    kept = _INSERT.one(connection, row)
    assert kept is not None
    if item.role == "main" and not training:
        _count(connection, stored, item, tally, given)
    changes, event = _progress(connection, stored, rater, item, given, heard)
    moved = SimpleNamespace(**{**rater._asdict(), **changes, "seen": now})
    task = assignment.hand_on(connection, stored, moved, item.id, now)
    where = {f"new_{name}": getattr(moved, name) for name in MOVING}
    _MOVE.changed(connection, {"rater": rater_id, **where})
    return Outcome(int(kept.id), heard, event, standing(moved), task)


def standing(rater: Any) -> Standing:
    return Standing(**{name: getattr(rater, name) for name in Standing.__dataclass_fields__})


def _tally(scale: Scale, item: Held) -> Tally:
    if item.role != "main" and item.expert is not None:
        return expert(scale, item.expert)
    return Tally(scale, counts_of(item.counts, scale), item.seed)


def _hear(stored: StoredStudy, item: Held, tally: Tally, given: Given) -> Feedback | None:
    """Feedback belongs to the game, and to training for any study with one level per item."""
    if given.value is None or not (stored.study.is_game or item.role == "training"):
        return None
    heard = feedback(tally, given.value, stored.study.first_points, known=item.role != "main")
    why = item.content.get("why") if item.role == "training" else None
    return replace(heard, why=f"{heard.why} {why}") if why else heard


def _count(connection: Connection, stored: StoredStudy, item: Held, tally: Tally, given: Given) -> None:
    """Enter a rating into its item's tally; where people disagree, the item may want one more."""
    counts, wants = item.counts, item.wanted
    if given.value is not None:
        after = tally.add(given.value)
        counts = ",".join(map(str, after.counts))
        wants = max(wanted(stored.study.ratings_per_item, stored.study.hard, after), item.wanted)
    more = wants - item.wanted
    key = {"item": item.id, "old": item.counts, "new": counts, "wants": wants, "more": more}
    if not _COUNT.changed(connection, key):
        raise Conflict


def _progress(
    connection: Connection,
    stored: StoredStudy,
    rater: Any,
    item: Held,
    given: Given,
    heard: Feedback | None,
) -> tuple[dict[str, Any], str | None]:
    """How an answer moves its rater: column values, and the event if a stage ended."""
    if rater.phase != "playing":
        return _lesson(connection, stored, rater, item, given, heard)
    changes: dict[str, Any] = {"place": rater.place + 1, "rated": rater.rated + 1}
    if heard:
        streak = rater.streak + 1 if heard.points >= 2 else 0
        changes |= {
            "points": rater.points + heard.points,
            "streak": streak,
            "best_streak": max(streak, rater.best_streak),
        }
    if item.role == "main" or item.expert is None or given.value is None:
        return changes, None
    score = (attention_score if item.role == "attention" else competency)(given.value, item.expert)
    recent = (rater.recent + str(score))[-stored.study.checks.window :]
    if not stored.study.checks.falls([int(digit) for digit in recent]):
        return {**changes, "recent": recent}, None
    again = raters.training_steps(connection, stored)
    if again["phase"] == "playing":  # nothing to train with: stay, and let the moderator see it
        return {**changes, "recent": recent}, None
    return {**changes, **again, "round": rater.round + 1, "recent": ""}, "retrain"


def _lesson(
    connection: Connection,
    stored: StoredStudy,
    rater: Any,
    item: Held,
    given: Given,
    heard: Feedback | None,
) -> tuple[dict[str, Any], str | None]:
    done, right = (
        rater.lesson + 1,
        rater.lesson_right + (given.value is not None and given.value == item.expert),
    )
    points = rater.lesson_points + (heard.points if heard else 0)
    if done < rater.lesson_goal:
        return {"lesson": done, "lesson_right": right, "lesson_points": points}, None
    if rater.phase == "tutorial":
        return raters.training_steps(connection, stored, after="tutorial"), "tutorial over"
    if rater.phase == "qualification":
        if qualification.admits(connection, stored, rater.id, rater.round):
            return raters.training_steps(connection, stored, after="qualification"), "passed"
        return {"phase": "refused", "lesson": done}, "failed"
    if stored.study.lessons.unlocks(right, done, points):
        return raters.training_steps(connection, stored, after="probation"), "passed"
    return {**raters.training_steps(connection, stored), "round": rater.round + 1}, "failed"


def _replay(
    connection: Connection, stored: StoredStudy, rater: Any, submission: Submission, now: float
) -> Outcome:
    """The same token again: tell what was told. Another token for an item no longer held: refuse."""
    row = _BY_TOKEN.one(connection, {"token": submission.token})
    if row is None or row.rater_id != rater.id or row.item_id != submission.item:
        raise NotYours("this item is not before you any more")
    scale = stored.study.levels
    heard = None
    if row.points is not None and row.value is not None:
        before = Tally(scale, counts_of(row.before, scale))
        heard = feedback(before, row.value, stored.study.first_points, known=row.phase != "playing")
    task = assignment.current(connection, stored, rater, now)
    return Outcome(int(row.id), heard, None, standing(rater), task, replayed=True)


def skip(
    connection: Connection, stored: StoredStudy, rater_id: int, item: int, now: float, report: str | None
) -> None:
    """Pass an item over, or report it as broken; it goes back to the others and does not come again."""
    rater = rater_row(connection, rater_id, stored.id)
    held = _TURN.one(connection, {"rater": rater_id, "item": item})
    if held is None or held.item_id is None:
        return  # sent twice, or already given back
    if rater.phase != "playing":
        raise UsageError("in training every picture counts: choose the level that fits best")
    assignment.release(connection, rater_id)
    row = {
        "item_id": item,
        "rater_id": rater_id,
        "broken": report is not None,
        "reason": (report or "")[:500],
    }
    connection.execute(insert(t.Skip), {**row, "at": now})
    connection.execute(update(t.Rater).where(t.Rater.id == rater_id).values(place=t.Rater.place + 1))
