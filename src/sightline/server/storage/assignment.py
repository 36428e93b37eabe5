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

from sightline.people.assignment import Role, draw, role_of_next
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
    select(t.Item.id, func.count(t.Answer.id).label("times"))
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
        return _known(connection, stored, rater, "training", rater.round, rater.lesson)
    if rater.phase != "playing":
        return None
    role = role_of_next(stored.study.checks, rater.code, rater.place)
    found = _known(connection, stored, rater, role, 0, rater.place) if role != "main" else None
    return found or _main(connection, stored, rater, now)


def _known(
    connection: Connection, stored: StoredStudy, rater: Player, role: Role, round_: int, turn: int
) -> Any | None:
    """A training or check item: one this rater has seen least, by lot among those."""
    key = {"rater": rater.id, "study": stored.id, "role": role, "round": round_}
    seen = _SEEN.rows(connection, key)
    if not seen:
        return None
    least = min(count for _, count in seen)
    pool = sorted(item for item, count in seen if count == least)
    chosen = pool[int(draw("known", rater.code, round_, turn) * len(pool))]
    return _ITEM.one(connection, {"item": chosen})


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
    expired = list(connection.execute(delete(t.Lease).where(gone).returning(t.Lease.item_id)).scalars())
    for item in expired:
        _free(connection, [item])
    return len(expired)


def _free(connection: Connection, items: list[int]) -> None:
    mine = t.Item.id.in_(items) & (t.Item.role == "main")
    connection.execute(update(t.Item).where(mine).values(free=t.Item.free + 1))
