"""Opening the database: durable settings, migrations, and reconnecting when a connection was dropped."""

import contextlib
import importlib.resources
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import ConnectionPoolEntry

from sightline.errors import UsageError, extra

MIGRATION_LOCK = 7_346_120


def normal_url(given: str) -> str:
    """A path, sqlite:// or postgresql:// as SQLAlchemy wants it."""
    if given.startswith(("postgres://", "postgresql://")):
        extra("psycopg", "postgres")
        return "postgresql+psycopg://" + given.split("://", 1)[1]
    if "://" not in given:
        return f"sqlite:///{Path(given).expanduser()}"
    return given


class Database:
    """An engine with the settings that make a commit mean it."""

    def __init__(self, url: str) -> None:
        self.url = normal_url(url)
        self.is_sqlite = self.url.startswith("sqlite")
        path = self.url.removeprefix("sqlite:///")
        self.file = Path(path) if path != self.url and path else None
        """Where SQLite keeps it."""
        if not self.is_sqlite and not self.url.startswith("postgresql"):
            raise UsageError(f"--db {url}: give a file for SQLite, or postgresql://user@host/name")
        try:
            self.engine = self._engine()
        except ValueError as fault:  # a malformed URL
            raise UsageError(f"--db {url}: {fault}") from None

    def _engine(self) -> Engine:
        if not self.is_sqlite:
            return create_engine(self.url, pool_pre_ping=True, pool_size=8, max_overflow=16)
        engine = create_engine(self.url, connect_args={"timeout": 30, "check_same_thread": False})
        event.listen(engine, "connect", _prepare_sqlite)
        return engine

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection for looking things up."""
        with self.engine.connect() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction outside the server's writer: set-up, commands, tests."""
        with self.engine.connect() as connection:
            self.begin(connection)
            try:
                yield connection
            except BaseException:
                connection.rollback()
                raise
            connection.commit()

    def begin(self, connection: Connection) -> None:
        """Start a writing transaction; SQLite takes its lock at once, so that it never fails half way."""
        connection.begin()
        if self.is_sqlite:
            connection.exec_driver_sql("BEGIN IMMEDIATE")

    def _close_to_others(self) -> None:
        """What people said is read by nobody else on the machine; SQLite's own files beside it follow its mode."""
        if self.file is None:
            return
        with contextlib.suppress(OSError):  # said when it is opened
            os.close(os.open(self.file, os.O_RDWR | os.O_CREAT, 0o600))
        for name in ("", "-wal", "-shm"):
            with contextlib.suppress(OSError):
                self.file.with_name(self.file.name + name).chmod(0o600)

    def migrate(self) -> None:
        """Bring the tables up to date; several servers may start at once."""
        self._close_to_others()
        config = Config()
        config.set_main_option(
            "script_location", str(importlib.resources.files("sightline.server") / "migrations")
        )
        try:
            with self.engine.connect() as connection:
                if not self.is_sqlite:
                    connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": MIGRATION_LOCK})
                    connection.commit()
                self.begin(connection)  # killed half way, the tables are as they were
                config.attributes["connection"] = connection
                command.upgrade(config, "head")
                connection.commit()
                if not self.is_sqlite:
                    connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": MIGRATION_LOCK})
                    connection.commit()
        except OperationalError as fault:
            reason = " ".join(str(fault.orig).split())
            raise UsageError(f"the database {self.engine.url!r} cannot be opened: {reason}") from None

    def close(self) -> None:
        self.engine.dispose()


def _prepare_sqlite(connection: object, _entry: ConnectionPoolEntry) -> None:
    connection.isolation_level = None  # type: ignore[attr-defined] # transactions are begun here, not by the driver
    cursor = connection.cursor()  # type: ignore[attr-defined]
    # what is deleted is overwritten: a removed person's words do not lie on in the file
    for pragma in (
        "journal_mode=WAL",
        "synchronous=FULL",
        "foreign_keys=ON",
        "busy_timeout=30000",
        "secure_delete=ON",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()
