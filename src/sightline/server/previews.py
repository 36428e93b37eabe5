"""Previews: a staff member plays a small copy of a study as its raters will, and the copy is gone afterwards."""

import secrets
import time
from collections import Counter
from dataclasses import replace

import msgspec
from sqlalchemy import Connection, select

from sightline.people.study import Study
from sightline.server.setup import Prepared
from sightline.server.storage import copies, items, raters, studies
from sightline.server.storage import schema as t
from sightline.server.storage.studies import StoredStudy

LIFE = 2 * 3600.0
AT_MOST = {"main": 12, "training": 60, "gold": 6, "attention": 6}
PLAYER = "Preview"


def of_study(connection: Connection, stored: StoredStudy) -> tuple[StoredStudy, int]:
    """A preview of a study as it stands, and its player."""
    until = time.time() + LIFE
    made = copies.copy(
        connection, stored, _alone(stored.study), _slug(), at_most=AT_MOST, preview_until=until
    )
    return made, _player(connection, made)


def of_prepared(connection: Connection, prepared: Prepared) -> tuple[StoredStudy, int]:
    """A preview of a study that is not set up yet, and its player."""
    made = studies.add(connection, _slug(), _alone(prepared.study), preview_until=time.time() + LIFE)
    taken: Counter[str] = Counter()
    shown = []
    for item in prepared.items:
        taken[item.role] += 1
        if taken[item.role] <= AT_MOST[item.role]:
            shown.append(item)
    wanted = {sha for item in shown for sha in item.content["pictures"]}
    for name, picture in prepared.pictures.values():
        if picture.sha in wanted:
            items.add_picture(connection, made.id, name, picture)
    items.add_items(connection, made, shown)
    return made, _player(connection, made)


def _slug() -> str:
    return f"preview-{secrets.token_hex(8)}"


def _alone(study: Study) -> Study:
    """The study for one who plays it alone: nobody is sent back to a platform, no place is taken."""
    return msgspec.structs.replace(study, platform=None, places=None)


def _player(connection: Connection, made: StoredStudy) -> int:
    return raters.join(connection, replace(made, public=True), PLAYER, None)


def ended(connection: Connection, now: float) -> list[int]:
    """Previews whose time is over."""
    query = select(t.Study.id).where(t.Study.preview_until.is_not(None), t.Study.preview_until < now)
    return list(connection.execute(query).scalars())


def sweep(connection: Connection, now: float) -> None:
    for study_id in ended(connection, now):
        studies.remove(connection, study_id)
