"""Items and pictures of a study."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from sightline.errors import UsageError
from sightline.people.assignment import Role, draw
from sightline.server.pictures import Shown
from sightline.server.storage import schema as t
from sightline.server.storage.studies import StoredStudy

MANY = 500
"""From so many new items on, the database's planner is told of them."""


@dataclass(frozen=True, slots=True)
class NewItem:
    """An item on its way into a study."""

    key: str
    content: dict[str, Any]
    origin: dict[str, Any] = field(default_factory=dict)
    role: Role = "main"
    expert: int | None = None
    seed: int | None = None


def add_picture(connection: Connection, study_id: int, name: str, shown: Shown) -> int:
    """A picture's number within the database; the same picture is kept once per study."""
    same = select(t.Picture.id).where(t.Picture.study_id == study_id, t.Picture.sha == shown.sha)
    known = connection.execute(same).scalar_one_or_none()
    if known is not None:
        return int(known)
    row = {"study_id": study_id, "sha": shown.sha, "name": name, "width": shown.width, "height": shown.height}
    added = connection.execute(insert(t.Picture).values(**row, content=shown.content).returning(t.Picture.id))
    return int(added.scalar_one())


def add_items(connection: Connection, stored: StoredStudy, items: Iterable[NewItem]) -> int:
    """Add items in an order of their own: raters do not meet them in the file's order."""
    taken = set(connection.execute(select(t.Item.key).where(t.Item.study_id == stored.id)).scalars())
    last = connection.execute(select(func.max(t.Item.position)).where(t.Item.study_id == stored.id)).scalar()
    rows = []
    for item in items:
        if item.key in taken:
            raise UsageError(f"item '{item.key}' is in the study already")
        taken.add(item.key)
        rows.append(_row(stored, item))
    rows.sort(key=lambda row: draw("order", stored.slug, row["key"]))
    for place, row in enumerate(rows, (-1 if last is None else last) + 1):
        row["position"] = place
    if rows:
        connection.execute(insert(t.Item), rows)
    if connection.dialect.name == "postgresql" and len(rows) >= MANY:
        connection.exec_driver_sql("ANALYZE item")  # raters come at once, long before the next vacuum
    return len(rows)


def _row(stored: StoredStudy, item: NewItem) -> dict[str, Any]:
    scale = stored.study.levels
    for level in (item.expert, item.seed):
        if level is not None:
            scale.check(level)
    needed = stored.study.ratings_at_first
    return {
        "study_id": stored.id,
        "key": item.key,
        "role": item.role,
        "state": "open",
        "content": item.content,
        "origin": item.origin,
        "expert": item.expert,
        "seed": item.seed,
        "counts": ",".join("0" * len(scale.levels)),
        "people": 0,
        "wanted": needed,
        "free": needed,
    }


def reseed(connection: Connection, stored: StoredStudy, seeds: Mapping[str, int | None]) -> int:
    """Give items another model rating (None: none), by key, while nobody has rated anything yet.

    A rating stands as two until the first two people replace it one by one.
    """
    played = select(t.Answer.id).where(t.Answer.study_id == stored.id, t.Answer.phase == "play").limit(1)
    if connection.execute(played).first() is not None:
        raise UsageError(f"study '{stored.slug}' has ratings already: its seeds stay as they are")
    for key, level in seeds.items():
        if level is not None:
            stored.study.levels.check(level)
        mine = (t.Item.study_id == stored.id) & (t.Item.key == key) & (t.Item.role == "main")
        if not connection.execute(update(t.Item).where(mine).values(seed=level)).rowcount:
            raise UsageError(f"study '{stored.slug}' has no item '{key}' to be rated")
    return len(seeds)


def picture(connection: Connection, study_id: int, sha: str) -> bytes | None:
    """A picture's bytes, if it belongs to the study."""
    query = select(t.Picture.content).where(t.Picture.study_id == study_id, t.Picture.sha == sha)
    content = connection.execute(query).scalar_one_or_none()
    return bytes(content) if content is not None else None
