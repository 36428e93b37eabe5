"""Staff accounts, the signing key and the audit log."""

import secrets
import time

from sqlalchemy import Connection, RowMapping, insert, select, update

from sightline.server.security.passwords import hash_password, password_holds
from sightline.server.storage import schema as t


def signing_key(connection: Connection) -> str:
    """The key that signs cookies, made on first use."""
    query = select(t.Secret.value).where(t.Secret.name == "cookies")
    known = connection.execute(query).scalar_one_or_none()
    if known is None:
        known = secrets.token_urlsafe(48)
        connection.execute(insert(t.Secret).values(name="cookies", value=known))
    return str(known)


def names(connection: Connection) -> list[str]:
    return list(connection.execute(select(t.Staff.name).order_by(t.Staff.name)).scalars())


def set_password(connection: Connection, name: str, password: str) -> None:
    """Add a staff member, or give a known one a new password and end their sessions."""
    hashed = hash_password(password)
    changed = connection.execute(
        update(t.Staff).where(t.Staff.name == name).values(password=hashed, session=t.Staff.session + 1)
    )
    if not changed.rowcount:
        connection.execute(insert(t.Staff).values(name=name, password=hashed, session=0, created=time.time()))


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


def name_of(connection: Connection, staff_id: int, session: int) -> str | None:
    query = select(t.Staff.name).where(t.Staff.id == staff_id, t.Staff.session == session)
    return connection.execute(query).scalar_one_or_none()


def note(connection: Connection, who: str, action: str, subject: str = "", detail: str = "") -> None:
    """Enter what somebody did into the audit log."""
    row = {"at": time.time(), "staff": who, "action": action, "subject": subject, "detail": detail[:500]}
    connection.execute(insert(t.Audit).values(row))


def audit(connection: Connection, limit: int = 200) -> list[RowMapping]:
    query = select(*t.Audit.__table__.c).order_by(t.Audit.id.desc()).limit(limit)
    return list(connection.execute(query).mappings())
