"""Handing out items: a lease keeps a rater's place, and nobody is given an item twice."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from sqlalchemy import (
    Connection,
    Row,
    bindparam,
    delete,
    exists,
    func,
    insert,
    literal_column,
    select,
    update,
)
from sqlalchemy import case as when

from sightline.people.assignment import Role, draw, role_of_next
from sightline.server.storage import late
from sightline.server.storage import schema as t
from sightline.server.storage.statements import Statement
from sightline.server.storage.studies import StoredStudy
from sightline.server.storage.writer import Conflict

RATER, ITEM, LEASE = (t.Base.metadata.tables[name] for name in ("rater", "item", "lease"))
Player = Row[Any] | SimpleNamespace
"""A rater's row, or what it has just become."""
ITEM_COLUMNS = (t.Item.id, t.Item.role, t.Item.position, t.Item.content)


@dataclass(frozen=True, slots=True)
class Task:
    """An item in front of a rater."""

    item: int
    role: str
    content: dict[str, Any]


_LEASED = (
    select(*ITEM_COLUMNS, t.Lease.given)
    .join(t.Lease, t.Lease.item_id == t.Item.id)
    .where(t.Lease.rater_id == bindparam("rater"))
)
_ANSWERED = (
    exists()
    .where(
        t.Answer.item_id == t.Item.id,
        t.Answer.rater_id == bindparam("rater"),
        t.Answer.round == bindparam("round"),
    )
    .correlate(t.Item)
)
_SKIPPED = (
    exists().where(t.Skip.item_id == t.Item.id, t.Skip.rater_id == bindparam("rater")).correlate(t.Item)
)
# Written out, not as values to come: only so can a planned-ahead statement use the index of free places.
_OPEN = ITEM.c.state == literal_column("'open'")
_FREE = ITEM.c.free > literal_column("0")
_next = (
    select(t.Item.id)
    .where(
        t.Item.study_id == bindparam("study"),
        t.Item.role == literal_column("'main'"),
        _OPEN,
        _FREE,
        t.Item.position > bindparam("cursor"),
        ~_ANSWERED,
        ~_SKIPPED,
    )
    .order_by(t.Item.position)
    .limit(literal_column("1"))
)
_NEXT = Statement(_next)
_TAKE = Statement(
    update(ITEM)
    .where(ITEM.c.id == _next.scalar_subquery(), _FREE, _OPEN)
    .values(free=ITEM.c.free - 1)
    .returning(*(ITEM.c[name] for name in ("id", "role", "position", "content")))
)
_LEASE = insert(LEASE)
_ITEM = Statement(select(*ITEM_COLUMNS).where(t.Item.id == bindparam("item")))
_held = (LEASE.c.rater_id == bindparam("rater")) & (LEASE.c.item_id == bindparam("held"))
_PASS_ON = Statement(
    update(LEASE)
    .where(_held)
    .values(item_id=bindparam("item"), given=bindparam("now"), until=bindparam("new_until"))
)
_END = Statement(delete(LEASE).where(_held))
_WALK = update(RATER).where(RATER.c.id == bindparam("rater")).values(cursor=bindparam("here"))
_SEEN = Statement(
    select(
        t.Item.id,
        func.count(t.Answer.id).label("times"),
        func.max(when((t.Answer.consensus.is_not(None), 1), else_=0)).label("told"),
    )
    .outerjoin(t.Answer, (t.Answer.item_id == t.Item.id) & (t.Answer.rater_id == bindparam("rater")))
    .where(
        t.Item.study_id == bindparam("study"),
        t.Item.role == bindparam("role"),
        _OPEN,
        ~_ANSWERED,
        ~_SKIPPED,
    )
    .group_by(t.Item.id)
)
_HELD_BY_OTHERS = (
    select(func.min(LEASE.c.until))
    .join(t.Item, t.Item.id == LEASE.c.item_id)
    .where(
        t.Item.study_id == bindparam("study"),
        t.Item.role == "main",
        _OPEN,
        LEASE.c.rater_id != bindparam("rater"),
        ~_ANSWERED,
        ~_SKIPPED,
    )
)
_LEFT = select(func.count()).where(
    t.Item.study_id == bindparam("study"), t.Item.role == "main", _OPEN, _FREE, ~_ANSWERED, ~_SKIPPED
)
_HELD_ALONE = (
    select(func.count())
    .select_from(t.Lease)
    .join(t.Item, t.Item.id == t.Lease.item_id)
    .where(t.Lease.rater_id == bindparam("rater"), t.Item.role == "main", ~_FREE)
)
"""The item before a rater, where it is not among those with free places."""
_LESSONS = Statement(
    select(t.Item.id).where(
        t.Item.study_id == bindparam("study"), t.Item.role == literal_column("'training'"), _OPEN
    )
)
_FRESH = Statement(
    select(t.Item.id).where(
        t.Item.study_id == bindparam("study"),
        t.Item.role == literal_column("'training'"),
        _OPEN,
        ~exists()
        .where(t.Answer.item_id == t.Item.id, t.Answer.rater_id == bindparam("rater"))
        .correlate(t.Item),
    )
)


def current(connection: Connection, stored: StoredStudy, rater: Player, now: float) -> Task | None:
    """The item a rater has, or a newly leased one; None when there is nothing to do for them now."""
    held = connection.execute(_LEASED, {"rater": rater.id}).one_or_none()
    if held:
        return Task(held.id, held.role, held.content)
    return hand_out(connection, stored, rater, now)


def hand_out(connection: Connection, stored: StoredStudy, rater: Player, now: float) -> Task | None:
    """Lease the next item to a rater who holds none."""
    found = _choose(connection, stored, rater, now)
    if found is None:
        return None
    until = now + stored.study.lease_minutes * 60
    connection.execute(_LEASE, {"rater_id": rater.id, "item_id": found.id, "given": now, "until": until})
    if found.role == "main":
        connection.execute(_WALK, {"rater": rater.id, "here": found.position})
    return Task(found.id, found.role, found.content)


def hand_on(
    connection: Connection, stored: StoredStudy, rater: SimpleNamespace, held: int, now: float
) -> Task | None:
    """The next item for a rater who has just answered one; the caller stores where the rater now stands."""
    found = _choose(connection, stored, rater, now)
    key = {"rater": rater.id, "held": held}
    if found is None:
        done = _END.changed(connection, key)
    else:
        until = now + stored.study.lease_minutes * 60
        done = _PASS_ON.changed(connection, {**key, "item": found.id, "now": now, "new_until": until})
        if found.role == "main":
            rater.cursor = found.position
    if not done:
        raise Conflict
    return Task(found.id, found.role, found.content) if found else None


def _choose(connection: Connection, stored: StoredStudy, rater: Player, now: float) -> Any | None:
    """The next item's row, its place taken."""
    if not stored.open:
        return None
    if rater.phase in ("tutorial", "probation", "qualification"):
        return _lesson(connection, stored, rater)
    if rater.phase != "play" or has_done_all(stored, rater):
        return None
    role = role_of_next(stored.study.checks, rater.code, rater.place)
    found = _known(connection, stored, rater, role) if role != "main" else None
    return found or _main(connection, stored, rater, now)


def has_done_all(stored: StoredStudy, rater: Player) -> bool:
    """Whether a rater has done what one person is asked."""
    most = stored.study.items_per_person
    return most is not None and rater.rated >= most


def extent(connection: Connection, stored: StoredStudy, rater: Player) -> int:
    """How many items a rater will have had when they are done, as far as one can tell now."""
    most = stored.study.items_per_person
    key = {"study": stored.id, "rater": rater.id, "round": 0}
    left = connection.execute(_LEFT, key).scalar_one()
    held = connection.execute(_HELD_ALONE, key).scalar_one()
    all_there_is = int(rater.rated + left + held)
    return all_there_is if most is None else min(most, all_there_is)


def lesson_pool(connection: Connection, stored: StoredStudy, phase: str) -> set[int]:
    """The items of a stage of training. Those of the tutorial, whose answers are told, are never probation's."""
    known = [row.id for row in _LESSONS.rows(connection, {"study": stored.id})]
    known.sort(key=lambda item: (draw("lesson", stored.slug, item), item))
    lessons = stored.study.lessons
    asked = lessons.tutorial + lessons.probation
    if phase == "qualification" or not asked:
        return set(known)
    first = len(known) * lessons.tutorial // asked if lessons.probation else len(known)
    return set(known[:first] if phase == "tutorial" else known[first:])


def fresh_lessons(connection: Connection, stored: StoredStudy, rater: Player) -> int:
    """How many items of this stage of training the rater has never had."""
    pool = lesson_pool(connection, stored, rater.phase)
    fresh = _FRESH.rows(connection, {"study": stored.id, "rater": rater.id})
    return sum(row.id in pool for row in fresh)


def _lesson(connection: Connection, stored: StoredStudy, rater: Player) -> Any | None:
    """A training item: one whose answer the rater does not know yet, where there is one, and seen least."""
    key = {"rater": rater.id, "study": stored.id, "role": "training", "round": rater.round}
    pool = lesson_pool(connection, stored, rater.phase)
    seen = [row for row in _SEEN.rows(connection, key) if row.id in pool]
    best = min(((row.told, row.times) for row in seen), default=None)
    chosen = sorted(row.id for row in seen if (row.told, row.times) == best)
    return _drawn(connection, chosen, "known", rater.code, rater.round, rater.lesson)


def _known(connection: Connection, stored: StoredStudy, rater: Player, role: Role) -> Any | None:
    """A check item by lot, each once."""
    key = {"rater": rater.id, "study": stored.id, "role": role, "round": 0}
    return _drawn(
        connection,
        sorted(row.id for row in _SEEN.rows(connection, key)),
        *("known", rater.code, 0, rater.place),
    )


def _drawn(connection: Connection, pool: list[int], *lot: object) -> Any | None:
    return _ITEM.one(connection, {"item": pool[int(draw(*lot) * len(pool))]}) if pool else None


def _main(connection: Connection, stored: StoredStudy, rater: Player, now: float) -> Any | None:
    """The next open item on this rater's way through the study; at the end, what was left behind."""
    key = {"study": stored.id, "rater": rater.id, "round": 0, "cursor": rater.cursor}
    found = _take(connection, key)
    if found is None:
        sweep(connection, now, but=rater.id)
        found = _take(connection, {**key, "cursor": -1})
    return found


def _take(connection: Connection, key: dict[str, Any]) -> Any | None:
    while (found := _TAKE.one(connection, key)) is None:
        if _NEXT.one(connection, key) is None:
            return None  # nothing is free; otherwise somebody was quicker, and there is more
    return found


def release(connection: Connection, rater_id: int) -> None:
    """Give a rater's item back."""
    freed = connection.execute(
        delete(t.Lease).where(t.Lease.rater_id == rater_id).returning(t.Lease.item_id)
    ).scalar_one_or_none()
    if freed is not None:
        _free(connection, [freed])


def sweep(connection: Connection, now: float, but: int | None = None) -> int:
    """Take back the places of raters who went away; `but` the one who is here."""
    gone = (t.Lease.until < now) & (t.Lease.rater_id != (but or 0))
    ended = delete(t.Lease).where(gone).returning(t.Lease.rater_id, t.Lease.item_id, t.Lease.given)
    expired = connection.execute(ended).all()
    for rater, item, given in expired:
        late.lapse(connection, rater, item, given)
        _free(connection, [item])
    return len(expired)


def more_at(connection: Connection, stored: StoredStudy, rater: Player) -> float | None:
    """When a place may come back that others hold now; None where this rater has had all there is."""
    if rater.phase != "play" or not stored.open or has_done_all(stored, rater):
        return None
    key = {"study": stored.id, "rater": rater.id, "round": 0}
    until: float | None = connection.execute(_HELD_BY_OTHERS, key).scalar_one()
    return until


def _free(connection: Connection, items: list[int]) -> None:
    mine = t.Item.id.in_(items) & (t.Item.role == "main")
    connection.execute(update(t.Item).where(mine).values(free=t.Item.free + 1))
