"""Studies and their settings."""

import time
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec
from sqlalchemy import Connection, insert, select, update

from sightline.errors import UsageError
from sightline.people.study import Study
from sightline.server.storage import schema as t


@dataclass(frozen=True, slots=True)
class StoredStudy:
    """A study as the server runs it."""

    id: int
    slug: str
    state: str
    public: bool
    study: Study

    @property
    def open(self) -> bool:
        return self.state == "open"


@lru_cache(maxsize=256)
def _settings(encoded: bytes) -> Study:
    return msgspec.json.decode(encoded, type=Study)


def _stored(row: Any) -> StoredStudy:
    return StoredStudy(row.id, row.slug, row.state, row.public, _settings(msgspec.json.encode(row.settings)))


_COLUMNS = (t.Study.id, t.Study.slug, t.Study.state, t.Study.public, t.Study.settings)


def find(connection: Connection, slug: str) -> StoredStudy | None:
    row = connection.execute(select(*_COLUMNS).where(t.Study.slug == slug)).one_or_none()
    return _stored(row) if row else None


def everything(connection: Connection) -> list[StoredStudy]:
    return [_stored(row) for row in connection.execute(select(*_COLUMNS).order_by(t.Study.created.desc()))]


def add(connection: Connection, slug: str, study: Study, public: bool = False) -> StoredStudy:
    if find(connection, slug):
        raise UsageError(f"there is a study called '{slug}' already")
    settings = msgspec.to_builtins(study)
    row = {"slug": slug, "settings": settings, "state": "open", "public": public, "created": time.time()}
    connection.execute(insert(t.Study).values(row))
    found = find(connection, slug)
    assert found is not None
    return found


def set_state(connection: Connection, study_id: int, state: str) -> None:
    connection.execute(update(t.Study).where(t.Study.id == study_id).values(state=state))


def set_study(connection: Connection, study_id: int, study: Study) -> None:
    connection.execute(
        update(t.Study).where(t.Study.id == study_id).values(settings=msgspec.to_builtins(study))
    )
