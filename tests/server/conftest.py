"""What the server's tests share: both databases, and where to find PostgreSQL."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

import psycopg
import pytest

from sightline.server.storage.database import Database

sys.path.insert(0, str(Path(__file__).parent))  # server_studies
MEMORY = next((path for path in ("/dev/shm", "/tmp") if os.access(path, os.W_OK)), None)
"""Commits are as durable as ever, but the tests need not wait for a busy disk: no test cuts the power."""
POSTGRES = Path("/usr/lib/postgresql")


def _find_postgres() -> Path | None:
    found = sorted(POSTGRES.glob("*/bin/initdb"), reverse=True)
    if found:
        return found[0].parent
    on_path = shutil.which("initdb")
    return Path(on_path).resolve().parent if on_path else None


class Cluster:
    """A PostgreSQL server of the tests' own."""

    def __init__(self, folder: Path, binaries: Path) -> None:
        self.folder, self.binaries = folder, binaries
        self.prefix = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        if self.prefix:
            shutil.chown(folder, "postgres", "postgres")
        self._call(
            "initdb", "-D", str(folder / "data"), "-U", "sightline", "--auth=trust", "-E", "UTF8", "--no-sync"
        )
        self.start()

    def _call(self, program: str, *arguments: str) -> None:
        line = [*self.prefix, str(self.binaries / program), *arguments]
        subprocess.run(line, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)

    def start(self) -> None:
        options = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1 -c max_connections=60"
        self._call(
            "pg_ctl",
            "-D",
            str(self.folder / "data"),
            "-w",
            "-o",
            options,
            "-l",
            str(self.folder / "log"),
            "start",
        )

    def stop(self) -> None:
        self._call("pg_ctl", "-D", str(self.folder / "data"), "-m", "immediate", "stop")

    def url(self, name: str) -> str:
        return f"postgresql://sightline@127.0.0.1:{self.port}/{name}"

    def run(self, statement: str) -> None:
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(statement)

    def fresh(self) -> str:
        name = f"t{uuid.uuid4().hex[:12]}"
        self.run(f"CREATE DATABASE {name}")
        return self.url(name)


@pytest.fixture(scope="session")
def cluster(pytestconfig):
    binaries = _find_postgres()
    if binaries is None:
        root = str(Path(__file__).parents[1] / "conftest.py")
        pytestconfig.pluginmanager.get_plugin(root).skip("PostgreSQL is not installed")
    folder = Path(tempfile.mkdtemp(prefix="sightline-pg-", dir=MEMORY))
    folder.chmod(0o755)
    server = Cluster(folder, binaries)
    yield server
    server.stop()
    time.sleep(0.1)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, memory):
    url = (
        str(memory / "ratings.db")
        if request.param == "sqlite"
        else request.getfixturevalue("cluster").fresh()
    )
    opened = Database(url)
    opened.migrate()
    yield opened
    opened.close()


@pytest.fixture
def memory():
    with tempfile.TemporaryDirectory(prefix="sightline-", dir=MEMORY) as folder:
        yield Path(folder)


@pytest.fixture
def sqlite(memory):
    opened = Database(str(memory / "ratings.db"))
    opened.migrate()
    yield opened
    opened.close()
