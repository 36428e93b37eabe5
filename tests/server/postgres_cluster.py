"""PostgreSQL, found and started for a while: for the tests and for benchmarks/bench_server.py."""

import os
import shutil
import socket
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

POSTGRES = Path("/usr/lib/postgresql")


def find_postgres() -> Path | None:
    found = sorted(POSTGRES.glob("*/bin/initdb"), reverse=True)
    if found:
        return found[0].parent
    on_path = shutil.which("initdb")
    return Path(on_path).resolve().parent if on_path else None


class Cluster:
    """A PostgreSQL server of one's own, gone afterwards."""

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

    @classmethod
    @contextmanager
    def started(cls, binaries: Path, within: str | None = None) -> Iterator["Cluster"]:
        """A running cluster in a temporary folder."""
        folder = Path(tempfile.mkdtemp(prefix="sightline-pg-", dir=within))
        folder.chmod(0o755)
        server = cls(folder, binaries)
        try:
            yield server
        finally:
            server.stop()
            shutil.rmtree(folder, ignore_errors=True)

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
