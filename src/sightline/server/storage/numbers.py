"""Raters' numbers are given once: cookies and codes of people who are gone must not open somebody else's work."""

from sqlalchemy import Connection, func, insert, select, update

from sightline.server.storage import schema as t

RATERS = "raters"


def never_again(connection: Connection, number: int) -> None:
    """Keep a rater's number, and those below it, from being given out after the rater is deleted."""
    kept = t.Counter.name == RATERS
    known = connection.execute(select(t.Counter.value).where(kept)).scalar_one_or_none()
    if known is None:
        connection.execute(insert(t.Counter).values(name=RATERS, value=number))
    elif known < number:
        connection.execute(update(t.Counter).where(kept).values(value=number))


def next_rater(connection: Connection) -> int | None:
    """The next rater's number; None where the database counts for itself."""
    if connection.dialect.name != "sqlite":
        return None
    highest = connection.execute(select(func.max(t.Rater.id))).scalar() or 0
    kept = connection.execute(select(t.Counter.value).where(t.Counter.name == RATERS)).scalar() or 0
    return 1 + max(int(highest), int(kept))
