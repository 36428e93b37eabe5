"""Taking one's last answer back while the next item is open, where nothing was told about it."""

from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from sightline.errors import UsageError
from sightline.server.storage import assignment
from sightline.server.storage import schema as t
from sightline.server.storage.counting import uncount
from sightline.server.storage.studies import StoredStudy

BEFORE = ("place", "cursor", "rated", "recent", "finished")


def remember(stored: StoredStudy, rater: Any, item: Any, answer: int) -> dict[str, Any] | None:
    """What taking this answer back needs. In the game and in training the answer was told: what is said is said."""
    if stored.study.is_game or rater.phase != "play":
        return None
    return {"answer": answer, "item": item.id, "was": {name: getattr(rater, name) for name in BEFORE}}


def take_back(connection: Connection, stored: StoredStudy, rater: Any, now: float) -> None:
    """The last answer is as if it had not been given, and its item is before the rater again."""
    last = rater.last
    if not last or rater.phase != "play":
        raise UsageError("there is no answer to take back")
    query = select(*t.Answer.__table__.c).where(t.Answer.id == last["answer"], t.Answer.rater_id == rater.id)
    answer = connection.execute(query).one_or_none()
    if answer is None or answer.state != "kept":
        raise UsageError("this answer has been reviewed already: it stays")
    assignment.release(connection, rater.id)
    if answer.phase == "play":
        uncount(connection, stored, answer, free=False)
    connection.execute(delete(t.Answer).where(t.Answer.id == answer.id))
    until = now + stored.study.lease_minutes * 60
    lease = {"rater_id": rater.id, "item_id": answer.item_id, "given": now, "until": until}
    connection.execute(insert(t.Lease).values(lease))
    given = answer.answers or {"value": answer.value}
    notice = {"event": "taken back", "given": given}
    changes = {**last["was"], "last": None, "notice": notice}
    connection.execute(update(t.Rater).where(t.Rater.id == rater.id).values(changes))
