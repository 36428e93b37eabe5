"""A rater's way through a study: who sits there, what is told and kept, in every kind."""

import json
import re
import threading

import pytest
from fastapi.testclient import TestClient
from server_studies import KINDS, answer_of, drawing, make_study, set_up
from sqlalchemy import select, update
from test_web import FREE, browser, csrf, join, login, rate, server, upload  # noqa: F401

from sightline.people.study import parse_study
from sightline.server import setup
from sightline.server.app import create_app
from sightline.server.context import Server
from sightline.server.storage import answers, assignment, raters
from sightline.server.storage import schema as t
from sightline.server.storage.answers import Submission


def guest(server):  # noqa: F811
    return TestClient(create_app(server), follow_redirects=True)


def fields(page):
    return dict(re.findall(r'name="(item|token)" value="([^"]+)"', page.text))


def content_of(server, item):  # noqa: F811
    with server.database.read() as connection:
        return connection.execute(select(t.Item.content).where(t.Item.id == int(item))).scalar_one()


def send(server, visitor, page, kind, person=0, **more):  # noqa: F811
    given = fields(page)
    answer = {**answer_of(kind, person, content_of(server, given["item"])), **more}
    return visitor.post("/studies/kind/answers", data={"csrf": csrf(page), **given, **answer})


@pytest.mark.parametrize("kind", KINDS)
def test_staff_pages_and_records_of_every_kind(server, browser, tmp_path, kind):  # noqa: F811
    set_up(server.database, tmp_path, kind)
    for person in range(2):
        visitor = guest(server)
        page = join(visitor, "kind", f"P{person}")
        while "All done" not in page.text:
            page = send(server, visitor, page, kind, person)
            assert page.status_code == 200
        record = visitor.get("/studies/kind/me").text
        for said in answer_of(kind, person, {"stories": [1, 2]}).values():
            shown = {"tie": "neither", "none": "nothing", "1 2": "dog., Two"}.get(said, said)
            assert shown in record or kind in ("pairwise preference", "story survey")
        assert f"P{person}" in record
    login(browser)
    for where in ("", "/raters", "/answers", "/quality", "/items", "/disputes"):
        page = browser.get(f"/staff/studies/kind{where}")
        assert page.status_code == 200, where
    for what in ("items", "ratings"):
        assert browser.get(f"/staff/studies/kind/export?what={what}&form=jsonl").status_code == 200


def test_gold_and_role_belong_together_and_errors_name_the_users_file(browser):  # noqa: F811
    login(browser)
    settings = 'kind = "confidence"\ntitle = "C"\nqualification = {threshold = 0.5, items = 2}\n'
    line = {"id": "q", "images": ["0.png"], "answers": {"scene": "here"}}
    for odd, said in (
        ({"gold": {"scene": [4, 5]}}, "items.jsonl:2: item &#39;q1&#39; has &#39;gold&#39;"),
        ({"role": "training"}, "items.jsonl:2: item &#39;q1&#39; is a training item"),
        ({"role": "teacher"}, "items.jsonl:2: item &#39;q1&#39;: role"),
    ):
        from test_web import bundle

        page = upload(browser, settings, bundle([line, {**line, "id": "q1", **odd}]))
        fault = re.search(r'class="fault"[^>]*>(.*?)</p>', page.text)[1]
        assert said in fault
        assert "/tmp" not in fault
        assert "sightline-" not in fault


def test_who_sits_there_is_asked_and_told(server, browser):  # noqa: F811
    stored = make_study(server.database, FREE, main=4)
    with server.database.write() as connection:
        link = raters.invite(connection, stored.id, None)
    page = join(browser, name="Ada")
    assert ">Ada</b>" in page.text
    task = browser.get("/api/studies/captions/turn").json()["next"]
    asked = browser.get(f"/join/{link}")
    assert "I am Ada: go on" in asked.text
    given = dict(re.findall(r'name="(csrf|nonce|token|instead)" value="([^"]*)"', asked.text))
    assert given["instead"] == "yes"
    other = browser.post("/studies/captions/join", data={**given, "name": "Ben"})
    assert ">Ben</b>" in other.text
    # Ada's window is still open: what is sent from there is not taken as Ben's
    assert rate(browser, csrf(page), task["item"], 5, "a" * 32).status_code == 403
    with server.database.read() as connection:
        assert connection.execute(select(t.Answer.id)).all() == []
        assert connection.execute(select(t.Rater.name).order_by(t.Rater.id)).scalars().all() == ["Ada", "Ben"]
    left = browser.post("/studies/captions/leave", data={"csrf": csrf(other)})
    assert "You are logged out here" in left.text
    assert browser.get("/api/studies/captions/turn").status_code == 401


def test_a_code_goes_on_at_another_device(server, browser):  # noqa: F811
    make_study(server.database, FREE, main=4)
    page = join(browser, name="Ada")
    task = browser.get("/api/studies/captions/turn").json()["next"]
    rate(browser, csrf(page), task["item"], 4, "a" * 32)
    code = re.search(r'class="code big">([^<]+)<', browser.get("/studies/captions/me").text)[1]
    phone = guest(server)
    asked = phone.get(f"/resume/{code}")
    assert "I am Ada: go on" in asked.text
    phone.post("/resume", data={"csrf": csrf(asked), "code": code.lower().replace("0", "o")})
    assert phone.get("/api/studies/captions/turn").json()["standing"]["rated"] == 1
    for wrong in (code[:-1] + ("A" if code[-1] != "A" else "B"), "1", "", "9-AAAAA-AAAAA", "²-AAAAA-AAAAA"):
        assert guest(server).post("/resume", data={"csrf": csrf(asked), "code": wrong}).status_code in (
            403,
            404,
        )
        assert guest(server).get(f"/resume/{wrong or 'x'}").status_code == 404


def test_two_clicks_on_begin_make_one_rater(server, browser):  # noqa: F811
    make_study(server.database, FREE)
    page = browser.get("/studies/captions/join")
    given = dict(re.findall(r'name="(csrf|nonce|token)" value="([^"]*)"', page.text)) | {"name": "Ada"}
    cookie = dict(browser.cookies)

    def click():
        visitor = TestClient(browser.app, cookies=cookie, follow_redirects=False)
        assert visitor.post("/studies/captions/join", data=given).status_code == 303

    clicks = [threading.Thread(target=click) for _ in range(4)]
    for thread in clicks:
        thread.start()
    for thread in clicks:
        thread.join()
    with server.database.read() as connection:
        assert len(connection.execute(select(t.Rater.id)).all()) == 1


def test_a_room_of_a_hundred_joins_and_guessing_is_slowed(sqlite):
    made = Server(sqlite)  # with the limits it is run with
    make_study(sqlite, FREE, main=200)
    app = create_app(made)
    try:
        for n in range(100):
            page = join(TestClient(app), name=f"P{n}")
            assert page.status_code == 200
        with sqlite.read() as connection:
            assert len(connection.execute(select(t.Rater.id)).all()) == 100
        stranger = TestClient(app)
        replies = [stranger.get(f"/join/guess-{n}").status_code for n in range(40)]
        assert replies[:30] == [404] * 30
        assert set(replies[32:]) == {429}
    finally:
        made.close()


def test_the_clients_address_comes_from_a_trusted_proxy_alone(sqlite):
    seen = []
    for trusted, sent in ((("testclient",), "9.9.9.9, 10.0.0.1"), (("10.0.0.0/8",), "9.9.9.9")):
        made = Server(sqlite, trusted_proxies=trusted)
        made.limits.left = lambda kind, key: seen.append(key) or True
        TestClient(create_app(made)).get("/join/x", headers={"x-forwarded-for": sent})
        made.close()
    assert seen == ["10.0.0.1", "testclient"]


def test_what_others_hold_is_not_called_done(server, browser):  # noqa: F811
    make_study(server.database, FREE + "ratings_per_item = 1\n", main=1)
    first = guest(server)
    join(first, name="First")
    page = join(browser, name="Second")
    assert "Nothing left for you just now" in page.text
    assert "about 10 min" in page.text
    assert 'http-equiv="refresh"' in page.text


def test_a_broken_rule_is_told_and_what_was_typed_stays(server, browser, tmp_path):  # noqa: F811
    set_up(server.database, tmp_path, "description")
    page = join(browser, "kind")
    told = send(server, browser, page, "description", action="I think they are skiing.")
    assert told.status_code == 400
    assert "Leave out &#34;I think&#34;" in told.text
    assert "I think they are skiing.</textarea>" in told.text
    assert "They are on a holiday.</textarea>" in told.text
    assert fields(told)["item"] == fields(page)["item"]
    set_up(server.database, tmp_path, "description", "rules = false\n", "free")
    page = join(browser, "free")
    given = {"scene": "x", "action": "I think so or not", "rationale": "dunno"}
    sent = browser.post("/studies/free/answers", data={"csrf": csrf(page), **fields(page), **given})
    assert sent.status_code == 200


def test_the_last_answer_can_be_taken_back(server, browser, tmp_path):  # noqa: F811
    set_up(server.database, tmp_path, "grounding survey")
    page = join(browser, "kind")
    assert "Take back" not in page.text
    item = fields(page)["item"]
    after = send(server, browser, page, "grounding survey")
    assert fields(after)["item"] != item
    back = browser.post("/studies/kind/back", data={"csrf": csrf(after)})
    assert fields(back)["item"] == item
    assert re.search(r'value="1"[^>]*checked', back.text)
    assert "is taken back" in back.text
    with server.database.read() as connection:
        assert connection.execute(select(t.Answer.id)).all() == []
        places = connection.execute(select(t.Item.id, t.Item.people, t.Item.free)).all()
        assert sorted(places) == [
            (1, 0, 3 - (int(item) == 1)),
            (2, 0, 3 - (int(item) == 2)),
            (3, 0, 3 - (int(item) == 3)),
        ]
    assert browser.post("/studies/kind/back", data={"csrf": csrf(back)}).status_code == 400
    page = send(server, browser, back, "grounding survey", 1)
    with server.database.read() as connection:
        assert connection.execute(select(t.Answer.value)).scalars().all() == [4]
        assert connection.execute(select(t.Rater.rated)).scalar_one() == 1


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "rating game"])
def test_what_was_said_stands_in_the_form_again(server, browser, tmp_path, kind):  # noqa: F811
    """Taken back in each kind: the same item, filled in as it was sent."""
    set_up(server.database, tmp_path, kind, 'consent = ""\n' if kind == "grounding survey" else "")
    page = join(browser, "kind")
    item = fields(page)["item"]
    after = send(server, browser, page, kind)
    with server.database.read() as connection:
        row = connection.execute(select(t.Answer.answers, t.Answer.value)).one()
    back = browser.post("/studies/kind/back", data={"csrf": csrf(after)})
    assert fields(back)["item"] == item
    for name, kept in (row.answers or {"value": row.value}).items():
        given = " ".join(map(str, kept)) if isinstance(kept, list) else kept
        choice = re.search(
            rf'<input[^>]*name="{re.escape(name)}"[^>]*value="{re.escape(str(given))}"[^>]*>', back.text
        )
        typed = re.search(rf'name="{re.escape(name)}"[^>]*>{re.escape(str(given))}</textarea>', back.text)
        assert typed or (choice and ("checked" in choice[0] or 'type="hidden"' in choice[0])), (name, given)


def test_the_game_and_training_cannot_be_taken_back(server, browser):  # noqa: F811
    make_study(server.database, FREE, main=3)
    page = join(browser)
    task = browser.get("/api/studies/captions/turn").json()["next"]
    rate(browser, csrf(page), task["item"], 4, "a" * 32)
    assert browser.post("/studies/captions/back", data={"csrf": csrf(page)}).status_code == 400


def play_training(server, stored, rater, right):  # noqa: F811
    """One round; the items of each stage with what was told, and the notice at its end."""
    told = []
    for _ in range(stored.study.lessons.tutorial + stored.study.lessons.probation):
        with server.database.write() as connection:
            row = answers.rater_row(connection, rater, stored.id)
            task = assignment.current(connection, stored, row, 0.0)
            expert = connection.execute(select(t.Item.expert).where(t.Item.id == task.item)).scalar_one()
            level = expert if right else 1 + expert % 5
            sent = Submission(task.item, f"{len(told)}-{rater}-{row.round}", {"value": level}, 1.0)
            outcome = answers.submit(connection, stored, rater, sent, 0.0)
            again = answers.submit(connection, stored, rater, sent, 0.0)
        assert (again.replayed, again.feedback) == (True, outcome.feedback)
        told.append((row.phase, task.item, outcome.feedback is not None))
    return told, outcome


@pytest.mark.parametrize(
    ("items", "told_in"), [(24, [True, False, False]), (36, [True, True, False]), (12, [False] * 3)]
)
def test_training_never_tells_an_answer_that_is_asked_again(server, items, told_in):  # noqa: F811
    settings = "training = {tutorial = 4, probation = 8, accuracy = 0.5}\n"
    stored = make_study(server.database, settings, training=items)
    with server.database.write() as connection:
        rater = raters.join(connection, stored, "Ada", None)
    known, rounds = set(), []
    for told in told_in:
        played, outcome = play_training(server, stored, rater, right=False)
        asked = {item for phase, item, _ in played if phase == "probation"}
        assert not asked & known
        assert {heard for phase, _, heard in played if phase == "probation"} == {told}
        known |= {item for _, item, heard in played if heard}
        rounds.append(asked)
        assert outcome.event == "failed"
        assert outcome.notice["right"] == 0
        assert (outcome.notice["done"], outcome.notice["needed"]) == (8, 0.5)
    if items >= 24:
        assert not rounds[0] & rounds[1]  # other items, as long as there are any
    _, outcome = play_training(server, stored, rater, right=True)
    assert outcome.event == "passed"


def test_score_and_threshold_are_told(server, browser):  # noqa: F811
    make_study(server.database, "training = {tutorial = 0, probation = 2, accuracy = 0.5}\n", training=8)
    page = join(browser)
    for n in range(2):
        task = browser.get("/api/studies/captions/turn").json()["next"]
        with server.database.read() as connection:
            expert = connection.execute(select(t.Item.expert).where(t.Item.id == task["item"])).scalar_one()
        told = rate(browser, csrf(page), task["item"], 1 + expert % 5, f"{n}" * 32).json()
    assert "You had 0 of 2 right. 1 are needed." in told["notice"]
    assert "You had 0 of 2 right. 1 are needed." in browser.get("/studies/captions").text


def test_anothers_token_is_409_also_for_ones_own_item(server, browser):  # noqa: F811
    make_study(server.database, FREE, main=4)
    other, token = guest(server), "a" * 32
    for visitor, status in ((other, 200), (browser, 409)):
        page = join(visitor)
        task = visitor.get("/api/studies/captions/turn").json()["next"]
        assert rate(visitor, csrf(page), task["item"], 3, token).status_code == status
    assert rate(browser, csrf(page), task["item"], 3, "b" * 32).status_code == 200


def test_a_model_is_never_called_others_and_skip_is_offered_where_it_works(server, browser):  # noqa: F811
    make_study(
        server.database, "training = {tutorial = 1, probation = 0}\nchecks = {gold = 0.0}\n", training=1
    )
    with server.database.write() as connection:
        connection.execute(update(t.Item).where(t.Item.role == "main").values(seed=5))
    page = join(browser)
    assert re.search(r'id="pass" hidden', page.text)
    task = browser.get("/api/studies/captions/turn").json()["next"]
    rate(browser, csrf(page), task["item"], 3, "t" * 32)
    page = browser.get("/studies/captions")
    assert not re.search(r'id="pass" hidden', page.text)
    task = browser.get("/api/studies/captions/turn").json()["next"]
    told = rate(browser, csrf(page), task["item"], 3, "m" * 32).json()["feedback"]
    assert told["seeds"] == 2
    assert "others" not in told["why"]
    assert "a model&#39;s" in told["why"] or "a model's" in told["why"]
    record = browser.get("/studies/captions/me").text
    assert "first estimate 5" in record
    assert "others 5" not in record
    assert 'class="earned none"' in record  # two levels off is not green, whatever it earned


def test_a_late_form_is_told_with_what_was_typed(server, browser, tmp_path):  # noqa: F811
    set_up(server.database, tmp_path, "description")
    page = join(browser, "kind")
    send(server, browser, page, "description")
    again = browser.post(
        "/studies/kind/answers",
        data={
            "csrf": csrf(page),
            "item": fields(page)["item"],
            "token": "z" * 32,
            **answer_of("description", 1, {}),
        },
    )
    assert again.status_code == 409
    assert "They like the snow." in again.text


def test_too_few_training_items_are_told_at_set_up(tmp_path):
    (tmp_path / "0.png").write_bytes(drawing(0))
    rows = [{"id": "m", "images": ["0.png"], "text": "main"}]
    rows += [
        {"id": f"t{n}", "images": ["0.png"], "text": f"{n}", "role": "training", "expert": 2}
        for n in range(12)
    ]
    (tmp_path / "items.jsonl").write_text("\n".join(map(json.dumps, rows)))
    settings = 'kind = "rating game"\ntitle = "x"\ntraining = {tutorial = 4, probation = 8}'
    prepared = setup.prepare(parse_study(settings, "toml"), tmp_path)
    assert ["repeated training would need 24" in note for note in prepared.notes] == [True]
