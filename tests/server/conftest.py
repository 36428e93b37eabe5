"""What the server's tests share: both databases."""

import os
import sys
import tempfile
from pathlib import Path

import pytest

from sightline.server.storage.database import Database

sys.path.insert(0, str(Path(__file__).parent))  # server_studies, postgres_cluster
from postgres_cluster import Cluster, find_postgres

MEMORY = next((path for path in ("/dev/shm", "/tmp") if os.access(path, os.W_OK)), None)
"""Commits are as durable as ever, but the tests need not wait for a busy disk: no test cuts the power."""


@pytest.fixture(scope="session")
def cluster(pytestconfig):
    binaries = find_postgres()
    if binaries is None:
        root = str(Path(__file__).parents[1] / "conftest.py")
        pytestconfig.pluginmanager.get_plugin(root).skip("PostgreSQL is not installed")
    with Cluster.started(binaries, MEMORY) as server:
        yield server


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
