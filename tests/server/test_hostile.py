"""Hostile visitors: nothing leaks, nothing breaks."""

import io
import json
import time
import zipfile

import pytest
import schemathesis
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from PIL import Image
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import status_code_conformance
from server_studies import drawing, make_study
from sqlalchemy import select, update
from test_web import FREE, PASSWORD, browser, bundle, csrf, join, login, rate, server, upload  # noqa: F401

from sightline.server.app import create_app
from sightline.server.context import Server
from sightline.server.security.limits import LIMITS, Limit, Limits
from sightline.server.security.sessions import COOKIE, LIFETIME, Session, Sessions
from sightline.server.storage import schema as t
from sightline.server.storage import staff

SCRIPT = "<script>alert(1)</script>"


def test_forged_and_damaged_cookies_are_strangers(server, browser):  # noqa: F811
    make_study(server.database, FREE)
    join(browser)
    good = browser.cookies[COOKIE]
    forged = Sessions("another key").write(Session("x" * 32, {"captions": 1}, (1, 0, 9e12)))
    for cookie in (forged, good[:-2] + "xx", good.replace(".", ""), "=;..", "a" * 5000):
        stranger = TestClient(create_app(server), cookies={COOKIE: cookie})
        assert stranger.get("/api/studies/captions/turn").status_code == 401
        assert stranger.get("/staff", follow_redirects=False).status_code == 303


def test_a_remembered_cookie_still_grows_old_and_is_nobody_elses(monkeypatch):
    sessions = Sessions("a key")
    cookie = sessions.write(Session("x" * 32, {"captions": 1}))
    sessions.read(cookie).raters["other"] = 2
    assert sessions.read(cookie).raters == {"captions": 1}
    later = time.time() + LIFETIME + 60
    monkeypatch.setattr("sightline.server.security.sessions.time.time", lambda: later)
    assert sessions.read(cookie).fresh


@pytest.mark.parametrize("token", [None, "", "0" * 64, "é", "x" * 10_000])
def test_forged_csrf_tokens_change_nothing(server, browser, token):  # noqa: F811
    make_study(server.database, FREE)
    page = join(browser)
    item = browser.get("/api/studies/captions/turn").json()["next"]["item"]
    headers = {} if token is None else {"x-csrf-token": token.encode()}
    body = {"item": item, "token": "t" * 32, "answers": {"value": 3}, "seconds": 1}
    assert browser.post("/api/studies/captions/answers", json=body, headers=headers).status_code == 403
    fields = {"item": str(item), "token": "t" * 32, "value": "3", "csrf": token or ""}
    assert browser.post("/studies/captions/answers", data=fields).status_code == 403
    foreign = {"x-csrf-token": csrf(page), "origin": "https://evil.example"}
    assert browser.post("/api/studies/captions/answers", json=body, headers=foreign).status_code == 403
    login(browser)
    assert (
        browser.post(
            "/staff/studies/captions/state", data={"state": "paused", "csrf": token or ""}
        ).status_code
        == 403
    )
    with server.database.read() as connection:
        assert connection.execute(select(t.Answer.id)).all() == []
        assert connection.execute(select(t.Study.state)).scalar_one() == "open"


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/app.py",
        "/static/....//app.py",
        "/static/%2fetc%2fpasswd",
        "/pictures/captions/..%2f..%2fetc%2fpasswd.webp",
        "/pictures/..%2f/x.webp",
        "/pictures/captions/%00.webp",
        "/studies/%2e%2e%2fstaff",
        "/join/..%2f..%2f",
        "//etc/passwd",
    ],
)
def test_path_escapes_find_nothing(server, browser, path):  # noqa: F811
    make_study(server.database, FREE)
    join(browser)
    reply = browser.get(path)
    assert reply.status_code in (401, 404, 405)
    assert "import" not in reply.text
    assert "root:" not in reply.text


def test_another_studys_items_pictures_and_disputes_are_out_of_reach(server, browser):  # noqa: F811
    make_study(server.database, FREE, slug="mine")
    make_study(server.database, FREE, slug="other")
    page = join(browser, "mine")
    browser.get("/api/studies/mine/turn")
    with server.database.read() as connection:
        other = connection.execute(select(t.Study.id).where(t.Study.slug == "other")).scalar_one()
        theirs = connection.execute(select(t.Item.id).where(t.Item.study_id == other)).scalars().all()
        sha = connection.execute(select(t.Picture.sha).where(t.Picture.study_id == other)).scalars().first()
    assert rate(browser, csrf(page), theirs[0], 3, "x" * 32, "mine").status_code == 409
    assert rate(browser, csrf(page), theirs[0], 3, "x" * 32, "other").status_code == 401
    assert browser.get(f"/pictures/other/{sha}.webp").status_code == 404
    assert (
        browser.get(f"/pictures/mine/{sha}.webp").status_code == 200
    )  # the same drawing, as this study's own
    with server.database.write() as connection:
        first = select(t.Picture.id).where(t.Picture.study_id == other).limit(1).scalar_subquery()
        connection.execute(update(t.Picture).where(t.Picture.id == first).values(sha="f" * 32))
    assert browser.get(f"/pictures/mine/{'f' * 32}.webp").status_code == 404
    stranger = TestClient(create_app(server))
    assert stranger.get(f"/pictures/mine/{sha}.webp").status_code == 404
    dispute = {"csrf": csrf(page), "answer": 1, "reason": "because I say so"}
    assert browser.post("/studies/mine/disputes", data=dispute).status_code == 400


def test_script_in_captions_names_and_reasons_stays_text(server, browser):  # noqa: F811
    make_study(server.database, FREE + f"title = '{SCRIPT}'\n".replace("title", "instructions"))
    with server.database.write() as connection:
        content = {"text": SCRIPT, "pictures": []}
        connection.execute(update(t.Item).values(content=content, key=SCRIPT + t.Item.key))
    page = join(browser, name=SCRIPT)
    texts = [page.text, browser.get("/").text]
    task = browser.get("/api/studies/captions/turn").json()["next"]
    rate(browser, csrf(page), task["item"], 3, "s" * 32)
    report = {"item": browser.get("/api/studies/captions/turn").json()["next"]["item"], "report": SCRIPT}
    browser.post("/api/studies/captions/skips", json=report, headers={"x-csrf-token": csrf(page)})
    texts += [browser.get(f"/studies/captions/{name}").text for name in ("me", "leaderboard")]
    login(browser)
    texts += [
        browser.get(f"/staff/studies/captions{name}").text for name in ("", "/raters", "/items", "/disputes")
    ]
    assert any("&lt;script&gt;" in text for text in texts)
    assert not any(SCRIPT in text for text in texts)


def test_every_answer_carries_the_policy_and_no_page_needs_inline_script(server, browser):  # noqa: F811
    make_study(server.database, FREE)
    join(browser)
    login(browser)
    for path in (
        "/",
        "/studies/captions",
        "/studies/captions/me",
        "/staff/studies/captions",
        "/nothing",
        "/api/x",
    ):
        reply = browser.get(path)
        policy = reply.headers["content-security-policy"]
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert " style=" not in reply.text
        assert " onclick=" not in reply.text
        assert all("src=" in part.split(">")[0] for part in reply.text.split("<script")[1:])
    cookie = browser.get("/staff/login").request.headers["cookie"]
    assert PASSWORD not in cookie


def test_cookies_are_http_only_and_same_site(server):  # noqa: F811
    sent = TestClient(create_app(server)).get("/").headers["set-cookie"].lower()
    assert "httponly" in sent
    assert "samesite=lax" in sent
    over_tls = (
        TestClient(create_app(server), base_url="https://testserver").get("/").headers["set-cookie"].lower()
    )
    assert "secure" in over_tls


def test_a_fault_inside_shows_nothing(server, browser, monkeypatch):  # noqa: F811
    make_study(server.database, FREE)
    monkeypatch.setattr(Server, "study", lambda *_: 1 / 0)
    reply = browser.get("/studies/captions/join")
    assert reply.status_code == 500
    assert "Traceback" not in reply.text
    assert "ZeroDivision" not in reply.text
    assert reply.headers["content-security-policy"]


def test_large_and_odd_uploads_are_refused(server, browser):  # noqa: F811
    login(browser)
    game = 'kind = "rating game"\ntitle = "U"'
    line = [{"id": "a", "images": ["0.png"], "text": "x"}]
    large = drawing(0) + bytes(21 * 2**20)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("items.jsonl", json.dumps(line[0]))
        out.writestr("0.png", large)
    replies = {
        "more than 20 MB": upload(browser, game, packed.getvalue()),
        "outside its folder": upload(browser, game, bundle(line, pictures=("../../evil.png",))),
        "outside the study": upload(
            browser, game, bundle([{"id": "a", "images": ["/etc/passwd"], "text": "x"}])
        ),
        "cannot be read": upload(browser, game, b"no zip"),
        "not a picture": upload(browser, game, bundle([{"id": "a", "images": ["items.jsonl"], "text": "x"}])),
        "kind": upload(browser, 'kind = "quiz"\ntitle = "U"', bundle(line)),
    }
    for told, reply in replies.items():
        assert reply.status_code == 400, told
        assert told in reply.text
    page = browser.get("/staff/studies/new/file")
    files = {"bundle": ("s.zip", b"x" * (26 * 2**20))}
    assert (
        browser.post(
            "/staff/studies/new/file", data={"csrf": csrf(page), "settings": game}, files=files
        ).status_code
        == 413
    )
    join_page = {"csrf": csrf(page), "name": "x" * 2**20}
    assert browser.post("/studies/x/join", data=join_page).status_code == 413
    with server.database.read() as connection:
        assert connection.execute(select(t.Study.id)).all() == []


def test_uploads_are_encoded_anew(server, browser):  # noqa: F811
    login(browser)
    picture = io.BytesIO()
    exif = Image.Exif()
    exif[0x010E] = "GPS and other secrets"
    Image.open(io.BytesIO(drawing(1))).save(picture, "JPEG", exif=exif, comment=b"secret comment")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as out:
        out.writestr("items.jsonl", json.dumps({"id": "a", "images": ["p.jpg"], "text": "x"}))
        out.writestr("p.jpg", picture.getvalue() + b"<script>tail</script>")
    assert upload(browser, 'kind = "rating game"\ntitle = "U"', packed.getvalue()).status_code == 200
    with server.database.read() as connection:
        kept = bytes(connection.execute(select(t.Picture.content)).scalar_one())
    assert kept.startswith(b"RIFF")
    assert not any(secret in kept for secret in (b"secret", b"GPS", b"script"))


def test_staff_pages_are_closed_and_guessing_is_slow(sqlite):
    made = Server(
        sqlite,
        Limits(
            {"login": Limit(0.001, 3), **{k: Limit(99, 99) for k in ("join", "answer", "write", "upload")}}
        ),
    )
    visitor = TestClient(create_app(made), follow_redirects=False)
    make_study(sqlite, FREE)
    join(visitor)
    for path in (
        "/staff",
        "/staff/audit",
        "/staff/studies/new",
        "/staff/studies/captions/export",
        "/staff/studies/captions/raters",
    ):
        assert visitor.get(path).status_code == 303
    page = visitor.get("/staff/login")
    tries = [
        visitor.post(
            "/staff/login", data={"csrf": csrf(page), "name": "admin", "password": f"guess {n}"}
        ).status_code
        for n in range(5)
    ]
    assert tries == [403, 403, 403, 429, 429]
    with sqlite.read() as connection:
        assert connection.execute(select(t.Audit.action)).scalars().all() == ["login failed"] * 3
    made.close()


def test_whoever_guesses_locks_out_themselves_alone(sqlite):
    """Failures slow down the address; log-ins that go well use nothing up; a line's IPv6 addresses are one."""
    with sqlite.write() as connection:
        staff.set_password(connection, "mod", PASSWORD)
    made = Server(sqlite, Limits({**LIMITS, "login": Limit(0.001, 2)}), trusted_proxies=("testclient",))

    def tries(address, password):
        visitor = TestClient(create_app(made), headers={"x-forwarded-for": address}, follow_redirects=False)
        sent = {"csrf": csrf(visitor.get("/staff/login")), "name": "mod", "password": password}
        return visitor.post("/staff/login", data=sent).status_code

    assert [tries("9.9.9.9", PASSWORD) for _ in range(4)] == [303] * 4
    assert [tries("9.9.9.9", "a guess") for _ in range(3)] == [403, 403, 429]
    assert tries("9.9.9.9", PASSWORD) == 429
    assert tries("8.8.8.8", PASSWORD) == 303
    line = "2001:db8:1:2"
    assert [tries(f"{line}::{n}", "a guess") for n in range(3)] == [403, 403, 429]
    assert tries("2001:db8:1:3::1", PASSWORD) == 303
    made.close()


def test_logging_out_ends_every_session(server, browser):  # noqa: F811
    login(browser)
    stolen = TestClient(create_app(server), cookies={COOKIE: browser.cookies[COOKIE]}, follow_redirects=False)
    assert stolen.get("/staff").status_code == 200
    browser.post("/staff/logout", data={"csrf": csrf(browser.get("/staff"))})
    assert stolen.get("/staff").status_code == 303


def test_the_interface_stands_any_input(server):  # noqa: F811
    """Made-up requests by the published description of the interface, from a rater and from a stranger."""
    make_study(server.database, FREE, main=400)
    app = create_app(server)
    client = TestClient(app)
    page = join(client)
    known = {"cookie": f"{COOKIE}={client.cookies[COOKIE]}", "x-csrf-token": csrf(page)}
    schema = schemathesis.openapi.from_asgi("/api/openapi.json", app)
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) == 4

    def send(case):
        for headers in (known, {}):
            if headers and case.path_parameters:
                case.path_parameters["slug"] = "captions"
            reply = case.call(headers=headers)
            case.validate_response(reply, checks=[not_a_server_error, status_code_conformance])
            assert "Traceback" not in reply.text

    for operation in operations:
        modes = list(GenerationMode) if operation.method == "post" else [GenerationMode.POSITIVE]
        for mode in modes:
            made = operation.as_strategy(generation_mode=mode)
            settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))(
                given(made)(send)
            )()
