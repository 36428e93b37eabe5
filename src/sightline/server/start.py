"""Getting a server ready: tables, the first staff member, studies."""

import secrets
import sys
from collections.abc import Sequence
from pathlib import Path

import uvicorn

from sightline.errors import UsageError, unknown
from sightline.people.study import read_study
from sightline.server import setup
from sightline.server.app import create_app
from sightline.server.context import Server
from sightline.server.private import Private
from sightline.server.sample import is_empty, prepare_samples
from sightline.server.storage import raters, studies
from sightline.server.storage import staff as store_staff
from sightline.server.storage.database import Database
from sightline.server.storage.studies import StoredStudy

FIRST = "admin"


def open_database(
    url: str, *, sample: bool = True, staff: str | None = None
) -> tuple[Database, tuple[str, str] | None]:
    """The database, up to date; and a staff name with its new password, if one was made."""
    database = Database(url)
    database.migrate()
    made = None
    with database.write() as connection:
        name = staff or (None if store_staff.names(connection) else FIRST)
        if name:
            made = (name, secrets.token_urlsafe(12))
            store_staff.set_password(connection, *made)
        empty = is_empty(connection)
    if sample and empty:
        for prepared in prepare_samples():
            with database.write() as connection:
                setup.store(connection, prepared, public=True)
    return database, made


def existing(url: str) -> Database:
    """A database that is there already, up to date."""
    database = Database(url)
    if database.file is not None and not database.file.is_file():
        raise UsageError(f"--db {url}: no such database")
    database.migrate()
    return database


def existing_study(url: str, slug: str) -> tuple[Database, StoredStudy]:
    """A database and a study in it, for commands."""
    database = existing(url)
    with database.read() as connection:
        stored = studies.find(connection, slug)
        known = [each.slug for each in studies.everything(connection)]
    if stored is None:
        raise unknown("study", slug, known)
    return database, stored


def run(
    database: Database,
    host: str,
    port: int,
    trusted_proxies: Sequence[str] = ("127.0.0.1",),
    public_url: str = "",
    private: Private | None = None,
) -> None:
    """Serve until told to stop."""
    sys.setswitchinterval(0.001)  # the writer's thread must not keep a request waiting
    uvicorn.run(
        create_app(Server(database, trusted_proxies=trusted_proxies, public_url=public_url, private=private)),
        host=host,
        port=port,
        log_level="warning",
        server_header=False,
        access_log=False,
        proxy_headers=False,  # the application looks at them itself
        timeout_keep_alive=75,
    )


def set_up_studies(database: Database, files: Sequence[Path], public: bool) -> list[tuple[StoredStudy, str]]:
    """Studies from their files, each with the link to join it; a study that exists is left as it is."""
    found = []
    for path in files:
        study, slug = read_study(path), setup.slug_of(path.stem)
        with database.read() as connection:
            known = studies.find(connection, slug)
        prepared = None if known else setup.prepare(study, path.parent, inside=False, slug=slug)
        for note in prepared.notes if prepared else ():
            print(f"{path}: {note}", file=sys.stderr)
        with database.write() as connection:
            stored = known or setup.store(connection, prepared, public=public)  # type: ignore[arg-type]
            token = raters.invite(connection, stored.id, None, "made at the start")
        found.append((stored, f"/join/{token}"))
    return found
