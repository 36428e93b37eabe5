"""What moderators do to raters, items and invitations."""

from typing import Any

from sqlalchemy import Connection, RowMapping, delete, func, select, update

from sightline.errors import UsageError
from sightline.server.storage import assignment, raters
from sightline.server.storage import schema as t
from sightline.server.storage.counting import COUNTED, uncount
from sightline.server.storage.studies import StoredStudy


def _rater(connection: Connection, stored: StoredStudy, code: str) -> Any:
    query = select(t.Rater.id, t.Rater.round).where(t.Rater.study_id == stored.id, t.Rater.code == code)
    row = connection.execute(query).one_or_none()
    if row is None:
        raise UsageError("there is no such rater in this study")
    return row


def whose(connection: Connection, stored: StoredStudy, code: str) -> tuple[RowMapping, int]:
    """A rater, and how many answers are theirs."""
    number = _rater(connection, stored, code).id
    rater = connection.execute(select(*t.Rater.__table__.c).where(t.Rater.id == number)).mappings().one()
    given = select(func.count()).where(t.Answer.rater_id == number)
    return rater, int(connection.execute(given).scalar_one())


def remove_rater(connection: Connection, stored: StoredStudy, code: str) -> int:
    """Erase a rater: answers, disputes, skips and name; their places are free again."""
    rater = _rater(connection, stored, code)
    assignment.release(connection, rater.id)
    given = select(t.Answer.id).where(t.Answer.rater_id == rater.id)
    own = select(*t.Answer.__table__.c).where(t.Answer.rater_id == rater.id, t.Answer.phase == "play")
    for answer in connection.execute(own).all():
        if answer.state in COUNTED:
            uncount(connection, stored, answer)
    connection.execute(delete(t.Dispute).where(t.Dispute.answer_id.in_(given)))
    gone = connection.execute(delete(t.Answer).where(t.Answer.rater_id == rater.id)).rowcount
    connection.execute(delete(t.Skip).where(t.Skip.rater_id == rater.id))
    connection.execute(delete(t.Lapsed).where(t.Lapsed.rater_id == rater.id))
    erased = {
        "active": False,
        "name": "removed",
        "points": 0,
        "rated": 0,
        "streak": 0,
        "best_streak": 0,
        "recent": "",
        "participant": None,
        "participant_key": None,
        "notice": None,
        "last": None,
    }
    connection.execute(update(t.Rater).where(t.Rater.id == rater.id).values(**erased))
    return int(gone)


def back_to_training(connection: Connection, stored: StoredStudy, code: str) -> None:
    rater = _rater(connection, stored, code)
    steps = raters.training_steps(connection, stored)
    if steps["phase"] == "play":
        raise UsageError("this study has no training items")
    assignment.release(connection, rater.id)
    connection.execute(
        update(t.Rater).where(t.Rater.id == rater.id).values(**steps, round=rater.round + 1, recent="")
    )


def reported(connection: Connection, study_id: int) -> list[RowMapping]:
    """Items that raters reported or passed over, most reported first."""
    broken = func.count().filter(t.Skip.broken.is_(True))
    query = (
        select(
            t.Item.id,
            t.Item.key,
            t.Item.state,
            t.Item.content,
            broken.label("reports"),
            func.count().label("skips"),
            func.max(t.Skip.reason).label("reason"),
        )
        .join(t.Skip, t.Skip.item_id == t.Item.id)
        .where(t.Item.study_id == study_id)
        .group_by(t.Item.id)
        .order_by(broken.desc(), func.count().desc())
        .limit(200)
    )
    return list(connection.execute(query).mappings())


def set_item_state(connection: Connection, study_id: int, item_id: int, state: str) -> None:
    """Take a broken item out of the study, or put it back."""
    mine = (t.Item.id == item_id) & (t.Item.study_id == study_id)
    if not connection.execute(update(t.Item).where(mine).values(state=state)).rowcount:
        raise UsageError("there is no such item in this study")


def invitations(connection: Connection, study_id: int) -> list[RowMapping]:
    query = (
        select(*t.Invitation.__table__.c)
        .where(t.Invitation.study_id == study_id)
        .order_by(t.Invitation.id.desc())
    )
    return list(connection.execute(query).mappings())


def revoke(connection: Connection, study_id: int, invitation_id: int) -> None:
    mine = (t.Invitation.id == invitation_id) & (t.Invitation.study_id == study_id)
    connection.execute(update(t.Invitation).where(mine).values(revoked=True))
