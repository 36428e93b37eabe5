"""kill -9, again and again, under load: every acknowledged rating is there, and none twice."""

import http.client
import json
import os
import signal
import threading
import time
import uuid
from collections import Counter

from server_studies import Nursery, free_port, make_study, set_up
from sqlalchemy import select

from sightline.server.private import Private
from sightline.server.security.sessions import COOKIE, Session, Sessions
from sightline.server.storage import items, raters
from sightline.server.storage import schema as t
from sightline.server.storage.database import Database
from sightline.server.storage.items import NewItem

KILLS = int(os.environ.get("SIGHTLINE_KILLS", "50"))
SAID = {"captions": {"value": 3}, "pairwise": {"better": "tie"}, "marking": {"errors": "1 2"}}
"""Each study with what is said of its items."""
PLAYERS = {"captions": 4, "pairwise": 1, "marking": 1}
SETTINGS = "training = {tutorial = 0, probation = 0}\nratings_per_item = 2\n"


class Player(threading.Thread):
    """Rates as fast as it can; a submission without a reply is sent again with the same token."""

    def __init__(self, port: int, slug: str, rater: int, sessions: Sessions, stop: threading.Event) -> None:
        super().__init__(daemon=True)
        session = Session(uuid.uuid4().hex, {slug: rater})
        self.slug = slug
        self.headers = {
            "cookie": f"{COOKIE}={sessions.write(session)}",
            "x-csrf-token": sessions.csrf(session),
            "content-type": "application/json",
        }
        self.port, self.stop_now = port, stop
        self.acknowledged: list[str] = []
        self.strange: list[object] = []

    def call(self, method: str, path: str, body: object = None) -> dict[str, object]:
        while True:
            try:
                link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
                link.request(
                    method,
                    f"/api/studies/{self.slug}/{path}",
                    json.dumps(body) if body else None,
                    self.headers,
                )
                reply = link.getresponse()
                read = reply.read()
                if reply.status == 200:
                    return json.loads(read)
                if reply.status != 429:
                    self.strange.append((reply.status, read))
                time.sleep(0.02)
            except (OSError, http.client.HTTPException):
                time.sleep(0.02)  # the server is dead; it comes back
            if self.stop_now.is_set():
                return {}

    def run(self) -> None:
        told = self.call("GET", "turn")
        while told.get("next") and not self.stop_now.is_set():
            token = uuid.uuid4().hex
            given = SAID[self.slug]
            body = {"item": told["next"]["item"], "token": token, "answers": given, "seconds": 0.1}
            told = self.call("POST", "answers", body)
            if told:
                self.acknowledged.append(token)


def many(database, stored, count):
    """More items like a study's first one."""
    with database.write() as connection:
        content = (
            connection.execute(select(t.Item.content).where(t.Item.study_id == stored.id)).scalars().first()
        )
        items.add_items(connection, stored, [NewItem(f"more-{n}", content) for n in range(count)])


def test_kill_nine_loses_and_doubles_nothing(memory):
    url = str(memory / "ratings.db")
    database = Database(url)
    database.migrate()
    running = {"captions": make_study(database, SETTINGS, main=20_000, gold=50)}
    for slug, kind in (("pairwise", "pairwise preference"), ("marking", "error marking")):
        running[slug] = set_up(database, memory, kind, "ratings_per_item = 2\n", slug)
        many(database, running[slug], 5_000)
    sessions = Sessions(Private.beside(database).signing_key(database))
    with database.write() as connection:
        people = [
            (slug, raters.join(connection, running[slug], f"P{n}", None))
            for slug, count in PLAYERS.items()
            for n in range(count)
        ]
    stop, port = threading.Event(), free_port()
    players = [Player(port, slug, rater, sessions, stop) for slug, rater in people]
    for player in players:
        player.start()
    nursery = Nursery(url, port)
    for _ in range(KILLS):
        server = nursery.start()
        time.sleep(0.2)
        os.kill(server, signal.SIGKILL)
    server = nursery.start()
    time.sleep(0.5)
    stop.set()
    for player in players:
        player.join(15)
    os.kill(server, signal.SIGTERM)
    nursery.close()
    with database.read() as connection:
        tokens = connection.execute(select(t.Answer.token)).scalars().all()
        pairs = connection.execute(select(t.Answer.item_id, t.Answer.rater_id)).all()
        people_counted = sum(connection.execute(select(t.Item.people).where(t.Item.role == "main")).scalars())
        main = connection.execute(select(t.Answer.id).where(t.Answer.phase == "play")).all()
    database.close()
    acknowledged = [token for player in players for token in player.acknowledged]
    assert len(acknowledged) > KILLS * 2
    assert all(player.acknowledged for player in players)
    assert set(acknowledged) <= set(tokens)
    assert max(Counter(tokens).values()) == 1
    assert len(pairs) == len(set(pairs))
    assert people_counted == len(main)  # tallies and answers agree
    assert [strange for player in players for strange in player.strange] == []
