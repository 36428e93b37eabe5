"""Files that staff have chosen for a study, kept until it is set up: an error costs nobody their choice."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, insert, select

from sightline.errors import UsageError
from sightline.server.storage import schema as t

MOST_FILES, MOST_BYTES = 20_000, 1024 * 2**20
KEPT_FOR = 2 * 86400.0


@dataclass(frozen=True, slots=True)
class Kept:
    """A chosen file: a picture as it will be shown, or another file as it is (0 x 0)."""

    name: str
    content: bytes
    width: int = 0
    height: int = 0

    @property
    def is_picture(self) -> bool:
        return self.width > 0


def keep(connection: Connection, batch: str, staff_id: int, files: Sequence[Kept], now: float) -> None:
    """Add files to what was chosen in a form; a file of the same name takes the older one's place."""
    mine = (t.Upload.batch == batch) & (t.Upload.staff_id == staff_id)
    if connection.execute(
        select(t.Upload.id).where(t.Upload.batch == batch, t.Upload.staff_id != staff_id)
    ).first():
        raise UsageError("this form is somebody else's")
    for file in files:
        connection.execute(delete(t.Upload).where(mine, t.Upload.name == file.name))
        row = {"batch": batch, "staff_id": staff_id, "name": file.name, "content": file.content, "at": now}
        connection.execute(insert(t.Upload).values(**row, width=file.width, height=file.height))
    size = func.coalesce(func.sum(func.length(t.Upload.content)), 0)
    count, whole = connection.execute(select(func.count(), size).where(mine)).one()
    if count > MOST_FILES or whole > MOST_BYTES:
        raise UsageError(
            f"more than {MOST_FILES} files or {MOST_BYTES // 2**20} MB: use `sightline serve --study`, without limit"
        )


def names(connection: Connection, batch: str, staff_id: int) -> tuple[list[str], list[str]]:
    """The names of the chosen tables and of the chosen pictures."""
    query = select(t.Upload.name, t.Upload.width).where(
        t.Upload.batch == batch, t.Upload.staff_id == staff_id
    )
    rows = connection.execute(query.order_by(t.Upload.name)).all()
    return [row.name for row in rows if not row.width], [row.name for row in rows if row.width]


def chosen(connection: Connection, batch: str, staff_id: int) -> list[Kept]:
    query = select(t.Upload.name, t.Upload.content, t.Upload.width, t.Upload.height)
    mine = query.where(t.Upload.batch == batch, t.Upload.staff_id == staff_id).order_by(t.Upload.name)
    return [Kept(row.name, bytes(row.content), row.width, row.height) for row in connection.execute(mine)]


def used_up(connection: Connection, batch: str, staff_id: int) -> None:
    """Drop what was chosen in a form, since a study was made of it; only one can be."""
    if not forget(connection, batch, staff_id):
        raise UsageError("this form was sent already: its study is there")


def forget(connection: Connection, batch: str, staff_id: int, name: str | None = None) -> int:
    """Drop what was chosen in a form, or one file of it; returns how many files there were."""
    mine = (t.Upload.batch == batch) & (t.Upload.staff_id == staff_id)
    if name is not None:
        mine &= t.Upload.name == name
    return connection.execute(delete(t.Upload).where(mine)).rowcount


def sweep(connection: Connection, now: float) -> None:
    """Drop what was chosen in forms that nobody sent."""
    connection.execute(delete(t.Upload).where(t.Upload.at < now - KEPT_FOR))
