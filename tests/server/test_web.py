"""The pages and the script's interface, as a browser uses them: one test per thing a person does."""

import io
import json
import re
import zipfile

import pytest
from fastapi.testclient import TestClient
from server_studies import drawing, make_study
from sqlalchemy import select

from sightline.people.descriptions import check_description
from sightline.people.study import parse_study
from sightline.server import exchange, setup
from sightline.server.app import create_app
from sightline.server.context import Server
from sightline.server.security.limits import LIMITS, Limit, Limits
from sightline.server.storage import raters, staff
from sightline.server.storage import schema as t
from sightline.server.storage.qualification import outlook
from sightline.server.storage.studies import find

FREE = "training = {tutorial = 0, probation = 0}\nchecks = {gold = 0.0, attention = 0.0}\n"
PASSWORD = "correct horse battery"


@pytest.fixture
def server(sqlite):
    with sqlite.write() as connection:
        staff.set_password(connection, "mod", PASSWORD)
    made = Server(sqlite, Limits({name: Limit(1000, 1000) for name in LIMITS}))
    yield made
    made.close()


@pytest.fixture
def browser(server):
    return TestClient(create_app(server), follow_redirects=True)


def csrf(page):
    found = re.search(r'(?:name="csrf" value|data-csrf)="([0-9a-f]{64})"', page.text)
    return found[1]


def join(browser, slug="captions", name="Ada", token=""):
    page = browser.get(f"/join/{token}" if token else f"/studies/{slug}/join")
    return browser.post(f"/studies/{slug}/join", data={"csrf": csrf(page), "name": name, "token": token})


def login(browser):
    page = browser.get("/staff/login")
    return browser.post("/staff/login", data={"csrf": csrf(page), "name": "mod", "password": PASSWORD})


def rate(browser, page_csrf, item, value, token, slug="captions"):
    body = {"item": item, "token": token, "answers": {"value": value}, "seconds": 1.5}
    return browser.post(f"/api/studies/{slug}/answers", json=body, headers={"x-csrf-token": page_csrf})


def test_a_visitor_joins_plays_disputes_and_a_moderator_accepts(server, browser):
    make_study(server.database, FREE + "ratings_per_item = 9\n", main=3)
    for n in range(3):
        other = TestClient(create_app(server))
        page = join(other, name=f"P{n}")
        task = other.get("/api/studies/captions/turn").json()["next"]
        while task:
            task = rate(other, csrf(page), task["item"], 5, f"token-{n}-{task['item']:020d}").json()["next"]
    page = join(browser)
    assert "How well does the caption fit" in page.text
    task = browser.get("/api/studies/captions/turn").json()["next"]
    assert browser.get(task["pictures"][0]).headers["content-type"] == "image/webp"
    told = rate(browser, csrf(page), task["item"], 1, "a" * 32).json()
    assert (told["feedback"]["points"], told["can_dispute"], told["feedback"]["counts"]) == (
        -1,
        True,
        [0, 0, 0, 0, 3],
    )
    again = rate(browser, csrf(page), task["item"], 1, "a" * 32).json()
    assert again["feedback"] == told["feedback"]
    record = browser.post(
        "/studies/captions/disputes",
        data={"csrf": csrf(page), "answer": told["answer"], "reason": "There is no dog in it."},
    )
    assert "dispute open" in record.text
    assert "Ada (you)" in browser.get("/studies/captions/leaderboard").text
    login(browser)
    page = browser.get("/staff/studies/captions/disputes")
    number = re.search(r"/disputes/(\d+)", page.text)[1]
    page = browser.post(
        f"/staff/studies/captions/disputes/{number}",
        data={"csrf": csrf(page), "verdict": "accepted", "reply": "You are right."},
    )
    assert "You are right." in page.text
    assert "dispute accepted" in browser.get("/studies/captions/me").text
    lines = browser.get("/staff/studies/captions/export?what=ratings&form=jsonl").text.splitlines()
    rows = [json.loads(line) for line in lines]
    assert len(rows) == 10
    assert [(row["value"], row["points"], row["returned"]) for row in rows if row["value"] == 1] == [
        (1, -1, 1)
    ]
    assert all("name" not in row for row in rows)
    assert "dispute accepted" in browser.get("/staff/audit").text


def test_the_staff_pages_show_charts_and_do_what_they_say(server, browser):
    make_study(server.database, FREE, main=3)
    page = join(browser, name="Ada")
    task = browser.get("/api/studies/captions/turn").json()["next"]
    rate(browser, csrf(page), task["item"], 4, "b" * 32)
    second = browser.get("/api/studies/captions/turn").json()["next"]
    headers = {"x-csrf-token": csrf(page)}
    skipped = browser.post(
        "/api/studies/captions/skips", json={"item": second["item"], "report": "black"}, headers=headers
    )
    assert skipped.json()["next"]["item"] != second["item"]
    home = login(browser)
    assert "Captions" in home.text
    overview = browser.get("/staff/studies/captions")
    assert overview.text.count("<svg") == 3
    assert "black" in browser.get("/staff/studies/captions/items").text
    page = browser.post(
        f"/staff/studies/captions/items/{second['item']}", data={"csrf": csrf(overview), "state": "broken"}
    )
    assert "Put it back" in page.text
    browser.post("/staff/studies/captions/state", data={"csrf": csrf(overview), "state": "paused"})
    assert "A short break" in TestClient_page(server, browser)
    browser.post("/staff/studies/captions/state", data={"csrf": csrf(overview), "state": "open"})
    browser.post("/staff/studies/captions/leaderboard", data={"csrf": csrf(overview)})
    assert browser.get("/studies/captions/leaderboard").status_code == 404
    link = browser.post("/staff/studies/captions/invitations", data={"csrf": csrf(overview), "uses": "once"})
    token = re.search(r"/join/([\w-]+)", link.text)[1]
    guest = TestClient(create_app(server))
    assert "Captions" in join(guest, token=token, name="Guest").text
    assert TestClient(create_app(server)).get(f"/join/{token}").status_code == 404
    with server.database.read() as connection:
        code = connection.execute(select(t.Rater.code).where(t.Rater.name == "Ada")).scalar_one()
    assert "Ada" in browser.get("/staff/studies/captions/raters").text
    asked = browser.post(f"/staff/studies/captions/raters/{code}/remove", data={"csrf": csrf(overview)})
    assert "Remove all data of Ada?" in asked.text
    with server.database.read() as connection:
        assert len(connection.execute(select(t.Answer.id)).all()) == 1
    sure = {"csrf": csrf(overview), "sure": "yes"}
    browser.post(f"/staff/studies/captions/raters/{code}/remove", data=sure)
    with server.database.read() as connection:
        assert connection.execute(select(t.Answer.id)).all() == []
        assert connection.execute(select(t.Item.people)).scalars().all() == [0, 0, 0]
        assert connection.execute(select(t.Rater.name).where(t.Rater.code == code)).scalar_one() == "removed"
    assert browser.get("/studies/captions").status_code == 401


def TestClient_page(server, browser):  # noqa: N802
    server.write_now(lambda c: c.execute(t.Lease.__table__.delete()))
    return browser.get("/studies/captions").text


def bundle(lines, pictures=("0.png", "1.png", "2.png"), name="items.jsonl"):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        packed.writestr(name, "\n".join(json.dumps(line) for line in lines))
        for number, picture in enumerate(pictures):
            packed.writestr(picture, drawing(number))
    return out.getvalue()


def upload(browser, settings, data):
    page = browser.get("/staff/studies/new/file")
    files = {"bundle": ("study.zip", data, "application/zip")}
    return browser.post(
        "/staff/studies/new/file", data={"csrf": csrf(page), "settings": settings}, files=files
    )


GOOD = {
    "scene": "in a ski resort",
    "action": "They are skiing.",
    "rationale": "They are on a family holiday.",
}


@pytest.mark.parametrize(
    ("settings", "lines", "answers", "told"),
    [
        (
            'kind = "description"\ntitle = "D"',
            [{"id": "d1", "images": ["0.png"], "text": ""}],
            GOOD,
            [("d1", axis, text) for axis, text in GOOD.items()],
        ),
        (
            'kind = "confidence"\ntitle = "C"',
            [
                {
                    "id": "c1",
                    "images": ["0.png"],
                    "text": "",
                    "answers": {"scene": "in a hall", "action": "He sits."},
                }
            ],
            {"scene": "4", "action": "2"},
            [("c1", "scene", 4), ("c1", "action", 2)],
        ),
        (
            'kind = "story survey"\ntitle = "S"',
            [
                {
                    "id": f"s{n}",
                    "images": ["0.png", "1.png"],
                    "sentences": ["One.", f"Two {n}."],
                    "system": f"sys{n}",
                }
                for n in range(2)
            ],
            {f"{n}.{c}": str(n + 3) for n in range(2) for c in ("grounding", "coherence", "no_repetition")}
            | {"best": "1"},
            [(f"s{n}", c, n + 3) for n in range(2) for c in ("grounding", "coherence", "no_repetition")]
            + [("s0", "best", 0), ("s1", "best", 1)],
        ),
        (
            'kind = "grounding survey"\ntitle = "G"',
            [{"id": "g1", "images": ["0.png", "1.png"], "sentences": ["One.", "Two."]}],
            {"value": "4"},
            [("g1", "grounding", 4)],
        ),
    ],
)
def test_every_kind_of_study_from_upload_to_export(server, browser, settings, lines, answers, told):
    login(browser)
    page = upload(browser, settings, bundle(lines))
    slug = re.search(r"/staff/studies/([\w-]+)/raters", page.text)[1]
    link = browser.post(f"/staff/studies/{slug}/invitations", data={"csrf": csrf(page), "uses": "study"})
    page = join(browser, slug, token=re.search(r"/join/([\w-]+)", link.text)[1])
    if "consent" in settings or "grounding" in settings:
        assert "I consent" in page.text
        page = browser.post(f"/studies/{slug}/consent", data={"csrf": csrf(page), "agrees": "yes"})
    assert "sys0" not in page.text  # sources stay hidden
    fields = dict(re.findall(r'name="(item|token)" value="([^"]+)"', page.text))
    incomplete = browser.post(
        f"/studies/{slug}/answers", data={"csrf": csrf(page), **fields, **dict([*answers.items()][:-1])}
    )
    assert incomplete.status_code == 400
    page = browser.post(
        f"/studies/{slug}/answers", data={"csrf": csrf(page), **fields, **answers, "seconds": "7.5"}
    )
    assert "All done" in page.text
    export = browser.get(f"/staff/studies/{slug}/export?what=ratings&form=jsonl").text
    rows = [json.loads(line) for line in export.splitlines()]
    assert [(row["item"], row["criterion"], row["value"]) for row in rows] == told
    for form in ("csv", "parquet", "jsonl"):
        assert browser.get(f"/staff/studies/{slug}/export?what=items&form={form}").status_code == 200


def test_a_description_is_checked_while_it_is_typed(server, browser):
    make_study(server.database, FREE)
    page = join(browser)
    given = {"scene": "outdoors", "action": "I think he sits.", "rationale": ""}
    reply = browser.post("/api/descriptions/check", json=given, headers={"x-csrf-token": csrf(page)})
    assert [row["rule"] for row in reply.json()["complaints"]] == [c.rule for c in check_description(given)]


def test_consent_refused_asks_nothing(server, browser):
    make_study(server.database, FREE + 'consent = "Only your answers are kept."\n')
    page = join(browser)
    assert "Only your answers are kept." in page.text
    page = browser.post("/studies/captions/consent", data={"csrf": csrf(page), "agrees": "no"})
    assert "You did not consent" in page.text
    assert browser.get("/api/studies/captions/turn").json()["next"] is None
    with server.database.read() as connection:
        assert connection.execute(select(t.Rater.name)).scalars().all() == [
            "declined"
        ]  # the name is not kept


def test_surveys_can_be_skipped_and_reported_without_script(server, browser, tmp_path):
    (tmp_path / "0.png").write_bytes(drawing(0))
    lines = [{"id": f"g{n}", "images": ["0.png"], "text": f"story {n}"} for n in range(3)]
    (tmp_path / "items.jsonl").write_text("\n".join(map(json.dumps, lines)))
    study = parse_study('kind = "grounding survey"\ntitle = "G"\nconsent = ""', "toml")
    with server.database.write() as connection:
        setup.store(connection, setup.prepare(study, tmp_path, slug="g"), public=True)
    page, seen = join(browser, "g"), []
    for report in ({}, {"report": "the picture is black"}):
        seen.append(re.search(r"story \d", page.text)[0])
        item = re.search(r'name="item" value="(\d+)"', page.text)[1]
        page = browser.post("/studies/g/skips", data={"csrf": csrf(page), "item": item, **report})
    assert re.search(r"story \d", page.text)[0] not in seen
    again = browser.post("/studies/g/skips", data={"csrf": csrf(page), "item": item})  # a second click
    assert re.search(r"story \d", again.text)[0] not in seen
    assert browser.post("/studies/g/skips", data={"csrf": "0" * 64, "item": item}).status_code == 403
    with server.database.read() as connection:
        kept = connection.execute(select(t.Skip.broken, t.Skip.reason).order_by(t.Skip.id)).all()
    assert kept == [(False, ""), (True, "the picture is black")]


def test_settings_may_be_yaml_too(server, browser):
    login(browser)
    lines = [{"id": "g1", "images": ["0.png"], "text": "One."}]
    settings = "# a survey\nkind: grounding survey\ntitle: 'Grounded: yes = no?'\nratings_per_item: 2\n"
    assert upload(browser, settings, bundle(lines)).status_code == 200
    with server.database.read() as connection:
        stored = connection.execute(select(t.Study.settings)).scalar_one()
    assert (stored["kind"], stored["ratings_per_item"]) == ("grounding survey", 2)


def test_a_moderator_sends_a_rater_back_to_training(server, browser):
    make_study(server.database, "training = {tutorial = 1, probation = 1}\n", main=3, training=4)
    join(browser)
    with server.database.write() as connection:
        connection.execute(t.Rater.__table__.update().values(phase="play"))
        code = connection.execute(select(t.Rater.code)).scalar_one()
    browser.get("/studies/captions")
    page = login(browser)
    done = browser.post(f"/staff/studies/captions/raters/{code}/retrain", data={"csrf": csrf(page)})
    assert "tutorial (2.)" in done.text
    assert "rater sent to training" in browser.get("/staff/audit").text


@pytest.mark.parametrize(("offset", "admitted"), [(0, True), (1, False)])
def test_the_qualification_round_admits_by_agreement(server, browser, tmp_path, offset, admitted):
    (tmp_path / "0.png").write_bytes(drawing(0))
    levels = [1, 5, 2, 4, 5, 1, 3, 5]
    lines = [
        {
            "id": f"q{n}",
            "images": ["0.png"],
            "text": "",
            "answers": {"scene": f"place {n}"},
            "role": "training",
            "gold": {"scene": [level, min(level + n % 2, 5), level]},
        }
        for n, level in enumerate(levels)
    ]
    lines.append({"id": "m", "images": ["0.png"], "text": "", "answers": {"scene": "a hall"}})
    (tmp_path / "items.jsonl").write_text("\n".join(map(json.dumps, lines)))
    study = parse_study(
        'kind = "confidence"\ntitle = "C"\nqualification = {threshold = 0.5, items = 8}', "toml"
    )
    prepared = setup.prepare(study, tmp_path, slug="conf")
    with server.database.write() as connection:
        setup.store(connection, prepared, public=True)
        told = outlook(connection, find(connection, "conf"))
    assert told is not None and told.startswith("With the consensus gate ")
    page = join(browser, "conf")
    for _ in levels:
        fields = dict(re.findall(r'name="(item|token)" value="([^"]+)"', page.text))
        place = int(re.search(r"place (\d+)", page.text)[1])
        level = levels[place] if not offset else 6 - levels[place]
        page = browser.post("/studies/conf/answers", data={"csrf": csrf(page), **fields, "scene": str(level)})
    assert ("a hall" in page.text) is admitted
    assert ("differ too much" in page.text) is not admitted


def test_an_assembled_study_hides_its_sources(server, tmp_path):
    for n in range(6):
        (tmp_path / f"{n}.png").write_bytes(drawing(n))
    for name in ("own", "sys"):
        rows = [
            {"id": f"{name}{n}", "images": [f"{n}.png"], "text": f"{name} {n}", "system": name}
            for n in range(6)
        ]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    text = 'kind = "rating game"\ntitle = "A"\n[assemble]\noriginals = "own.jsonl"\nsystems = ["sys.jsonl"]\n'
    prepared = setup.prepare(parse_study(text, "toml"), tmp_path, slug="assembled", scorer=lambda item: 3)
    with server.database.write() as connection:
        stored = setup.store(connection, prepared, public=True)
        raters.join(connection, stored, "Ada", None)
        found = exchange.export(connection, stored, "items", "jsonl").decode()
    assert {json.loads(line)["system"] for line in found.splitlines()} == {"original", "sys", "mismatched"}
    assert all("system" not in item.content and item.seed == 3 for item in prepared.items)
