"""Staff accounts and the audit log."""

import secrets
import time
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, RowMapping, delete, func, insert, or_, select, update

from sightline.errors import UsageError
from sightline.server.security.passwords import hash_password, password_holds
from sightline.server.storage import schema as t

NAME_LENGTH = 60
LOG_PAGE = 200


@dataclass(frozen=True, slots=True)
class Account:
    """A staff member who is logged in."""

    id: int
    name: str
    admin: bool
    """Runs the server: sees every study, and gives people their accounts."""


def names(connection: Connection) -> list[str]:
    return list(connection.execute(select(t.Staff.name).order_by(t.Staff.name)).scalars())


def set_password(connection: Connection, name: str, password: str) -> None:
    """Add a staff member who runs the server, or give a known one a new password and end their sessions.

    For the command line: whoever can start the server on its database may do everything anyhow.
    """
    if not _give_password(connection, t.Staff.name == name, password):
        add(connection, name, password, admin=True)


def add(connection: Connection, name: str, password: str, *, admin: bool = False) -> int:
    """A new account; no two names differ by their letters' size or spaces alone."""
    name = " ".join(unicodedata.normalize("NFC", name).split())
    if not name or len(name) > NAME_LENGTH or not name.isprintable():
        raise UsageError("choose a name of 1 to 60 characters")
    if any(name.casefold() == known.casefold() for known in names(connection)):
        raise UsageError("there is somebody of this name already")
    row = {"name": name, "password": hash_password(password), "session": 0, "admin": admin}
    added = connection.execute(insert(t.Staff).values(**row, created=time.time()).returning(t.Staff.id))
    return int(added.scalar_one())


def _give_password(connection: Connection, whose: object, password: str) -> bool:
    values = {"password": hash_password(password), "session": t.Staff.session + 1}
    return bool(connection.execute(update(t.Staff).where(whose).values(values)).rowcount)  # type: ignore[arg-type]


def new_password(connection: Connection, staff_id: int) -> str:
    """Another password for somebody who forgot theirs; it is shown once."""
    password = secrets.token_urlsafe(12)
    if not _give_password(connection, t.Staff.id == staff_id, password):
        raise UsageError("there is no such account")
    return password


def change_password(connection: Connection, staff_id: int, old: str, new: str) -> int:
    """A person's own new password; ends all their sessions. Returns the number of the one to go on with."""
    query = select(t.Staff.password).where(t.Staff.id == staff_id)
    if not password_holds(connection.execute(query).scalar_one_or_none(), old):
        raise UsageError("the old password is wrong")
    _give_password(connection, t.Staff.id == staff_id, new)
    return int(connection.execute(select(t.Staff.session).where(t.Staff.id == staff_id)).scalar_one())


def everybody(connection: Connection) -> list[RowMapping]:
    """All accounts, with the number of studies that each has a role in."""
    studies = select(func.count()).where(t.Member.staff_id == t.Staff.id).scalar_subquery()
    query = select(t.Staff.id, t.Staff.name, t.Staff.admin, t.Staff.created, studies.label("studies"))
    return list(connection.execute(query.order_by(t.Staff.name)).mappings())


def set_admin(connection: Connection, staff_id: int, admin: bool) -> str:
    """Let somebody run the server, or no longer; returns their name."""
    name = _known(connection, staff_id)
    connection.execute(update(t.Staff).where(t.Staff.id == staff_id).values(admin=admin))
    _check_somebody_runs_it(connection)
    return name


def remove(connection: Connection, staff_id: int) -> str:
    """Delete an account with its roles and chosen files; returns its name. What they did stays in the log."""
    name = _known(connection, staff_id)
    for table in (t.Member, t.Upload):
        connection.execute(delete(table).where(table.staff_id == staff_id))
    connection.execute(delete(t.Staff).where(t.Staff.id == staff_id))
    _check_somebody_runs_it(connection)
    return name


def _known(connection: Connection, staff_id: int) -> str:
    name = connection.execute(select(t.Staff.name).where(t.Staff.id == staff_id)).scalar_one_or_none()
    if name is None:
        raise UsageError("there is no such account")
    return str(name)


def _check_somebody_runs_it(connection: Connection) -> None:
    if not connection.execute(select(t.Staff.id).where(t.Staff.admin.is_(True)).limit(1)).first():
        raise UsageError("somebody must run the server: this is the last one who does")


def log_in(connection: Connection, name: str, password: str) -> tuple[int, int] | None:
    """The staff member's id and session number, or None."""
    query = select(t.Staff.id, t.Staff.session, t.Staff.password).where(t.Staff.name == name)
    row = connection.execute(query).one_or_none()
    if not password_holds(row.password if row else None, password) or row is None:
        return None
    return int(row.id), int(row.session)


def log_out(connection: Connection, staff_id: int) -> None:
    """End every session of a staff member, wherever it is open."""
    connection.execute(update(t.Staff).where(t.Staff.id == staff_id).values(session=t.Staff.session + 1))


def account(connection: Connection, staff_id: int, session: int) -> Account | None:
    """Who is logged in with a session's number, while it holds."""
    query = select(t.Staff.id, t.Staff.name, t.Staff.admin)
    row = connection.execute(query.where(t.Staff.id == staff_id, t.Staff.session == session)).one_or_none()
    return Account(row.id, row.name, row.admin) if row else None


def note(connection: Connection, who: str, action: str, subject: str = "", detail: str = "") -> None:
    """Enter what somebody did into the audit log."""
    row = {"at": time.time(), "staff": who, "action": action, "subject": subject, "detail": detail[:500]}
    connection.execute(insert(t.Audit).values(row))


def audit(
    connection: Connection,
    words: str = "",
    *,
    since: float | None = None,
    until: float | None = None,
    subjects: Sequence[str] | None = None,
    page: int | None = 1,
) -> tuple[list[RowMapping], int]:
    """The log's entries that hold every word, newest first, one page or all; and how many there are.

    `subjects` are the studies whose entries may be seen; None: everything.
    """
    where = []
    for word in words.split()[:10]:
        like = f"%{word.replace('!', '!!').replace('%', '!%').replace('_', '!_')}%"
        columns = (t.Audit.staff, t.Audit.action, t.Audit.subject, t.Audit.detail)
        where.append(or_(*(column.ilike(like, escape="!") for column in columns)))
    if since is not None:
        where.append(t.Audit.at >= since)
    if until is not None:
        where.append(t.Audit.at < until)
    if subjects is not None:
        where.append(t.Audit.subject.in_(subjects))
    count = connection.execute(select(func.count()).select_from(t.Audit).where(*where)).scalar_one()
    query = select(*t.Audit.__table__.c).where(*where).order_by(t.Audit.id.desc())
    if page is not None:
        query = query.limit(LOG_PAGE).offset(LOG_PAGE * (page - 1))
    return list(connection.execute(query).mappings()), int(count)
