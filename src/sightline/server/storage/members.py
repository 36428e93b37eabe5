"""Who of the staff may do what in a study."""

from typing import Literal

from sqlalchemy import Connection, RowMapping, delete, insert, select, update

from sightline.errors import UsageError
from sightline.server.storage import schema as t
from sightline.server.storage.staff import Account

Role = Literal["viewer", "moderator", "owner"]
ROLES: tuple[Role, ...] = ("viewer", "moderator", "owner")
"""Each may do what those before it may: look; look after raters and answers; change, delete and share the study."""


def role_of(connection: Connection, study_id: int, who: Account) -> Role | None:
    """What somebody may do in a study; whoever runs the server may do everything."""
    if who.admin:
        return "owner"
    query = select(t.Member.role).where(t.Member.study_id == study_id, t.Member.staff_id == who.id)
    given = connection.execute(query).scalar_one_or_none()
    return next((role for role in ROLES if role == given), None)


def studies_of(connection: Connection, who: Account) -> set[int] | None:
    """The studies that somebody may see; None: all of them."""
    if who.admin:
        return None
    return set(connection.execute(select(t.Member.study_id).where(t.Member.staff_id == who.id)).scalars())


def of_study(connection: Connection, study_id: int) -> list[RowMapping]:
    query = (
        select(t.Staff.id, t.Staff.name, t.Member.role)
        .join(t.Staff, t.Staff.id == t.Member.staff_id)
        .where(t.Member.study_id == study_id)
        .order_by(t.Staff.name)
    )
    return list(connection.execute(query).mappings())


def set_role(connection: Connection, study_id: int, staff_id: int, role: Role | None) -> str:
    """Give somebody a role in a study, or take it away; returns their name. A study keeps an owner."""
    name = connection.execute(select(t.Staff.name).where(t.Staff.id == staff_id)).scalar_one_or_none()
    if name is None:
        raise UsageError("there is no such account")
    mine = (t.Member.study_id == study_id) & (t.Member.staff_id == staff_id)
    owned = _has_owner(connection, study_id)
    if role is None:
        connection.execute(delete(t.Member).where(mine))
    elif not connection.execute(update(t.Member).where(mine).values(role=role)).rowcount:
        connection.execute(insert(t.Member).values(study_id=study_id, staff_id=staff_id, role=role))
    if owned and not _has_owner(connection, study_id):
        raise UsageError("a study keeps an owner: make somebody else one first")
    return str(name)


def _has_owner(connection: Connection, study_id: int) -> bool:
    query = select(t.Member.staff_id).where(t.Member.study_id == study_id, t.Member.role == "owner")
    return connection.execute(query.limit(1)).first() is not None
