"""People from crowd platforms: who they are there, where they go afterwards, how many there may be."""

import json
import re

import pytest
from server_studies import make_study, set_up
from sqlalchemy import select
from test_rater_life import fields, guest, send
from test_storage import column, rate, turn
from test_storage import join as join_now
from test_web import FREE, browser, csrf, join, login, server  # noqa: F401

from sightline.errors import UsageError
from sightline.people.study import parse_study
from sightline.server.storage import raters
from sightline.server.storage import schema as t

PLATFORM = """consent = "We ask this."
items_per_person = 2
places = 2
[platform]
name = "prolific"
completed = "https://app.example.org/complete?cc=DONE"
no_consent = "NOCONSENT"
full = "https://app.example.org/full"
"""
LINK = "/studies/kind/join?PROLIFIC_PID={pid}&STUDY_ID=s1&SESSION_ID=x9&other=1"


def arrive(visitor, pid):
    """Open the platform's link and press Begin."""
    page = visitor.get(LINK.format(pid=pid))
    hidden = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page.text))
    return visitor.post("/studies/kind/join", data=hidden) if "nonce" in hidden else page


def agree(visitor, page, said="yes"):
    return visitor.post("/studies/kind/consent", data={"csrf": csrf(page), "agrees": said})


def test_from_the_platforms_link_to_its_completion_page_and_the_export(server, browser, tmp_path):  # noqa: F811
    set_up(server.database, tmp_path, "grounding survey", PLATFORM)
    worker = guest(server)
    page = agree(worker, arrive(worker, "pid-a"))
    assert "Your name here" not in page.text
    assert "1 of 2" in page.text
    page = send(server, worker, page, "grounding survey")
    assert "2 of 2" in page.text
    page = send(server, worker, page, "grounding survey")
    assert 'href="https://app.example.org/complete?cc=DONE"' in page.text
    with server.database.read() as connection:
        assert len(connection.execute(select(t.Answer.id)).all()) == 2  # a third item was there
        assert connection.execute(select(t.Rater.finished)).scalar_one() is not None
    login(browser)
    bare = browser.get("/staff/studies/kind/export?what=ratings&form=jsonl").text
    assert "pid-a" not in bare
    named = browser.get("/staff/studies/kind/export?what=ratings&form=jsonl&names=true").text
    rows = [json.loads(line) for line in named.splitlines()]
    assert {row["PROLIFIC_PID"] for row in rows} == {"pid-a"}
    assert {(row["STUDY_ID"], row["SESSION_ID"]) for row in rows} == {("s1", "x9")}


def test_one_who_comes_twice_goes_on_where_they_were(server, tmp_path):  # noqa: F811
    set_up(server.database, tmp_path, "grounding survey", PLATFORM)
    first, again = guest(server), guest(server)
    page = agree(first, arrive(first, "pid-a"))
    send(server, first, page, "grounding survey")
    page = arrive(again, "pid-a")  # another browser, the same participant
    assert "2 of 2" in page.text
    assert "2 of 2" in arrive(again, "pid-a").text  # the link once more in the same browser
    with server.database.read() as connection:
        assert len(connection.execute(select(t.Rater.id)).all()) == 1


def test_one_who_declines_is_sent_back_and_holds_no_place(server, tmp_path):  # noqa: F811
    set_up(server.database, tmp_path, "grounding survey", PLATFORM)
    for pid in ("a", "b", "c"):
        worker = guest(server)
        page = agree(worker, arrive(worker, pid), "no")
        assert "You did not consent" in page.text
        assert 'id="code">NOCONSENT<' in page.text
    worker = guest(server)
    assert "1 of 2" in agree(worker, arrive(worker, "d")).text


def test_places_are_kept_for_those_at_work_and_given_back_by_those_who_left(server, tmp_path):  # noqa: F811
    set_up(server.database, tmp_path, "grounding survey", PLATFORM)
    now = [1_000_000.0]
    server.clock = lambda: now[0]
    raters.time.time, before = (lambda: now[0]), raters.time.time
    try:
        workers = [guest(server) for _ in range(3)]
        pages = [agree(worker, arrive(worker, f"p{n}")) for n, worker in enumerate(workers[:2])]
        full = arrive(workers[2], "p2")
        assert full.status_code == 403
        assert "https://app.example.org/full" in full.text
        for _ in range(2):  # the first finishes, the second leaves
            pages[0] = send(server, workers[0], pages[0], "grounding survey")
        now[0] += 61 * 60
        assert "1 of 2" in agree(workers[2], arrive(workers[2], "p2")).text
        assert arrive(guest(server), "p3").status_code == 403
    finally:
        raters.time.time = before


def test_the_screened_out_get_their_own_way_back(server, tmp_path):  # noqa: F811
    line = {"images": ["0.png"], "answers": {"scene": "x"}, "role": "training"}
    gold = [{**line, "id": f"q{n}", "gold": {"scene": [n + 1, n + 1, n + 2]}} for n in range(4)]
    settings = (
        'qualification = {threshold = 0.5, items = 4}\n[platform]\nname = "mturk"\nscreened_out = "OUT-1"\n'
    )
    set_up(server.database, tmp_path, "confidence", settings, more=gold)
    worker = guest(server)
    page = worker.get("/studies/kind/join?workerId=W1&assignmentId=A1")
    hidden = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page.text))
    page = worker.post("/studies/kind/join", data=hidden)
    for _ in range(4):
        item = fields(page)["item"]
        with server.database.read() as connection:
            key = connection.execute(select(t.Item.key).where(t.Item.id == int(item))).scalar_one()
        page = worker.post(
            "/studies/kind/answers", data={"csrf": csrf(page), **fields(page), "scene": 5 - int(key[1])}
        )
    assert "differ too much" in page.text
    assert "OUT-1" in page.text


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ('[platform]\nname = "other"', "name the link"),
        ('[platform]\nparameters = ["a b"]', "letters"),
        ('[platform]\nperson = "WORKER"', "not among"),
        ("places = 0", "above 0"),
        ('language = "klingon"', "klingon"),
    ],
)
def test_wrong_settings_are_told(settings, why):
    with pytest.raises(UsageError, match=why):
        parse_study(f'kind = "description"\ntitle = "x"\n{settings}', "toml")


def test_adaptive_items_end_when_their_mean_is_sure(database):
    rule = "ratings_per_item = {until = 1.5, least = 2, most = 7}\n"
    stored = make_study(database, FREE + rule, main=2)
    people = [join_now(database, stored, f"P{n}") for n in range(8)]
    for n, rater in enumerate(people):
        while task := turn(database, stored, rater):
            with database.read() as connection:
                key = connection.execute(select(t.Item.key).where(t.Item.id == task.item)).scalar_one()
            rate(database, stored, rater, task.item, 4 if key == "main-0" else (1, 5)[n % 2])
    assert sorted(column(database, t.Item.people)) == [4, 7]
    assert column(database, t.Item.free) == [0, 0]
