"""Staff: who may do what in a study, accounts and passwords, the audit log."""

import csv
import re

import pytest
from fastapi.testclient import TestClient
from server_studies import make_study
from sqlalchemy import select
from test_web import FREE, PASSWORD, browser, csrf, join, login, rate, server  # noqa: F401

from sightline.errors import UsageError
from sightline.server.app import create_app
from sightline.server.security.sessions import COOKIE
from sightline.server.storage import members, staff
from sightline.server.storage import schema as t

PLACES = ("", "/raters", "/answers", "/quality", "/disputes", "/items", "/settings.toml")
OWNERS = ("/edit", "/team", "/more")


def enter(server, name, password=PASSWORD):  # noqa: F811
    """A browser in which somebody of the staff is logged in."""
    made = TestClient(create_app(server), follow_redirects=True)
    page = made.get("/staff/login")
    made.post("/staff/login", data={"csrf": csrf(page), "name": name, "password": password})
    return made


@pytest.fixture
def lab(server):  # noqa: F811
    """A study with a team: Vera looks, Mo moderates, Olga owns it, Zoe is none of it."""
    stored = make_study(server.database, FREE, main=3)
    player = TestClient(create_app(server))
    page = join(player)
    task = player.get("/api/studies/captions/turn").json()["next"]
    rate(player, csrf(page), task["item"], 4, "a" * 32)
    with server.database.write() as connection:
        for name, role in (("Vera", "viewer"), ("Mo", "moderator"), ("Olga", "owner"), ("Zoe", None)):
            number = staff.add(connection, name, PASSWORD)
            if role:
                members.set_role(connection, stored.id, number, role)
        code = connection.execute(select(t.Rater.code)).scalar_one()
    return task["pictures"][0], code


def deeds(code):
    """What changes a study: the least role for it, where, and what is sent."""
    return [
        ("moderator", "/state", {"state": "paused"}),
        ("moderator", "/state", {"state": "open"}),
        ("moderator", "/leaderboard", {}),
        ("moderator", "/invitations", {"uses": "once"}),
        ("moderator", "/answers/1", {"verdict": "flagged", "remark": "odd"}),
        ("moderator", "/items/1", {"state": "open"}),
        ("owner", "/state", {"state": "closed"}),
        ("owner", f"/raters/{code}/remove", {}),
        ("owner", "/team", {"person": "2", "role": "viewer"}),
        ("owner", "/delete", {"title": "no"}),
        ("owner", "/edit", {"title": ""}),
        ("owner", "/more", {"batch": "b", "act": "store"}),
    ]


@pytest.mark.parametrize("name", ["Vera", "Mo", "Olga", "mod", "Zoe"])
def test_everybody_may_do_what_their_role_allows_and_no_more(server, lab, name):  # noqa: F811
    picture, code = lab
    role = {"Vera": 0, "Mo": 1, "Olga": 2, "mod": 2, "Zoe": -1}[name]
    who = enter(server, name)
    home = who.get("/staff")
    assert (">Captions<" in home.text) is (role >= 0)
    for place in PLACES:
        assert who.get(f"/staff/studies/captions{place}").status_code == (200 if role >= 0 else 404), place
    for place in OWNERS:
        expected = 404 if role < 0 else 200 if role == 2 else 403
        assert who.get(f"/staff/studies/captions{place}").status_code == expected, place
    assert who.get(picture).status_code == (200 if role >= 0 else 404)
    export = "/staff/studies/captions/export?what=ratings&form=csv"
    assert who.get(export).status_code == (200 if role >= 0 else 404)
    assert who.get(f"{export}&names=true").status_code == (404 if role < 0 else 200 if role else 403)
    for need, place, sent in deeds(code):
        done = who.post(f"/staff/studies/captions{place}", data={"csrf": csrf(home), **sent})
        if role < 0:
            assert done.status_code == 404, place
        elif role < ("viewer", "moderator", "owner").index(need):
            assert done.status_code == 403, place
        else:
            assert done.status_code in (200, 400), (place, done.text)
    with server.database.read() as connection:
        assert connection.execute(select(t.Rater.active)).scalar_one()  # removal was asked about, not done


def test_buttons_are_offered_to_those_who_may(server, lab):  # noqa: F811
    for name, there in (("Vera", 0), ("Mo", 1), ("Olga", 2)):
        who = enter(server, name)
        page = who.get("/staff/studies/captions").text + who.get("/staff/studies/captions/raters").text
        assert ("Make a link" in page) is (there >= 1)
        assert ("Back to training" in page) is (there >= 1)
        assert ("Delete the study" in page) is (there == 2)
        assert ("Remove all data of" in page) is (there == 2)


def test_a_study_keeps_an_owner_and_the_server_somebody_who_runs_it(server, lab):  # noqa: F811
    olga = enter(server, "Olga")
    page = olga.get("/staff/studies/captions/team")
    number = re.search(r'name="person" value="(\d+)">\s*<select[^>]*Olga', page.text)[1]
    token = {"csrf": csrf(page)}
    for role in ("viewer", "none"):
        page = olga.post("/staff/studies/captions/team", data={**token, "person": number, "role": role})
        assert "a study keeps an owner" in page.text
    with server.database.read() as connection:
        zoe = next(row["id"] for row in staff.everybody(connection) if row["name"] == "Zoe")
    olga.post("/staff/studies/captions/team", data={**token, "person": str(zoe), "role": "owner"})
    page = olga.post("/staff/studies/captions/team", data={**token, "person": number, "role": "none"})
    assert page.status_code == 404  # out of the team, Olga sees nothing of it
    assert enter(server, "Zoe").get("/staff/studies/captions/edit").status_code == 200
    admin = enter(server, "mod")
    page = admin.get("/staff/people")
    alone = admin.post("/staff/people/1/no-admin", data={"csrf": csrf(page)})
    assert "this is the last one who does" in alone.text
    assert "this is your own account" in admin.post("/staff/people/1/remove", data={"csrf": csrf(page)}).text
    assert enter(server, "Zoe").get("/staff/people").status_code == 403


def test_accounts_are_made_once_and_their_passwords_shown_once(server):  # noqa: F811
    admin = enter(server, "mod")
    token = {"csrf": csrf(admin.get("/staff/people"))}
    made = admin.post("/staff/people", data={**token, "name": " New  One "})
    password = re.search(r'id="password">([^<]+)<', made.text)[1]
    assert password not in admin.get("/staff/people").text
    for again in ("New One", "new one", "NEW ONE"):
        told = admin.post("/staff/people", data={**token, "name": again})
        assert "there is somebody of this name already" in told.text
    new = enter(server, "New One", password)
    assert new.get("/staff").status_code == 200
    page = new.get("/staff/account")
    wrong = {"csrf": csrf(page), "old": "no", "new": "another password", "again": "another password"}
    assert "the old password is wrong" in new.post("/staff/account", data=wrong).text
    differ = {**wrong, "old": password, "again": "a third password"}
    assert "the two new passwords differ" in new.post("/staff/account", data=differ).text
    other = enter(server, "New One", password)
    done = new.post("/staff/account", data={**wrong, "old": password})
    assert "Your password is changed" in done.text
    assert new.get("/staff", follow_redirects=False).status_code == 200
    assert other.get("/staff", follow_redirects=False).status_code == 303  # logged out elsewhere
    with server.database.read() as connection:
        (number,) = [row["id"] for row in staff.everybody(connection) if row["name"] == "New One"]
    told = admin.post(f"/staff/people/{number}/password", data=token)
    assert enter(server, "New One", re.search(r'id="password">([^<]+)<', told.text)[1]).get("/staff")
    admin.post(f"/staff/people/{number}/remove", data=token)
    assert new.get("/staff", follow_redirects=False).status_code == 303


def test_a_session_is_renewed_at_log_in_and_out(server):  # noqa: F811
    visitor = TestClient(create_app(server), follow_redirects=True)
    page = visitor.get("/staff/login")
    before, held = csrf(page), visitor.cookies[COOKIE]
    visitor.post("/staff/login", data={"csrf": before, "name": "mod", "password": PASSWORD})
    home = visitor.get("/staff")
    assert csrf(home) != before
    refused = visitor.post("/staff/people", data={"csrf": before, "name": "X"})
    assert refused.status_code == 403
    stranger = TestClient(create_app(server), cookies={COOKIE: held})
    assert stranger.get("/staff", follow_redirects=False).status_code == 303
    inside = visitor.cookies[COOKIE]
    visitor.post("/staff/logout", data={"csrf": csrf(home)})
    again = TestClient(create_app(server), cookies={COOKIE: inside})
    assert again.get("/staff", follow_redirects=False).status_code == 303


def test_the_audit_log_is_searched_and_exported(server, lab):  # noqa: F811
    olga = enter(server, "Olga")
    token = {"csrf": csrf(olga.get("/staff"))}
    olga.post("/staff/studies/captions/state", data={**token, "state": "paused"})
    with server.database.write() as connection:
        staff.note(connection, "mod", "study added", "another", "100 % _secret_")
        with pytest.raises(UsageError):
            staff.add(connection, "", PASSWORD)
    own = olga.get("/staff/audit").text
    assert "study paused" in own
    assert "secret" not in own
    admin = enter(server, "mod")
    found = admin.get("/staff/audit?q=olga+paused").text
    assert "study paused" in found
    assert "secret" not in found
    assert "secret" in admin.get("/staff/audit", params={"q": "100 % _sec"}).text
    assert "Nothing here." in admin.get("/staff/audit?q=%25&until=2001-01-01").text
    assert "study paused" in admin.get("/staff/audit?since=2001-01-01").text
    assert admin.get("/staff/audit?since=yesterday").status_code == 422
    sent = admin.get("/staff/audit?q=paused&form=csv")
    rows = list(csv.DictReader(sent.text.lstrip("\ufeff").splitlines()))
    assert [(row["staff"], row["action"], row["subject"]) for row in rows] == [
        ("Olga", "study paused", "captions")
    ]
    assert "audit log exported" in admin.get("/staff/audit").text
