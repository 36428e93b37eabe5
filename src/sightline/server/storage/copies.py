"""A study's copy: its settings, items and pictures, without its people and their answers."""

from typing import Any

from sqlalchemy import Connection, RowMapping, insert, select

from sightline.people.study import Study
from sightline.server.storage import schema as t
from sightline.server.storage import studies
from sightline.server.storage.studies import StoredStudy

ITEM = ("key", "role", "position", "content", "origin", "expert", "seed")
PICTURE = ("sha", "name", "width", "height", "content")


def copy(
    connection: Connection,
    stored: StoredStudy,
    study: Study,
    slug: str,
    *,
    at_most: dict[str, int] | None = None,
    preview_until: float | None = None,
) -> StoredStudy:
    """The study under another name; of each role's items at most so many, with the pictures they show."""
    made = studies.add(connection, slug, study, preview_until=preview_until)
    items: list[RowMapping] = []
    for role in ("main", "training", "gold", "attention"):
        query = select(*(getattr(t.Item, name) for name in ITEM)).where(
            t.Item.study_id == stored.id, t.Item.role == role, t.Item.state == "open"
        )
        limited = query.order_by(t.Item.position).limit(at_most[role] if at_most else None)
        items += connection.execute(limited).mappings()
    if items:
        connection.execute(insert(t.Item), [_fresh(made, row) for row in items])
    _copy_pictures(
        connection, stored.id, made.id, {sha for row in items for sha in row["content"]["pictures"]}
    )
    return made


def _fresh(made: StoredStudy, row: RowMapping) -> dict[str, Any]:
    needed = made.study.ratings_at_first
    nobody = ",".join("0" * len(made.study.levels.levels))
    return {
        **row,
        "study_id": made.id,
        "state": "open",
        "counts": nobody,
        "wanted": needed,
        "free": needed,
        "people": 0,
    }


def _copy_pictures(connection: Connection, source: int, target: int, shas: set[str]) -> None:
    """One by one: a study's pictures may be more than memory holds."""
    for sha in sorted(shas):
        query = select(*(getattr(t.Picture, name) for name in PICTURE))
        row = (
            connection.execute(query.where(t.Picture.study_id == source, t.Picture.sha == sha))
            .mappings()
            .first()
        )
        if row is not None:
            connection.execute(insert(t.Picture).values({**row, "study_id": target}))
