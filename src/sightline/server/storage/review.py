"""Staff read single answers, and accept, flag or exclude them with a reason."""

from typing import Any, Literal

from sqlalchemy import Connection, RowMapping, func, select, update

from sightline.errors import UsageError
from sightline.server.storage import schema as t
from sightline.server.storage.counting import COUNTED, count_again, uncount
from sightline.server.storage.studies import StoredStudy

Verdict = Literal["kept", "accepted", "flagged", "excluded"]
PAGE = 40
NO_ANSWER = "there is no such answer in this study"


def read(
    connection: Connection,
    stored: StoredStudy,
    *,
    rater: str | None = None,
    item: int | None = None,
    state: str | None = None,
    page: int = 1,
) -> tuple[list[RowMapping], int]:
    """One page of a study's answers, newest first, and how many there are."""
    where = [t.Answer.study_id == stored.id]
    if rater:
        where.append(t.Rater.code == rater)
    if item:
        where.append(t.Answer.item_id == item)
    if state:
        where.append(t.Answer.state == state)
    columns = (
        *(
            t.Answer.id,
            t.Answer.phase,
            t.Answer.value,
            t.Answer.answers,
            t.Answer.state,
            t.Answer.remark,
            t.Answer.at,
        ),
        *(t.Answer.waited, t.Answer.seconds, t.Answer.extra, t.Answer.item_id, t.Item.key, t.Item.content),
        *(t.Item.expert, t.Rater.code, t.Rater.name),
    )
    joined = (
        select(*columns)
        .join(t.Item, t.Item.id == t.Answer.item_id)
        .join(t.Rater, t.Rater.id == t.Answer.rater_id)
    )
    count = connection.execute(select(func.count()).select_from(joined.where(*where).subquery())).scalar_one()
    rows = (
        joined.where(*where)
        .order_by(t.Answer.at.desc(), t.Answer.id.desc())
        .limit(PAGE)
        .offset(PAGE * (page - 1))
    )
    return list(connection.execute(rows).mappings()), int(count)


def key_of(connection: Connection, stored: StoredStudy, answer_id: int) -> str:
    """The key of the item that an answer is about."""
    query = select(t.Item.key).join(t.Answer, t.Answer.item_id == t.Item.id)
    mine = query.where(t.Answer.id == answer_id, t.Answer.study_id == stored.id)
    key = connection.execute(mine).scalar_one_or_none()
    if key is None:
        raise UsageError(NO_ANSWER)
    return str(key)


def decide(
    connection: Connection, stored: StoredStudy, answer_id: int, verdict: Verdict, remark: str
) -> None:
    """Set what staff made of an answer; whoever leaves the tally frees a place."""
    query = (
        select(*t.Answer.__table__.c, t.Item.role)
        .join(t.Item, t.Item.id == t.Answer.item_id)
        .where(t.Answer.id == answer_id, t.Answer.study_id == stored.id)
    )
    answer: Any = connection.execute(query).one_or_none()
    if answer is None:
        raise UsageError(NO_ANSWER)
    remark = " ".join(remark.split())[:500]
    if verdict in ("flagged", "excluded") and not remark:
        raise UsageError(f"say why this answer is {verdict}")
    counted = answer.phase == "play" and answer.role == "main"
    if counted and answer.state in COUNTED and verdict not in COUNTED:
        uncount(connection, stored, answer)
    elif counted and answer.state not in COUNTED and verdict in COUNTED:
        count_again(connection, stored, answer)
    connection.execute(update(t.Answer).where(t.Answer.id == answer_id).values(state=verdict, remark=remark))
