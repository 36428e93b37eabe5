"""What must not lie in the database or its backups: the key that signs cookies, and who was removed.

Whoever finds a copy of the database can neither sign in as anybody nor bring back the data of people who were
removed from it.
"""

import hashlib
import os
import secrets
from pathlib import Path

from sqlalchemy import Connection, delete, func, insert, select

from sightline.errors import UsageError
from sightline.io.results import told
from sightline.server.storage import schema as t
from sightline.server.storage.database import MIGRATION_LOCK, Database

KEY, REMOVED = "cookies.key", "removed.txt"
IN_DATABASE, DIGEST = "cookies", "digest of the key"


class Private:
    """A folder that nobody else may read; several servers of one database share it, or have a copy each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def beside(cls, database: Database) -> "Private":
        """The folder beside a SQLite file; for PostgreSQL one in the current folder."""
        if database.file is None:
            return cls(Path("sightline.private"))
        return cls(database.file.with_name(f"{database.file.name}.private"))

    def signing_key(self, database: Database, *, new: bool = False) -> str:
        """The key, made on first use. The database knows its digest, so that no server begins with another by mistake.

        `new` makes another key: nobody's session or code holds any longer.
        """
        with database.write() as connection:
            if not database.is_sqlite:  # servers that start at once agree on one
                connection.execute(select(func.pg_advisory_xact_lock(MIGRATION_LOCK)))
            known = {row.name: row.value for row in connection.execute(select(t.Secret.name, t.Secret.value))}
            moving = known.get(IN_DATABASE)  # earlier versions kept the key in the database
            held, expected = self._held(), known.get(DIGEST) or (_digest(moving) if moving else None)
            if new:
                held = self._keep(secrets.token_urlsafe(48))
            elif held is None:
                if expected is not None and moving is None:
                    raise UsageError(self._another("is not there"))
                held = self._keep(moving or secrets.token_urlsafe(48))
            elif expected not in (None, _digest(held)):
                raise UsageError(self._another("is another one"))
            _note_digest(connection, _digest(held))
        return held

    def note_removed(self, code: str) -> None:
        """Remember for good that a rater was removed: a backup from before still has what they did."""
        self._write(self.folder / REMOVED, code, os.O_APPEND)

    def removed(self) -> set[str]:
        """The codes of all raters who were removed."""
        return set((self._read(self.folder / REMOVED) or "").split())

    def _held(self) -> str | None:
        return (self._read(self.folder / KEY) or "").strip() or None

    def _keep(self, key: str) -> str:
        part = self.folder / f".{KEY}.{secrets.token_hex(4)}"
        self._write(part, key, os.O_EXCL)
        part.replace(self.folder / KEY)
        return key

    @staticmethod
    def _read(path: Path) -> str | None:
        try:
            return path.read_text("utf-8")
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as fault:
            raise UsageError(f"{path}: cannot be read ({getattr(fault, 'strerror', '') or fault})") from None

    @staticmethod
    def _write(path: Path, line: str, how: int) -> None:
        """A line that is on disk afterwards, in a file that nobody else may read."""
        with told(path):
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | how, 0o600), "w") as file:
                file.write(f"{line}\n")
                file.flush()
                os.fsync(file.fileno())

    def _another(self, what: str) -> str:
        return (
            f"{self.folder / KEY}: the key that this database was served with {what}; name its folder with --private, "
            "or begin with another by --new-key: then staff log in again, and raters' codes hold no longer"
        )


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def _note_digest(connection: Connection, digest: str) -> None:
    connection.execute(delete(t.Secret).where(t.Secret.name.in_((IN_DATABASE, DIGEST))))
    connection.execute(insert(t.Secret).values(name=DIGEST, value=digest))
