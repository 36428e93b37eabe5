"""Taking one answer out of its item's tally, and putting it back."""

from typing import Any

from sqlalchemy import Connection, select, update

from sightline.people.consensus import Tally
from sightline.people.scales import Scale
from sightline.server.storage import schema as t
from sightline.server.storage.studies import StoredStudy

COUNTED = ("kept", "accepted", "flagged")
"""States in which an answer counts."""


def counts_of(text: str, scale: Scale) -> tuple[int, ...]:
    return tuple(map(int, text.split(","))) if text else (0,) * len(scale.levels)


def uncount(connection: Connection, stored: StoredStudy, answer: Any, *, free: bool = True) -> None:
    """Take a rating out of its item's tally; its place is `free` for somebody else."""
    changes: dict[str, Any] = {"people": t.Item.people - 1, **_counts(connection, stored, answer, -1)}
    if answer.extra:
        changes["wanted"] = t.Item.wanted - 1
    elif free:
        changes["free"] = t.Item.free + 1
    connection.execute(update(t.Item).where(t.Item.id == answer.item_id).values(changes))


def count_again(connection: Connection, stored: StoredStudy, answer: Any) -> None:
    """Put a rating back; where its place was given away since, the item has one more."""
    mine = update(t.Item).where(t.Item.id == answer.item_id)
    changes = {"people": t.Item.people + 1, **_counts(connection, stored, answer, 1)}
    taken = not answer.extra and mine.where(t.Item.free > 0).values(**changes, free=t.Item.free - 1)
    if taken is False or not connection.execute(taken).rowcount:
        connection.execute(mine.values(**changes, wanted=t.Item.wanted + 1))


def _counts(connection: Connection, stored: StoredStudy, answer: Any, more: int) -> dict[str, str]:
    if answer.value is None:
        return {}
    scale = stored.study.levels
    known = connection.execute(select(t.Item.counts).where(t.Item.id == answer.item_id)).scalar_one()
    tally = Tally(scale, counts_of(known, scale))
    after = tally.add(answer.value) if more > 0 else tally.remove(answer.value)
    return {"counts": ",".join(map(str, after.counts))}
