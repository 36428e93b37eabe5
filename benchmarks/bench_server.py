"""The server under load: a room of 100 joins, 200 raters think three seconds, then submissions as fast as it can take.

    python benchmarks/bench_server.py [--seconds 120] [--postgres | --db URL]

Server and load generator share the machine and the loopback. The ratio is submissions a second over bare
inserts a second into the same database, each committed with full durability. `--postgres` starts a PostgreSQL
of its own in a temporary folder.
"""

import argparse
import asyncio
import http.client
import json
import math
import os
import random
import re
import secrets
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from sqlalchemy import text

from sightline.people.study import parse_study
from sightline.server.private import Private
from sightline.server.security.sessions import COOKIE, Session, Sessions
from sightline.server.storage import items, raters, studies
from sightline.server.storage.database import Database
from sightline.server.storage.items import NewItem

Process = subprocess.Popen[bytes]
RATERS, THINK, PORT = 200, 3.0, 8931
SETTINGS = """kind = "rating game"
title = "Load"
ratings_per_item = 5
training = {tutorial = 0, probation = 0}
checks = {gold = 0.1, attention = 0.02}
"""
SERVE = (
    "import pathlib, sys; from sightline.server.start import Database, Private, run; "
    "run(Database(sys.argv[1]), '127.0.0.1', int(sys.argv[2]), private=Private(pathlib.Path(sys.argv[3])))"
)


def prepare(database: Database, private: Private, seconds: float) -> list[dict[str, str]]:
    """A study large enough for the run; returns each rater's headers."""
    sessions = Sessions(private.signing_key(database))
    count = int(RATERS / THINK * seconds / 5) + 30_000
    with database.write() as connection:
        stored = studies.add(connection, "load", parse_study(SETTINGS, "toml"), public=True)
        rows = [
            NewItem(f"i{n}", {"text": f"caption {n}", "pictures": []}, seed=1 + n % 5) for n in range(count)
        ]
        rows += [NewItem(f"g{n}", {"text": f"gold {n}", "pictures": []}, {}, "gold", 3) for n in range(200)]
        items.add_items(connection, stored, rows)
        people = [raters.join(connection, stored, f"Rater {n}", None) for n in range(RATERS)]
    made = []
    for rater in people:
        session = Session(secrets.token_hex(16), {"load": rater})
        made.append({"cookie": f"{COOKIE}={sessions.write(session)}", "x-csrf-token": sessions.csrf(session)})
    return made


class Rater:
    """One connection that plays."""

    def __init__(self, headers: dict[str, str]) -> None:
        self.head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self.item: int | None = None
        self.times: list[float] = []
        self.errors: list[bytes] = []

    async def connect(self) -> None:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", PORT)
        self.take(await self.call("GET", "turn"))

    async def call(self, method: str, path: str, body: bytes = b"") -> bytes:
        kind = f"content-type: application/json\r\ncontent-length: {len(body)}\r\n" if body else ""
        start = (
            f"{method} /api/studies/load/{path} HTTP/1.1\r\nhost: 127.0.0.1:{PORT}\r\n{self.head}{kind}\r\n"
        )
        self.writer.write(start.encode() + body)
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        told = await self.reader.readexactly(length)
        if not head.startswith(b"HTTP/1.1 200"):
            self.errors.append(head.split(b"\r\n")[0] + b" " + told[:100])
        return told

    def take(self, told: bytes) -> None:
        following = json.loads(told).get("next")
        self.item = following["item"] if following else None

    async def rate(self) -> None:
        given = {
            "item": self.item,
            "token": uuid.uuid4().hex,
            "answers": {"value": random.randint(1, 5)},
            "seconds": 3.0,
        }
        began = time.perf_counter()
        told = await self.call("POST", "answers", json.dumps(given).encode())
        self.times.append(time.perf_counter() - began)
        self.take(told)

    async def think_and_rate(self, until: float) -> None:
        await asyncio.sleep(random.uniform(0, THINK))
        while time.monotonic() < until and self.item is not None:
            await self.rate()
            await asyncio.sleep(random.uniform(0.5 * THINK, 1.5 * THINK))

    async def hammer(self, until: float) -> None:
        while time.monotonic() < until and self.item is not None:
            await self.rate()


@dataclass
class Phase:
    """What one stretch of load came to."""

    times: list[float]
    errors: list[bytes]
    seconds: float
    cpu: float
    """Seconds of CPU the server used."""

    def at(self, share: float) -> float:
        return sorted(self.times)[min(int(len(self.times) * share), len(self.times) - 1)]

    @property
    def rate(self) -> float:
        return len(self.times) / self.seconds

    @property
    def cpu_ms(self) -> float:
        return 1000 * self.cpu / len(self.times)


async def phase(
    people: list[Rater], play: Callable[[Rater, float], Awaitable[None]], seconds: float, process: Process
) -> Phase:
    for person in people:
        person.times, person.errors = [], []
    began, used = time.monotonic(), cpu_of(process)
    await asyncio.gather(*(play(person, began + seconds) for person in people))
    return Phase(
        [each for person in people for each in person.times],
        [each for person in people for each in person.errors],
        time.monotonic() - began,
        cpu_of(process) - used,
    )


async def load(headers: list[dict[str, str]], seconds: float, process: Process) -> tuple[Phase, Phase]:
    people = [Rater(each) for each in headers]
    for person in people:
        await person.connect()
    calm = await phase(people, Rater.think_and_rate, seconds, process)
    crowd = await phase(people, Rater.hammer, 10, process)
    return calm, crowd


async def room(people: int = 100) -> tuple[int, float]:
    """A room of people behind one address joins at once: how many got in, and how long it took all of them."""

    async def come(number: int) -> bool:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{PORT}", timeout=120) as visitor:
            page = await visitor.get("/studies/load/join")
            fields = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page.text))
            told = await visitor.post("/studies/load/join", data={**fields, "name": f"Guest {number}"})
            return told.status_code == 303

    began = time.perf_counter()
    found = await asyncio.gather(*map(come, range(people)))
    return sum(found), time.perf_counter() - began


def bare_inserts(database: Database, seconds: float = 4.0) -> float:
    """Rows a second into an empty copy of the answer table, each its own durable transaction."""
    whole = dict.fromkeys(("study_id", "item_id", "rater_id", "value", "consensus", "points"), 1)
    row = {**whole, "round": 0, "returned": 0, "phase": "play", "answers": None, "before": "0,0,1,0,1"}
    row |= {"seconds": 3.0, "at": time.time()}
    names = ["token", *row]
    mark = "?" if database.is_sqlite else "%s"
    statement = f"INSERT INTO bare ({', '.join(names)}) VALUES ({', '.join([mark] * len(names))})"
    with database.engine.connect() as connection:
        connection.execute(text("CREATE TABLE bare AS SELECT * FROM answer WHERE 1 = 0"))
        connection.commit()
        driver = connection.connection.cursor()  # the database's own driver, nothing in between
        done, began = 0, time.perf_counter()
        while time.perf_counter() - began < seconds:
            if database.is_sqlite:
                driver.execute("BEGIN IMMEDIATE")
            driver.execute(statement, (uuid.uuid4().hex, *row.values()))
            connection.connection.commit()
            done += 1
        rate = done / (time.perf_counter() - began)
        connection.execute(text("DROP TABLE bare"))
        connection.commit()
    return rate


def cpu_of(process: Process) -> float:
    """Seconds of CPU the server has used; nan where the system does not tell."""
    try:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return math.nan
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_for(process: Process) -> None:
    for _ in range(600):
        try:
            link = http.client.HTTPConnection("127.0.0.1", PORT, timeout=2)
            link.request("GET", "/health")
            if link.getresponse().status == 200:
                return
        except OSError:
            time.sleep(0.1)
    process.kill()
    raise SystemExit("the server did not start")


@contextmanager
def opened(given: argparse.Namespace, folder: str) -> Iterator[str]:
    """The address of the database to be used."""
    if not given.postgres:
        yield given.db or str(Path(folder) / "load.db")
        return
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "server"))
    from postgres_cluster import Cluster, find_postgres

    binaries = find_postgres()
    if binaries is None:
        raise SystemExit("PostgreSQL is not installed: make system")
    with Cluster.started(binaries) as cluster:
        yield cluster.fresh()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--db", help="an empty PostgreSQL database; a SQLite file if not given")
    parser.add_argument("--postgres", action="store_true", help="start a PostgreSQL for the run")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, opened(given, folder) as url:
        database = Database(url)
        database.migrate()
        private = Private(Path(folder) / "private")
        headers = prepare(database, private, given.seconds)
        process = subprocess.Popen([sys.executable, "-c", SERVE, url, str(PORT), str(private.folder)])
        try:
            wait_for(process)
            joined, seconds_to_join = asyncio.run(room())
            calm, crowd = asyncio.run(load(headers, given.seconds, process))
        finally:
            process.terminate()
            process.wait(30)
        bare = bare_inserts(database)
        with database.read() as connection:
            kept = connection.execute(text("SELECT count(*) FROM answer")).scalar_one()
        database.close()
    errors, told = calm.errors + crowd.errors, len(calm.times) + len(crowd.times)
    p50, p99, worst = (1000 * calm.at(share) for share in (0.5, 0.99, 1))
    ratio = crowd.rate / bare
    kind = "SQLite" if database.is_sqlite else "PostgreSQL"
    print(f"{kind}, {RATERS} raters, {THINK:.0f} s of thinking, {given.seconds:.0f} s")
    print(f"  a room of 100  {joined} joined in {seconds_to_join:.1f} s, from one address")
    print(f"  ratings        {len(calm.times)}  ({calm.rate:.1f} a second), errors {len(errors)}")
    print(f"  latency        p50 {p50:.1f} ms, p99 {p99:.1f} ms, worst {worst:.1f} ms")
    print(f"  server's CPU   {calm.cpu_ms:.2f} ms a rating; saturated {crowd.cpu_ms:.2f} ms")
    print(f"  saturated      {crowd.rate:.0f} submissions a second over {RATERS} connections")
    print(f"  bare inserts   {bare:.0f} a second")
    print(f"  ratio          {ratio:.3f}  (at least 0.1)")
    print(f"  kept           {kept} of {told} acknowledged")
    if joined < 100 or seconds_to_join > 60 or errors or kept != told or p99 > 250 or ratio < 0.1:
        raise SystemExit(f"below the floor; first error: {errors[:1]}")


if __name__ == "__main__":
    main()
