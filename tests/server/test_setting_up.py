"""A study's life in the browser's own way: from its form to its end, and what may be changed meanwhile."""

import json
import re

import msgspec
import pytest
from server_studies import KINDS, answer_of, drawing
from sqlalchemy import func, select
from test_rater_life import content_of, fields, guest
from test_web import PASSWORD, browser, bundle, csrf, join, login, server  # noqa: F401

from sightline.people.settings import settings_of, toml
from sightline.people.study import parse_study
from sightline.server import study_form
from sightline.server.storage import schema as t
from sightline.server.storage import staff
from sightline.server.storage.studies import find

TABLES = {table.name: table for table in t.Base.metadata.sorted_tables}


def files_of(kind, name="items.jsonl", lines=None):
    """What is chosen in the form: a file of items, and its pictures."""
    rows = KINDS[kind][1] if lines is None else lines
    sent = [("files", (name, "\n".join(map(json.dumps, rows)).encode(), "application/x-ndjson"))]
    return sent + [("files", (f"{n}.png", drawing(n), "image/png")) for n in range(3)]


def form_of(page):
    """A form as a browser would send it back."""
    given = dict(re.findall(r'<input type="hidden" name="([\w-]+)" value="([^"]*)"', page.text))
    for name, value in re.findall(r'<input id="[\w-]+" name="([\w-]+)"[^>]*? value="([^"]*)"', page.text):
        given[name] = value
    return given


def send(browser, kind, files=(), **more):  # noqa: F811
    where = f"/staff/studies/new/{kind.replace(' ', '-')}"
    page = browser.get(where)
    given = {**form_of(page), "title": f"A {kind}", "act": "store", "consent": "", **more}
    if kind == "rating game":
        given |= {"tutorial": "0", "probation": "0"}
    return browser.post(where, data=given, files=list(files) or None)


def slug_of(page):
    return re.search(r"/staff/studies/([\w-]+)/raters", page.text)[1]


def counts(server):  # noqa: F811
    with server.database.read() as connection:
        return {
            name: connection.execute(select(func.count()).select_from(table)).scalar_one()
            for name, table in TABLES.items()
        }


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_from_its_form_to_an_answer(server, browser, kind):  # noqa: F811
    login(browser)
    page = send(browser, kind, files_of(kind), act="preview")
    assert "Nothing of it is kept." in page.text
    assert 'class="for-ears">You are</span> <b dir="auto">Preview</b>' in page.text
    page = send(browser, kind, files_of(kind), public="yes", ratings_per_item="4")
    assert page.status_code == 200, re.search(r'id="fault">(.*?)</p>', page.text)
    slug = slug_of(page)
    with server.database.read() as connection:
        stored = find(connection, slug)
    assert (stored.study.kind, stored.study.ratings_per_item, stored.public) == (kind, 4, True)
    visitor = guest(server)
    page = join(visitor, slug)
    given = fields(page) if kind != "rating game" else {**fields(page), "token": "a" * 32}
    said = answer_of(kind, 0, content_of(server, given["item"]))
    page = visitor.post(f"/studies/{slug}/answers", data={"csrf": csrf(page), **given, **said})
    assert page.status_code == 200
    assert counts(server)["answer"] == 1
    assert counts(server)["upload"] == 4  # the preview's form is still open


def test_chosen_files_survive_an_error(server, browser):  # noqa: F811
    login(browser)
    where = "/staff/studies/new/grounding-survey"
    page = browser.get(where)
    given = {**form_of(page), "title": "", "act": "store"}
    page = browser.post(where, data=given, files=files_of("grounding survey"))
    assert page.status_code == 400
    assert "title needs" in page.text
    assert "Your files are still here." in page.text
    assert ">items.jsonl<" in page.text
    assert "Pictures: 3" in page.text
    page = browser.post(where, data={**form_of(page), "title": "Now", "places": "x", "act": "store"})
    assert "no whole number" in page.text
    page = browser.post(where, data={**form_of(page), "title": "Now", "places": "", "act": "store"})
    assert slug_of(page).startswith("now-")


@pytest.mark.parametrize(
    ("kind", "files", "told"),
    [
        ("grounding survey", [], "choose the items"),
        ("grounding survey", files_of("grounding survey")[1:], "this kind needs their texts"),
        (
            "grounding survey",
            files_of("grounding survey", lines=[{"id": "a", "image": "no.png", "text": "x"}]),
            "items.jsonl:1: item &#39;a&#39;: the picture &#39;no.png&#39; is not among the chosen files",
        ),
        (
            "grounding survey",
            files_of("grounding survey", "a.jsonl") + files_of("error marking", "b.jsonl"),
            "choose one file of items; there are a.jsonl, b.jsonl",
        ),
        ("description", [("files", ("x.png", b"no picture", "image/png"))], "x.png: "),
        (
            "pairwise preference",
            files_of("error marking", lines=[{"id": "a", "image": "0.png", "text": "x"}]),
            "a preference needs two texts",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_with_the_files_is_told(browser, kind, files, told):  # noqa: F811
    login(browser)
    page = send(browser, kind, files)
    assert page.status_code == 400
    assert told in page.text
    assert "/tmp" not in page.text


def test_a_folder_a_zip_and_a_table_are_understood(server, browser):  # noqa: F811
    login(browser)
    pictures = [("folder", (f"walk/{n}.png", drawing(n), "image/png")) for n in range(3)]
    page = send(browser, "description", [*pictures, ("folder", ("walk/Thumbs.db", b"x", "x/x"))])
    with server.database.read() as connection:
        found = find(connection, slug_of(page))
        keys = select(t.Item.key).where(t.Item.study_id == found.id).order_by(t.Item.key)
        assert connection.execute(keys).scalars().all() == ["0", "1", "2"]
    packed = bundle([{"id": "g1", "images": ["0.png"], "text": "One."}])
    page = send(browser, "grounding survey", [("files", ("all.zip", packed, "application/zip"))])
    assert page.status_code == 200
    table = b"id,image,text,system,role,expert\na,0.png,One dog.,s,,\nb,C:\\pics\\1.png,Two.,s,gold,3\n"
    sent = [("files", ("my items.csv", table, "text/csv")), *pictures]
    page = send(browser, "grounding survey", sent)
    with server.database.read() as connection:
        found = find(connection, slug_of(page))
        query = select(t.Item.key, t.Item.role, t.Item.expert).where(t.Item.study_id == found.id)
        assert sorted(connection.execute(query).all()) == [("a", "main", None), ("b", "gold", 3)]


def test_a_preview_plays_and_leaves_no_trace(server, browser):  # noqa: F811
    login(browser)
    before = counts(server)
    page = send(browser, "grounding survey", files_of("grounding survey"), act="preview")
    assert "Nothing of it is kept." in page.text
    slug = re.search(r"/studies/(preview-\w+)/answers", page.text)[1]
    given = fields(page)
    page = browser.post(f"/studies/{slug}/answers", data={"csrf": csrf(page), **given, "value": "3"})
    assert page.status_code == 200
    assert slug not in browser.get("/staff").text
    assert slug not in browser.get("/").text
    assert guest(server).get(f"/studies/{slug}").status_code == 401
    page = browser.post(f"/staff/studies/previews/{slug}/end", data={"csrf": csrf(page)})
    assert "The preview has ended" in page.text
    after = counts(server)
    after["upload"] -= 4  # the form is still open: what was chosen in it is kept
    assert {name: n for name, n in after.items() if n != before[name]} == {"counter": 1}
    assert browser.get(f"/studies/{slug}").status_code == 404


def test_a_preview_of_a_running_study_touches_nothing_of_it(server, browser):  # noqa: F811
    login(browser)
    slug = slug_of(send(browser, "error marking", files_of("error marking"), public="yes"))
    join(guest(server), slug)
    before = counts(server)
    page = browser.post(f"/staff/studies/{slug}/preview", data={"csrf": csrf(browser.get("/staff"))})
    copy = re.search(r"/studies/(preview-\w+)/answers", page.text)[1]
    given = fields(page)
    browser.post(f"/studies/{copy}/answers", data={"csrf": csrf(page), **given, "errors": "none"})
    server.clock = lambda: 9e9  # long after: whoever comes next sweeps it away
    page = login(browser)
    with server.database.read() as connection:
        assert connection.execute(select(t.Study.slug)).scalars().all() == [slug]
    after = counts(server)
    del before["audit"], after["audit"], before["counter"], after["counter"]
    assert after == before
    # the number of the preview's player is nobody else's
    join(guest(server), slug, "Next")
    with server.database.read() as connection:
        assert sorted(connection.execute(select(t.Rater.id)).scalars()) == [1, 3]


def edited(browser, slug, **more):  # noqa: F811
    page = browser.get(f"/staff/studies/{slug}/edit")
    given = {**form_of(page), "consent": "", "act": "store", **more}
    return browser.post(f"/staff/studies/{slug}/edit", data=given)


def test_a_running_study_is_changed_but_not_what_was_answered(server, browser):  # noqa: F811
    login(browser)
    slug = slug_of(send(browser, "grounding survey", files_of("grounding survey"), public="yes"))
    page = edited(browser, slug, public="yes", scale="likert", title="Another")
    with server.database.read() as connection:
        assert find(connection, slug).study.levels.high == 5
        assert connection.execute(select(t.Item.counts)).scalars().first() == "0,0,0,0,0"
    visitor = guest(server)
    page = join(visitor, slug)
    visitor.post(f"/studies/{slug}/answers", data={"csrf": csrf(page), **fields(page), "value": "5"})
    refused = edited(browser, slug, public="yes", scale="")
    assert "cannot change; copy the study instead" in refused.text
    page = edited(browser, slug, public="yes", scale="likert", ratings_per_item="1", items_per_person="2")
    assert page.status_code == 200
    with server.database.read() as connection:
        rows = connection.execute(select(t.Item.people, t.Item.wanted, t.Item.free)).all()
    assert sorted(rows) == [(0, 1, 0), (0, 1, 1), (1, 1, 0)]  # answered, held by its rater, free
    edited(browser, slug, public="yes", scale="likert", ratings_per_item="3")
    with server.database.read() as connection:
        rows = connection.execute(select(t.Item.people, t.Item.wanted, t.Item.free)).all()
    assert sorted(rows) == [(0, 3, 2), (0, 3, 3), (1, 3, 2)]
    assert "study changed" in browser.get("/staff/audit?q=changed").text


def test_a_copy_has_the_items_and_nobody_in_it(server, browser):  # noqa: F811
    login(browser)
    slug = slug_of(send(browser, "story survey", files_of("story survey"), public="yes"))
    page = browser.post(f"/staff/studies/{slug}/copy", data={"csrf": csrf(browser.get("/staff"))})
    assert "A story survey (copy)" in page.text
    with server.database.read() as connection:
        states = connection.execute(select(t.Study.slug, t.Study.state).order_by(t.Study.id)).all()
        per_study = select(t.Item.study_id, func.count()).group_by(t.Item.study_id)
        assert {n for _, n in connection.execute(per_study)} == {2}
    assert [state for _, state in states] == ["open", "paused"]


def test_items_are_added_and_doubles_refused(server, browser):  # noqa: F811
    login(browser)
    slug = slug_of(send(browser, "grounding survey", files_of("grounding survey")))
    page = browser.get(f"/staff/studies/{slug}/more")
    refused = browser.post(
        f"/staff/studies/{slug}/more",
        data={**form_of(page), "act": "store"},
        files=files_of("grounding survey"),
    )
    assert "item &#39;g0&#39; is in the study already" in refused.text
    given = {**form_of(refused), "act": "store", "drop": "items.jsonl"}
    more = [{"id": "n1", "images": ["2.png"], "text": "New."}]
    page = browser.post(
        f"/staff/studies/{slug}/more", data=given, files=files_of("grounding survey", "items.jsonl", more)[:1]
    )
    assert page.status_code == 200
    with server.database.read() as connection:
        found = connection.execute(select(t.Item.key).order_by(t.Item.position)).scalars().all()
    assert found[3:] == ["n1"]


def test_a_study_is_closed_opened_again_and_deleted(server, browser):  # noqa: F811
    login(browser)
    empty = counts(server)
    slug = slug_of(send(browser, "grounding survey", files_of("grounding survey"), public="yes"))
    token = {"csrf": csrf(browser.get("/staff"))}
    visitor, late = guest(server), guest(server)
    page = join(visitor, slug)
    browser.post(f"/staff/studies/{slug}/state", data={**token, "state": "closed"})
    page = visitor.post(f"/studies/{slug}/answers", data={"csrf": csrf(page), **fields(page), "value": "3"})
    assert "This study is closed" in page.text
    assert counts(server)["answer"] == 1  # what was before them is taken
    assert "This study is closed" in late.get(f"/studies/{slug}/join").text
    browser.post(f"/staff/studies/{slug}/state", data={**token, "state": "open"})
    assert (
        "Grounding" in visitor.get(f"/studies/{slug}").text
        or visitor.get(f"/studies/{slug}").status_code == 200
    )
    asked = browser.post(f"/staff/studies/{slug}/delete", data=token)
    assert "Type the study&#39;s title" in asked.text or "Type the study's title" in asked.text
    wrong = browser.post(f"/staff/studies/{slug}/delete", data={**token, "title": "No"})
    assert "That is not the study" in wrong.text
    browser.post(f"/staff/studies/{slug}/delete", data={**token, "title": "A grounding survey"})
    after = counts(server)
    assert {name: n for name, n in after.items() if n != empty[name]}.keys() == {"audit", "counter"}
    assert visitor.get(f"/studies/{slug}").status_code == 404


def test_settings_leave_as_a_file_that_says_the_same(server, browser):  # noqa: F811
    login(browser)
    slug = slug_of(
        send(
            browser,
            "grounding survey",
            files_of("grounding survey"),
            scale="own",
            own_question='How "true"?',
            own_levels="2 | high | all of it\n1 | low | nothing\n",
            how_many="until",
            until="0,7",
            platform="prolific",
            completed="https://x.example/?cc=1",
            consent="Line one.\nLine two.",
        )
    )
    told = browser.get(f"/staff/studies/{slug}/settings.toml").text
    with server.database.read() as connection:
        study = find(connection, slug).study
    assert parse_study(told, "toml") == study
    assert study.ratings_per_item.until == 0.7
    assert [level.label for level in study.levels.levels] == ["low", "high"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_form_says_what_the_study_says(kind):
    settings, *_ = KINDS[kind]
    study = parse_study(
        f'kind = "{kind}"\ntitle = "T"\nlease_minutes = 3\n{settings}\n[texts]\nSkip = "Pass"', "toml"
    )
    again = study_form.study_from(kind, study_form.fields_of(study), study)
    assert again == study
    assert parse_study(toml(settings_of(study)), "toml") == study
    assert msgspec.to_builtins(again) == msgspec.to_builtins(study)


@pytest.mark.parametrize(
    "text",
    [
        """kind = "rating game"
hard = {more = 2, above = 1.2}
training = {tutorial = 3, probation = 5, opens = "points", points = 9}
checks = {gold = 0.2, attention = 0.0, window = 7, minimum = 2, floor = 0.3}
seeds = "rater"
leaderboard = false
first_points = 2
hold_minutes = 5""",
        """kind = "rating game"
ratings_per_item = {until = 0.8, most = 9, least = 3, spread = 0.5}""",
        """kind = "confidence"
hard = {more = 1}
qualification = {items = 5, threshold = 0.4, gate = "pooled"}
[platform]
name = "mturk"
person = "assignmentId"
full = "X" """,
        """kind = "story survey"
training = {tutorial = 2, probation = 0}
[criteria]
style = "Style: how \\"nice\\" it is."
""",
        """kind = "grounding survey"
consent = ""
[scale]
title = "Mine"
question = "How?"
levels = [{value = 0, label = "no"}, {value = 1, label = "yes", meaning = "all | of it"}]""",
    ],
)
def test_what_a_form_does_not_ask_stays_as_it_was(text):
    study = parse_study(f'title = "T"\n{text}', "toml")
    again = study_form.study_from(study.kind, study_form.fields_of(study), study)
    assert again == study
    assert parse_study(toml(settings_of(study)), "toml") == study


def test_files_are_sent_ahead_and_are_their_choosers_own(server, browser):  # noqa: F811
    login(browser)
    token = csrf(browser.get("/staff/studies/new/description"))
    sent = [("files", ("a/0.png", drawing(0), "image/png")), ("files", ("items.csv", b"id\n1\n", "text/csv"))]
    told = browser.post("/staff/studies/new/files/batch-1", data={"csrf": token}, files=sent)
    assert told.json() == {"tables": ["items.csv"], "pictures": 1}
    told = browser.post("/staff/studies/new/files/batch-1", data={"csrf": token, "drop": "*"})
    assert told.json() == {"tables": [], "pictures": 0}
    odd = [("files", ("0.png", b"x", "image/png"))]
    told = browser.post("/staff/studies/new/files/batch-1", data={"csrf": token}, files=odd)
    assert (told.status_code, told.json()["error"][:6]) == (400, "0.png:")
    sent = [("files", ("0.png", drawing(0), "image/png"))]
    stranger = guest(server).post("/staff/studies/new/files/batch-1", data={"csrf": token}, files=sent)
    assert "Staff" in stranger.text  # the way to the login
    assert counts(server)["upload"] == 0


def test_hostile_forms_change_nothing_and_are_told(server, browser):  # noqa: F811
    login(browser)
    script = "<script>alert(1)</script>"
    page = send(browser, "grounding survey", files_of("grounding survey"), title=script, public="yes")
    assert script not in page.text + browser.get("/").text + browser.get("/staff").text
    before = counts(server)
    for odd in (
        {"ratings_per_item": "99999"},
        {"ratings_per_item": "3; drop table"},
        {"how_many": "until", "until": "nan"},
        {"how_many": "until", "until": "-1"},
        {"scale": "nothing"},
        {"scale": "own", "own_question": "?", "own_levels": "1 | a\n3 | b"},
        {"scale": "own", "own_question": "", "own_levels": "1 | a\n2 | b"},
        {"language": "xx"},
        {"platform": "other", "parameters": ""},
        {"platform": "myspace"},
        {"texts": "No such text = mine"},
        {"title": "x" * 201},
        {"instructions": "x" * 20_001},
        {"gold": "80"},
        {"lease_minutes": "0"},
    ):
        page = send(browser, "grounding survey", files_of("grounding survey"), **odd)
        assert page.status_code == 400, odd
        told = re.search(r'id="fault">([^<]+)<', page.text)[1]
        assert len(told) < 250, told
        assert "Traceback" not in told
    after = counts(server)
    assert {name for name in after if after[name] != before[name]} == {"upload"}
    assert browser.get("/staff/studies/new/quiz").status_code == 404
    assert (
        browser.post("/staff/studies/new/quiz", data={"csrf": csrf(browser.get("/staff"))}).status_code == 404
    )


def test_files_stay_where_they_are_put_and_with_whom(server, browser):  # noqa: F811
    with server.database.write() as connection:
        staff.add(connection, "Vera", PASSWORD)
    login(browser)
    token = csrf(browser.get("/staff/studies/new/description"))
    names = (
        "../../etc/items.csv",
        "/etc/x.csv",
        "a\\..\\b.csv",
        ".hidden/x.csv",
        "__MACOSX/y.csv",
        "notes.txt",
    )
    sent = [("files", (name, b"id\n1\n", "text/csv")) for name in names]
    told = browser.post("/staff/studies/new/files/mine", data={"csrf": token}, files=sent)
    assert told.json()["tables"] == ["a/b.csv", "etc/items.csv", "etc/x.csv"]
    vera = guest(server)
    page = vera.get("/staff/login")
    vera.post("/staff/login", data={"csrf": csrf(page), "name": "Vera", "password": PASSWORD})
    own = csrf(vera.get("/staff"))
    told = vera.post("/staff/studies/new/files/mine", data={"csrf": own}, files=sent[:1])
    assert "somebody else" in told.json()["error"]
    vera.post("/staff/studies/new/files/mine", data={"csrf": own, "drop": "*"})
    assert counts(server)["upload"] == 3
