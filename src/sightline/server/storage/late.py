"""Answers that come after their lease has ended: taken all the same, since somebody gave their time to them."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from sightline.server.storage import schema as t

LAPSED = t.Base.metadata.tables["lapsed"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a late answer goes."""

    given: float
    """When the item was handed out."""
    extra: bool
    """Somebody else has taken the place: this one counts beside the others."""


def lapse(connection: Connection, rater: int, item: int, given: float) -> None:
    """Remember that an item was before a rater whose lease has ended."""
    pair = (LAPSED.c.rater_id == rater) & (LAPSED.c.item_id == item)
    if not connection.execute(update(LAPSED).where(pair).values(given=given)).rowcount:
        connection.execute(insert(LAPSED).values(rater_id=rater, item_id=item, given=given))


def claim(connection: Connection, rater: Any, item: int) -> Place | None:
    """The place for a late answer; None where the item was never before this rater, or training has gone on."""
    pair = (LAPSED.c.rater_id == rater.id) & (LAPSED.c.item_id == item)
    given = connection.execute(delete(LAPSED).where(pair).returning(LAPSED.c.given)).scalar_one_or_none()
    if given is None:
        return None
    role = connection.execute(select(t.Item.role).where(t.Item.id == item)).scalar_one()
    if (role == "training") != (rater.phase != "play"):
        return None
    if role == "main":
        free = update(t.Item).where(t.Item.id == item, t.Item.free > 0).values(free=t.Item.free - 1)
        return Place(given, extra=not connection.execute(free).rowcount)
    holds = select(func.count()).where(t.Lease.rater_id == rater.id)
    return None if connection.execute(holds).scalar_one() else Place(given, extra=False)
