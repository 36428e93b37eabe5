"""Backups: everything as it is at one moment, as a SQLite file of its own, whatever database it came from."""

import contextlib
import os
import secrets
import shutil
import sqlite3
import tempfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, delete, func, insert, select, text

from sightline.errors import UsageError
from sightline.io.results import told
from sightline.server.storage import schema as t
from sightline.server.storage.database import Database
from sightline.server.storage.moderation import remove_rater
from sightline.server.storage.numbers import never_again
from sightline.server.storage.studies import everything

TABLES = [table for table in t.Base.metadata.sorted_tables if table is not t.Secret.__table__]
"""In an order in which each refers only to those before it."""
ROWS = 50
"""At a time: a picture may have megabytes."""
JOINED_SINCE = 100_000
"""More than can have joined after a backup: the numbers in their cookies must not become somebody else's."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What a backup holds."""

    studies: int
    people: int
    answers: int

    def __str__(self) -> str:
        counts = ((self.studies, "study", "studies"), (self.people, "rater", "raters"))
        named = (*counts, (self.answers, "answer", "answers"))
        return ", ".join(f"{count:,} {one if count == 1 else more}" for count, one, more in named)


def backup(database: Database, file: Path, *, overwrite: bool = False) -> Kept:
    """Write a backup. It waits for nobody and nobody waits for it; all that was acknowledged before is in it."""
    if file.exists() and not overwrite:
        raise UsageError(f"{file}: is there already; choose another name, or --overwrite")
    if database.file is not None and file.resolve() == database.file.resolve():
        raise UsageError(f"{file}: this is the database itself")
    part = file.with_name(f".{file.name}.{secrets.token_hex(4)}.part")
    with told(file):
        try:
            os.close(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
            kept = _copy_into(database, part)
            with part.open("rb") as written:
                os.fsync(written.fileno())
            part.replace(file)
        finally:
            for name in ("", "-wal", "-shm"):
                part.with_name(part.name + name).unlink(missing_ok=True)
    return kept


def restore(
    file: Path, database: Database, removed: Collection[str], *, replace: bool = False
) -> tuple[Kept, int]:
    """Put a backup in place of what the database holds, all or nothing; returns what it holds then.

    Raters who were `removed`, or are in the database now, stay removed: the second number says how many had data in the
    backup.
    """
    with tempfile.TemporaryDirectory(prefix="sightline-") as folder:
        source = Database(str(_checked(file, Path(folder))))
        source.migrate()
        database.migrate()
        with _moment(source) as old, database.write() as connection:
            gone = _forget(connection, replace) | set(removed)
            for table in TABLES:
                _fill(old, connection, table)
            _count_on(connection)
            again = _remove(connection, gone)
            kept = _kept(connection)
        source.close()
    return kept, again


def _copy_into(database: Database, part: Path) -> Kept:
    copy = Database(str(part))
    try:
        copy.migrate()
        with _moment(database) as connection, copy.write() as target:
            for table in TABLES:
                _fill(connection, target, table)
            kept = _kept(target)
        with copy.engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA journal_mode=DELETE")  # one file, nothing beside it
    finally:
        copy.close()
    return kept


@contextlib.contextmanager
def _moment(database: Database) -> Iterator[Connection]:
    """A connection that sees the database as it is at its first look, whatever is written meanwhile."""
    with database.engine.connect() as connection:
        if database.is_sqlite:
            connection.exec_driver_sql("BEGIN")
        else:
            connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        yield connection
        connection.rollback()


def _fill(source: Connection, target: Connection, table: Table) -> None:
    order = list(table.primary_key.columns)
    rows = source.execute(select(table).order_by(*order).execution_options(yield_per=ROWS))
    for batch in rows.mappings().partitions(ROWS):
        target.execute(insert(table), [dict(row) for row in batch])


def _checked(file: Path, folder: Path) -> Path:
    """A copy of the backup to bring up to date and read: the file itself stays as it is."""
    if not file.is_file():
        raise UsageError(f"{file}: no such file")
    copy = folder / "backup.db"
    shutil.copyfile(file, copy)
    copy.chmod(0o600)
    try:
        with contextlib.closing(sqlite3.connect(copy)) as opened:
            fault = opened.execute("PRAGMA integrity_check").fetchone()[0]
            opened.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.Error:
        raise UsageError(f"{file}: not a backup made by 'sightline serve backup'") from None
    if fault != "ok":
        raise UsageError(f"{file}: the backup is damaged ({fault.splitlines()[0]}); use another one")
    return copy


def _forget(connection: Connection, replace: bool) -> set[str]:
    """Empty the database; returns the codes of those whose data was removed from it."""
    if everything(connection) and not replace:
        raise UsageError("the database holds studies: --replace puts the backup in their place")
    erased = select(t.Rater.code).where(t.Rater.active.is_(False))
    gone = set(connection.execute(erased).scalars())
    for table in reversed(TABLES):
        connection.execute(delete(table))
    return gone


def _count_on(connection: Connection) -> None:
    """Numbers go on behind those of the backup, and raters' behind those of people who joined after it."""
    highest = int(connection.execute(select(func.max(t.Rater.id))).scalar() or 0) + JOINED_SINCE
    never_again(connection, highest)
    if connection.dialect.name == "sqlite":
        return
    for table in TABLES:
        key: Any = table.c.get("id")
        if key is not None:
            most = int(connection.execute(select(func.max(key))).scalar() or 0)
            at = max(most, highest if table is t.Rater.__table__ else 1)
            sequence = text("SELECT setval(pg_get_serial_sequence(:name, 'id'), :at)")
            connection.execute(sequence, {"name": f'"{table.name}"', "at": at})


def _remove(connection: Connection, codes: Collection[str]) -> int:
    query = select(t.Rater.study_id, t.Rater.code).where(t.Rater.active.is_(True))
    found = [row for row in connection.execute(query).all() if row.code in codes]
    known = {stored.id: stored for stored in everything(connection)}
    for row in found:
        if row.study_id in known:
            remove_rater(connection, known[row.study_id], row.code)
    return len(found)


def _kept(connection: Connection) -> Kept:
    def count(*where: Any, of: Any) -> int:
        return int(connection.execute(select(func.count()).select_from(of).where(*where)).scalar_one())

    return Kept(
        len(everything(connection)),
        count(t.Rater.active.is_(True), of=t.Rater),
        count(of=t.Answer),
    )
