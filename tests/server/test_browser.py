"""In a real Chromium: join, fail training once, pass, play 20 rounds by keys, dispute, be heard."""

import json
import os
import signal
from pathlib import Path

import pytest
from server_studies import Nursery, free_port, make_study
from sqlalchemy import select, update

from sightline.server.sample import prepare_samples
from sightline.server.setup import store
from sightline.server.storage import raters, staff
from sightline.server.storage import schema as t
from sightline.server.storage.database import Database

PASSWORD = "a long password"
SETTINGS = """
ratings_per_item = 9
training = {tutorial = 2, probation = 4, accuracy = 0.5, points = 5}
checks = {gold = 0.0, attention = 0.0}
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A running server with a game whose items four others have all rated 5, and an invitation."""
    url, port = str(tmp_path_factory.mktemp("site") / "ratings.db"), free_port()
    database = Database(url)
    database.migrate()
    for prepared in prepare_samples():
        with database.write() as connection:
            store(connection, prepared, public=True)
    stored = make_study(database, SETTINGS, main=30, training=18)
    with database.write() as connection:
        connection.execute(update(t.Study).where(t.Study.slug == "captions").values(public=False))
        rated = (t.Item.study_id == stored.id) & (t.Item.role == "main")
        connection.execute(
            update(t.Item).where(rated).values(counts="0,0,0,0,4", people=4, wanted=13, free=9)
        )
        staff.set_password(connection, "mod", PASSWORD)
        token = raters.invite(connection, stored.id, 1)
        experts = dict(connection.execute(select(t.Item.id, t.Item.expert)).all())
    nursery = Nursery(url, port)
    server = nursery.start()
    yield f"http://127.0.0.1:{port}", token, experts, database
    os.kill(server, signal.SIGTERM)
    nursery.close()
    database.close()


class Visit:
    """A page with its screenshots and whatever went wrong in it."""

    def __init__(self, browser, folder, name, **options):
        self.page = browser.new_context(**options).new_page()
        self.folder, self.name, self.count, self.faults = folder, name, 0, []
        self.page.on("pageerror", lambda fault: self.faults.append(str(fault)))
        self.page.on("console", lambda told: self.faults.append(told.text) if told.type == "error" else None)

    def shot(self, what, full=True):
        self.count += 1
        self.page.screenshot(path=self.folder / f"{self.name}-{self.count:02d}-{what}.png", full_page=full)

    def rate(self, level):
        self.page.keyboard.press(str(level))
        self.page.wait_for_selector("#feedback:not([hidden])")
        earned = int(self.page.inner_text("#earned"))
        self.page.wait_for_function("document.activeElement.id === 'next'")
        return earned

    def next(self):
        self.page.keyboard.press("Enter")
        self.page.wait_for_selector("#feedback", state="hidden")


def item_of(visit):
    reply = visit.page.request.get(visit.page.url.replace("/studies/", "/api/studies/") + "/turn")
    return reply.json()["next"]["item"]


@pytest.mark.browser
def test_a_newcomer_from_the_link_to_the_accepted_dispute(browser, site, tmp_path):
    base, token, experts, database = site
    shots = Path(os.environ.get("SIGHTLINE_ARTEFACTS", tmp_path / "artefacts"))
    shots.mkdir(parents=True, exist_ok=True)
    player = Visit(browser, shots, "player", viewport={"width": 1280, "height": 800})
    page = player.page
    page.goto(f"{base}/join/{token}")
    player.shot("join")
    page.fill("#name", "Newcomer")
    page.keyboard.press("Enter")
    page.wait_for_selector("#game")
    expected = []
    for good in (False, True):
        for lesson in range(6):
            item = item_of(player)
            level = experts[item] if good else 1 if experts[item] > 3 else 5
            points = player.rate(level)
            expected.append(("tutorial" if lesson < 2 else "probation", level, points))
            if lesson in (0, 1, 5):
                player.shot(f"lesson-{'good' if good else 'bad'}-{lesson}", full=False)
            note = page.inner_text("#lesson-note") if page.is_visible("#lesson-note") else ""
            if lesson == 5:
                assert ("from now on your answers count" in note) is good
                assert ("begins anew" in note) is not good
            player.next()
    assert page.inner_text("#phase") == "Game"
    total, levels = 0, [5, 4, 5, 3, 5, 1, 5, 5, 2, 5, 5, 5, 4, 5, 5, 5, 3, 5, 5, 5]
    for number, level in enumerate(levels):
        points = player.rate(level)
        total += points
        expected.append(("play", level, points))
        assert page.inner_text("#points") == str(total)
        if level == 1:
            assert points == -1
            player.shot("lost", full=False)
            page.click("#dispute")
            page.fill("#reason", "The caption is about another drawing.")
            page.click("#dispute-form .button:not(.secondary)")
            page.wait_for_selector("#lesson-note:not([hidden])")
        player.shot("round", full=False) if number == 0 else None
        player.next()
    page.goto(f"{base}/studies/captions/me")
    assert page.is_visible("text=dispute open")
    player.shot("record")
    page.goto(f"{base}/studies/captions/leaderboard")
    player.shot("leaderboard")
    assert page.inner_text("tr.me td:nth-child(3)") == str(total)

    moderator = Visit(browser, shots, "moderator", viewport={"width": 1280, "height": 800})
    page = moderator.page
    page.goto(f"{base}/staff")
    moderator.shot("login")
    page.fill("#name", "mod")
    page.fill("#password", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/staff")
    for where in (
        "",
        "/studies/captions",
        "/studies/captions/raters",
        "/studies/captions/items",
        "/studies/new",
        "/audit",
    ):
        page.goto(f"{base}/staff{where}")
        moderator.shot(where.replace("/", "-") or "home")
    page.goto(f"{base}/staff/studies/captions/disputes")
    moderator.shot("disputes")
    page.fill("input[name=reply]", "Indeed.")
    page.click("button[value=accepted]")
    page.wait_for_selector("text=Indeed.")
    moderator.shot("decided")
    reply = page.request.get(f"{base}/staff/studies/captions/export?what=ratings&form=jsonl")
    rows = [json.loads(line) for line in reply.text().splitlines()]
    assert [(row["phase"], row["value"], row["points"]) for row in rows] == expected
    assert [(row["value"], row["returned"]) for row in rows if row["returned"]] == [(1, 1)]
    assert len({row["rater"] for row in rows}) == 1
    with database.read() as connection:
        assert (
            connection.execute(select(t.Rater.points).where(t.Rater.name == "Newcomer")).scalar_one()
            == total + 1
        )
    assert player.faults == []
    assert moderator.faults == []
