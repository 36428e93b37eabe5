"""Studies and their settings."""

import time
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec
from sqlalchemy import Connection, delete, func, insert, select, update

from sightline.errors import UsageError
from sightline.people.study import Study
from sightline.server.storage import schema as t
from sightline.server.storage.numbers import never_again


@dataclass(frozen=True, slots=True)
class StoredStudy:
    """A study as the server runs it."""

    id: int
    slug: str
    state: str
    public: bool
    study: Study
    preview: bool = False
    """A copy in which a staff member plays; it is gone soon, and nothing of it is kept."""

    @property
    def open(self) -> bool:
        return self.state == "open"


@lru_cache(maxsize=256)
def _settings(encoded: bytes) -> Study:
    return msgspec.json.decode(encoded, type=Study)


def _stored(row: Any) -> StoredStudy:
    study = _settings(msgspec.json.encode(row.settings))
    return StoredStudy(row.id, row.slug, row.state, row.public, study, row.preview_until is not None)


_COLUMNS = (
    *(t.Study.id, t.Study.slug, t.Study.state, t.Study.public, t.Study.settings),
    t.Study.preview_until,
)


def find(connection: Connection, slug: str) -> StoredStudy | None:
    row = connection.execute(select(*_COLUMNS).where(t.Study.slug == slug)).one_or_none()
    gone = row is None or (row.preview_until is not None and row.preview_until < time.time())
    return None if gone else _stored(row)


def everything(connection: Connection, among: Collection[int] | None = None) -> list[StoredStudy]:
    """All studies but previews, the newest first; or those of them that are `among` some."""
    query = select(*_COLUMNS).where(t.Study.preview_until.is_(None)).order_by(t.Study.created.desc())
    return [_stored(row) for row in connection.execute(query) if among is None or row.id in among]


def add(
    connection: Connection,
    slug: str,
    study: Study,
    public: bool = False,
    preview_until: float | None = None,
) -> StoredStudy:
    if connection.execute(select(t.Study.id).where(t.Study.slug == slug)).first():
        raise UsageError(f"there is a study called '{slug}' already")
    row = {
        "slug": slug,
        "settings": msgspec.to_builtins(study),
        "state": "open",
        "public": public,
        "created": time.time(),
        "preview_until": preview_until,
    }
    connection.execute(insert(t.Study).values(row))
    found = find(connection, slug)
    assert found is not None
    return found


def set_state(connection: Connection, study_id: int, state: str) -> None:
    connection.execute(update(t.Study).where(t.Study.id == study_id).values(state=state))


def set_study(connection: Connection, study_id: int, study: Study, public: bool | None = None) -> None:
    values: dict[str, Any] = {"settings": msgspec.to_builtins(study)}
    if public is not None:
        values["public"] = public
    connection.execute(update(t.Study).where(t.Study.id == study_id).values(values))


def answered(connection: Connection, study_id: int) -> bool:
    """Whether anybody has answered anything, in training or after it."""
    return (
        connection.execute(select(t.Answer.id).where(t.Answer.study_id == study_id).limit(1)).first()
        is not None
    )


def remove(connection: Connection, study_id: int) -> None:
    """Delete a study with everything in it: items, pictures, people, answers."""
    people = select(t.Rater.id).where(t.Rater.study_id == study_id)
    given = select(t.Answer.id).where(t.Answer.study_id == study_id)
    highest = connection.execute(select(func.max(t.Rater.id)).where(t.Rater.study_id == study_id)).scalar()
    if highest is not None:
        never_again(connection, int(highest))
    connection.execute(delete(t.Dispute).where(t.Dispute.answer_id.in_(given)))
    for of_person in (t.Skip, t.Lease, t.Lapsed):
        connection.execute(delete(of_person).where(of_person.rater_id.in_(people)))
    for table in (t.Answer, t.Rater, t.Item, t.Picture, t.Invitation, t.Member):
        connection.execute(delete(table).where(table.study_id == study_id))
    connection.execute(delete(t.Study).where(t.Study.id == study_id))
