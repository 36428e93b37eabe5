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
from sightline.server.storage import assignment, late, lessons, taken_back
from sightline.server.storage import schema as t
from sightline.server.storage.assignment import Task
from sightline.server.storage.counting import counts_of
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
    notice: dict[str, Any] | None
    """The same with its numbers: score and threshold."""
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
    *("rated", "points", "streak", "best_streak", "recent", "notice", "last", "finished", "seen"),
)
_RATER = select(RATER).where(RATER.c.id == bindparam("rater"))
_mine = (LEASE.c.rater_id == RATER.c.id) & (LEASE.c.item_id == bindparam("item"))
_TURN = Statement(
    select(*RATER.c, LEASE.c.given.label("given"), *(ITEM.c[name].label(f"item_{name}") for name in HELD))
    .select_from(RATER.outerjoin(LEASE, _mine).outerjoin(ITEM, ITEM.c.id == LEASE.c.item_id))
    .where(RATER.c.id == bindparam("rater"))
)
_HELD = Statement(select(*(ITEM.c[name] for name in HELD)).where(ITEM.c.id == bindparam("item")))
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


def submit(
    connection: Connection, stored: StoredStudy, rater_id: int, submission: Submission, now: float
) -> Outcome:
    """Count an answer. Sent again with the same token it changes nothing and tells the same."""
    rater = _TURN.one(connection, {"rater": rater_id, "item": submission.item})
    if rater is None or not rater.active or rater.study_id != stored.id:
        raise NotYours(STRANGER)
    held, extra, leased = rater.item_id is not None, False, rater.given
    if held:
        item = Held(*(getattr(rater, f"item_{name}") for name in HELD))
    else:
        if told := _replay(connection, stored, rater, submission, now):
            return told
        place = late.claim(connection, rater, submission.item)
        if place is None:
            raise NotYours("this item is not before you any more")
        extra, leased = place.extra, place.given
        item = Held(*_HELD.rows(connection, {"item": submission.item})[0])
    study = stored.study
    given = check_given(study, item.content, submission.given)
    tally = _tally(study.levels, item)
    heard = _hear(stored, item, tally, given, rater.phase)
    shown = heard if _may_see(connection, stored, rater) else None
    training = rater.phase != "play"
    waited = min(max(now - leased, 0.0), LONGEST_THOUGHT)
    row = {
        "study_id": stored.id,
        "item_id": item.id,
        "rater_id": rater_id,
        "round": rater.round if training else 0,
        "phase": rater.phase if training else "play" if item.role == "main" else item.role,
        "value": given.value,
        "answers": given.answers or None,
        "seconds": min(max(submission.seconds, 0.0), LONGEST_THOUGHT),
        "waited": waited,
        "before": ",".join(map(str, tally.standing)),
        "seeds": shown.seeds if shown else 0,
        "consensus": shown.consensus if shown else None,
        "points": heard.points if heard else None,
        "returned": 0,
        "at": now,
        "token": submission.token,
        "extra": extra,
        "state": "kept",
        "remark": "",
    }
    kept = int(_INSERT.rows(connection, row)[0].id)
    if item.role == "main" and not training:
        _count(connection, stored, item, tally, given, extra)
    changes, event = lessons.progress(connection, stored, rater, item, given, heard, now)
    moved = SimpleNamespace(**{**rater._asdict(), **changes, "seen": now})
    moved.last = taken_back.remember(stored, rater, item, kept) if event is None and heard is None else None
    if held:
        task = assignment.hand_on(connection, stored, moved, item.id, now)
    _store(connection, moved)
    if not held:
        task = assignment.current(connection, stored, moved, now)
    return Outcome(kept, shown, event, moved.notice, standing(moved), task)


def _store(connection: Connection, moved: SimpleNamespace) -> None:
    where = {f"new_{name}": getattr(moved, name) for name in MOVING}
    _MOVE.changed(connection, {"rater": moved.id, **where})


def standing(rater: Any) -> Standing:
    return Standing(**{name: getattr(rater, name) for name in Standing.__dataclass_fields__})


def _tally(scale: Scale, item: Held) -> Tally:
    if item.role != "main" and item.expert is not None:
        return expert(scale, item.expert)
    return Tally(scale, counts_of(item.counts, scale), item.seed)


def _hear(stored: StoredStudy, item: Held, tally: Tally, given: Given, phase: str) -> Feedback | None:
    """Feedback belongs to the game, and to training for any study with one level per item."""
    training = item.role == "training" and phase != "qualification"
    if given.value is None or not (stored.study.is_game or training):
        return None
    say = stored.study.say
    heard = feedback(tally, given.value, stored.study.first_points, item.role != "main", say)
    why = item.content.get("why") if item.role == "training" else None
    return replace(heard, why=f"{heard.why} {why}") if why else heard


def _may_see(connection: Connection, stored: StoredStudy, rater: Any) -> bool:
    """A probation tells its answers only where another one would have other items."""
    if rater.phase != "probation":
        return True
    fresh = assignment.fresh_lessons(connection, stored, rater)
    return bool(fresh >= 2 * rater.lesson_goal - rater.lesson)


def _count(
    connection: Connection, stored: StoredStudy, item: Held, tally: Tally, given: Given, extra: bool
) -> None:
    """Enter a rating into its item's tally; where people disagree, the item may want one more."""
    counts, wants = item.counts, item.wanted + extra
    if given.value is not None:
        after = tally.add(given.value)
        counts = ",".join(map(str, after.counts))
        wants = max(wanted(stored.study.ratings_per_item, stored.study.hard, after), wants)
    more = wants - item.wanted - extra
    key = {"item": item.id, "old": item.counts, "new": counts, "wants": wants, "more": more}
    if not _COUNT.changed(connection, key):
        raise Conflict


def _replay(
    connection: Connection, stored: StoredStudy, rater: Any, submission: Submission, now: float
) -> Outcome | None:
    """The same token again: tell what was told. A token of another's: refuse."""
    row = _BY_TOKEN.one(connection, {"token": submission.token})
    if row is None:
        return None
    if row.rater_id != rater.id or row.item_id != submission.item:
        raise NotYours("this answer's token belongs to another answer")
    heard = None
    hidden = row.phase == "probation" and row.consensus is None
    if row.points is not None and row.value is not None and not hidden:
        say = stored.study.say
        before, known = _before(connection, stored, row), row.phase != "play"
        heard = feedback(before, row.value, stored.study.first_points, known, say)
    task = assignment.current(connection, stored, rater, now)
    return Outcome(int(row.id), heard, None, rater.notice, standing(rater), task, replayed=True)


def _before(connection: Connection, stored: StoredStudy, row: Any) -> Tally:
    """The tally that an answer met."""
    counts = counts_of(row.before, stored.study.levels)
    if not row.seeds:
        return Tally(stored.study.levels, counts)
    seed = _HELD.rows(connection, {"item": row.item_id})[0].seed
    at = seed - stored.study.levels.low
    return Tally(stored.study.levels, (*counts[:at], counts[at] - row.seeds, *counts[at + 1 :]), seed)


def skip(
    connection: Connection, stored: StoredStudy, rater_id: int, item: int, now: float, report: str | None
) -> None:
    """Pass an item over, or report it as broken; it goes back to the others and does not come again."""
    rater = rater_row(connection, rater_id, stored.id)
    held = _TURN.one(connection, {"rater": rater_id, "item": item})
    if held is None or held.item_id is None:
        return  # sent twice, or already given back
    if rater.phase != "play":
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
