"""Every page in Chromium, light and dark, on a phone and a laptop: axe-core finds nothing, nothing is cut off."""

import os
import re
import signal
import sys
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from server_studies import KINDS, Nursery, answer_of, free_port, make_study, set_up
from sqlalchemy import select, update
from test_web import FREE, csrf, join, rate

from sightline.server.app import create_app
from sightline.server.context import Server
from sightline.server.security.limits import LIMITS, Limit, Limits
from sightline.server.security.sessions import COOKIE
from sightline.server.storage import raters, staff
from sightline.server.storage import schema as t
from sightline.server.storage.database import Database
from skipping import skip

AXE = Path(sys.prefix) / "npm" / "node_modules" / "axe-core" / "axe.min.js"
PASSWORD = "a long password"
PHONE, LAPTOP = {"width": 390, "height": 844}, {"width": 1366, "height": 640}
FORMS = [kind.replace(" ", "-") for kind in KINDS]
FOR_ANYBODY = (
    "/",
    "/staff/login",
    "/resume",
    "/nowhere",
    "/studies/kind-closed/join",
    "/studies/kind-full/join",
)
FOR_STAFF = (
    *("/staff", "/staff/audit", "/staff/people", "/staff/account", "/staff/studies/new"),
    "/staff/studies/new/file",
    *(f"/staff/studies/new/{form}" for form in FORMS),
    *(f"/staff/studies/game{place}" for place in ("", "/raters", "/answers", "/quality", "/disputes")),
    *(f"/staff/studies/game{place}" for place in ("/items", "/edit", "/team", "/more")),
    *(
        f"/staff/studies/kind-story-survey{place}"
        for place in ("", "/raters", "/answers", "/quality", "/edit")
    ),
)
ASKED = ("delete", "invitations", "raters/{code}/remove")
"""Pages that come after a button."""
CUT = """() => {
  const wide = document.documentElement.clientWidth;
  const free = (node) => node.closest('.scroll, .film, .links, pre, svg, .for-ears, .skip, dialog:not([open])');
  if (document.documentElement.scrollWidth > wide) return [`the page is ${document.documentElement.scrollWidth} wide`];
  return [...document.querySelectorAll('body *')].filter((node) => node.checkVisibility() && !free(node)
    && node.getBoundingClientRect().right > wide + 1).map((node) => node.outerHTML.slice(0, 90)); }"""
SEND = "(to) => void setTimeout(() => document.querySelector(`form[action$='${to}']`).submit())"
AXE_RUN = """(only) => axe.run(document, {
    resultTypes: ['violations'], ...(only && { runOnly: { type: 'rule', values: only } }) })
  .then((found) => found.violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.target).slice(0, 3)}`))"""


def person(server):
    return TestClient(create_app(server), follow_redirects=True)


def cookie(visitor, base):
    return {"name": COOKIE, "value": visitor.cookies[COOKIE], "url": base}


def fields(page):
    return dict(re.findall(r'name="(item|token)" value="([^"]+)"', page.text))


def populate(server, folder):
    """Studies of every kind with something in them; people's cookies by where they are."""
    there = {}
    for kind in KINDS:
        slug = f"kind-{kind.replace(' ', '-')}"
        place = folder / slug
        place.mkdir()
        stored = set_up(server.database, place, kind, slug=slug)
        for number in range(3):
            visitor = person(server)
            page = join(visitor, slug, f"P{number}")
            while number < 2 and "All done" not in page.text:
                given = {"token": f"{number}{'x' * 20}-{fields(page)['item']}", **fields(page)}
                with server.database.read() as connection:
                    query = select(t.Item.content).where(t.Item.id == int(given["item"]))
                    content = connection.execute(query).scalar_one()
                said = answer_of(kind, number, content)
                sent = {"csrf": csrf(page), **given, **said}
                page = visitor.post(f"/studies/{slug}/answers", data=sent)
            there[slug, number] = visitor
        there[slug, "study"] = stored
    make_study(server.database, FREE + "ratings_per_item = 9\n", slug="game", main=6)
    for number in range(4):
        visitor = person(server)
        page = join(visitor, "game", f"Player {number}")
        for turn in range(4):
            task = visitor.get("/api/studies/game/turn").json()["next"]
            told = rate(
                visitor,
                csrf(page),
                task["item"],
                1 if number == 3 else 4 + turn % 2,
                f"{number:010}-{turn:010}",
                "game",
            )
        there["game", number] = visitor
    answer = {"csrf": csrf(page), "answer": told.json()["answer"], "reason": "There is a circle in it."}
    visitor.post("/studies/game/disputes", data=answer)
    task = visitor.get("/api/studies/game/turn").json()["next"]
    broken = {"item": task["item"], "report": "it is black"}
    visitor.post("/api/studies/game/skips", json=broken, headers={"x-csrf-token": csrf(page)})
    for slug, change in (("kind-closed", {"state": "closed"}), ("kind-full", {})):
        place = folder / slug
        place.mkdir()
        set_up(server.database, place, "grounding survey", "places = 1\n", slug=slug)
        consenting = person(server)
        there[slug, 0] = consenting
        join(consenting, slug, "Only")
        if change:
            with server.database.write() as connection:
                connection.execute(update(t.Study).where(t.Study.slug == slug).values(**change))
    return there


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("look")
    url, port = str(folder / "ratings.db"), free_port()
    database = Database(url)
    database.migrate()
    with database.write() as connection:
        staff.set_password(connection, "mod", PASSWORD)
        staff.add(connection, "Vera", PASSWORD)
    server = Server(database, Limits({name: Limit(10_000, 10_000) for name in LIMITS}))
    there = populate(server, folder)
    with database.write() as connection:
        raters.invite(connection, there["kind-story-survey", "study"].id, None, "for the class")
        code = connection.execute(select(t.Rater.code).where(t.Rater.name == "Player 0")).scalar_one()
    nursery = Nursery(url, port)
    process = nursery.start()
    yield f"http://127.0.0.1:{port}", there, code
    os.kill(process, signal.SIGTERM)
    nursery.close()
    server.close()


class Look:
    """A page looked at from all sides."""

    def __init__(self, browser, folder):
        if not AXE.is_file():
            skip("axe-core is not installed: make system")
        self.page = browser.new_context(viewport=LAPTOP).new_page()
        self.folder, self.found, self.source = folder, {}, AXE.read_text("utf-8")
        self.page.on("pageerror", lambda fault: self.note("script", [str(fault)]))

    def note(self, what, found):
        if found:
            self.found[f"{self.page.url} {what}"] = found

    def from_all_sides(self, name=""):
        self.page.evaluate(self.source)
        for scheme in ("light", "dark"):
            self.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            for size in (LAPTOP, PHONE):
                self.page.set_viewport_size(size)
                side = f"{scheme} {size['width']} {name}"
                only = None if scheme == "light" else ["color-contrast"]
                self.note(side, self.page.evaluate(AXE_RUN, only))
                if scheme == "light":
                    self.note(f"{side} cut off", self.page.evaluate(CUT))
                if self.folder:
                    told = re.sub(r"\W+", "-", self.page.url.split("/", 3)[3] + name)
                    path = self.folder / f"{told}-{scheme}-{size['width']}.png"
                    self.page.screenshot(path=path, full_page=size is PHONE)
        self.page.set_viewport_size(LAPTOP)
        self.page.emulate_media(color_scheme="light")


@pytest.fixture
def look(browser):
    artefacts = os.environ.get("SIGHTLINE_ARTEFACTS")
    folder = Path(artefacts) / "look" if artefacts else None
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
    made = Look(browser, folder)
    yield made
    made.page.context.close()


@pytest.mark.browser
def test_nothing_shuts_raters_out(site, look):
    base, there, _ = site
    page = look.page
    for place in FOR_ANYBODY:
        page.goto(base + place)
        look.from_all_sides()
    page.goto(f"{base}/studies/game/join")
    look.from_all_sides()
    for kind in KINDS:
        slug = f"kind-{kind.replace(' ', '-')}"
        page.context.clear_cookies()
        page.context.add_cookies([cookie(there[slug, 2], base)])
        page.goto(f"{base}/studies/{slug}")
        look.from_all_sides()
        if kind in ("rating game", "story survey"):
            page.click("#show-instructions")
            look.from_all_sides("instructions")
            page.keyboard.press("Escape")
            page.click(".zoomable")
            look.from_all_sides("zoom")
        if kind == "rating game":
            page.goto(f"{base}/studies/{slug}")
            page.keyboard.press("4")
            page.wait_for_selector("#feedback:not([hidden])")
            look.from_all_sides("told")
        page.context.add_cookies([cookie(there[slug, 0], base)])
        page.goto(f"{base}/studies/{slug}/me")
        look.from_all_sides()
    page.goto(f"{base}/studies/{slug}")  # all done
    look.from_all_sides()
    page.goto(f"{base}/studies/{slug}/join")  # somebody sits there
    look.from_all_sides()
    page.context.add_cookies([cookie(there["kind-full", 0], base)])
    page.goto(f"{base}/studies/kind-full")  # consent
    look.from_all_sides()
    page.click(".who button")  # logged out
    look.from_all_sides()
    page.context.add_cookies([cookie(there["game", 3], base)])
    for place in ("/studies/game", "/studies/game/me", "/studies/game/leaderboard"):
        page.goto(base + place)
        look.from_all_sides()
    assert look.found == {}


@pytest.mark.browser
def test_nothing_shuts_staff_out(site, look):
    base, _, code = site
    page = look.page
    page.goto(f"{base}/staff/login")
    page.fill("#name", "mod")
    page.fill("#password", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/staff")
    for place in FOR_STAFF:
        page.goto(base + place)
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        look.from_all_sides()
    for asked in ASKED:
        page.goto(f"{base}/staff/studies/game{'/raters' if 'raters' in asked else ''}")
        with page.expect_navigation():
            page.evaluate(SEND, asked.format(code=code))
        look.from_all_sides(asked.split("/")[0])
    assert look.found == {}


IN_SIGHT = """(name) => [...document.querySelectorAll(name)].every((node) => {
  const { top, bottom, left, right } = node.getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight && left >= 0 && right <= innerWidth; })"""
ROWS = """() => [...document.querySelectorAll('.choices')].map((set) =>
  new Set([...set.children].map((one) => one.getBoundingClientRect().top)).size)"""
TURNED_BACK = """() => {
  const name = 'a[href], button, input:not([type=hidden]), textarea, select, summary';
  const shown = [...document.querySelectorAll(name)].filter((node) =>
    node.checkVisibility({ visibilityProperty: true }) && !node.disabled && node.tabIndex >= 0
    && !node.closest('dialog:not([open]), .skip') && node.getBoundingClientRect().width > 1);
  const box = (node) => node.closest('label, li, tr')?.getBoundingClientRect() ?? node.getBoundingClientRect();
  return shown.slice(1).filter((node, at) => { // back up on the screen, and not into a column further on
    const before = box(shown[at]), now = box(node);
    const on = document.dir === 'rtl' ? now.right < before.left + 1 : now.left > before.right - 1;
    return now.bottom <= before.top + 1 && !on;
  }).map((node) => node.outerHTML.slice(0, 80)); }"""


@pytest.mark.browser
def test_what_is_asked_and_sent_is_in_sight(site, look):
    """No scrolling for what every answer needs; pictures stay beside the questions; Tab goes as the eye does."""
    base, there, _ = site
    page = look.page
    for kind in KINDS:
        slug = f"kind-{kind.replace(' ', '-')}"
        page.context.clear_cookies()
        page.context.add_cookies([cookie(there[slug, 2], base)])
        for size in (LAPTOP, PHONE):
            page.set_viewport_size(size)
            page.goto(f"{base}/studies/{slug}")
            where = f"{kind} at {size['width']}"
            assert page.evaluate(TURNED_BACK) == [], where
            assert page.evaluate(ROWS) in ([], [1] * len(page.evaluate(ROWS))), where
            assert page.evaluate(IN_SIGHT, "#show-instructions"), where
            if size is LAPTOP and kind != "story survey":
                assert page.evaluate(IN_SIGHT, ".level" if kind == "rating game" else "#send"), where
            page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
            if kind != "rating game":
                assert page.evaluate(IN_SIGHT, ".film .zoomable:first-child img"), where
    page.context.add_cookies([cookie(there["kind-rating-game", 2], base)])
    for size in (LAPTOP, PHONE):
        page.set_viewport_size(size)
        page.goto(f"{base}/studies/kind-rating-game")
        page.keyboard.press("4")
        page.wait_for_selector("#next:focus")
        page.wait_for_timeout(300)  # a phone scrolls to it
        assert page.evaluate(IN_SIGHT, "#next")
        assert page.evaluate(TURNED_BACK) == []


def scale_of(page):
    return page.evaluate(
        "Number(document.querySelector('#zoom-picture').style.transform.match(/scale\\((.*)\\)/)[1])"
    )


@pytest.mark.browser
def test_pictures_are_enlarged_by_keys_wheel_and_fingers(site, browser):
    base, there, _ = site
    context = browser.new_context(viewport=PHONE, has_touch=True)
    context.add_cookies([cookie(there["kind-grounding-survey", 2], base)])
    page = context.new_page()
    page.goto(f"{base}/studies/kind-grounding-survey")
    page.focus(".zoomable")
    page.keyboard.press("Enter")
    assert scale_of(page) == 1
    page.keyboard.press("+")
    assert scale_of(page) == 1.5
    page.keyboard.press("-")
    assert scale_of(page) == 1
    page.mouse.move(195, 300)
    page.mouse.wheel(0, -200)
    page.wait_for_timeout(100)
    assert scale_of(page) == pytest.approx(1.2)
    touch = context.new_cdp_session(page)
    for apart, what in ((40, "Start"), (80, "Move"), (120, "Move"), (160, "Move")):
        points = [{"x": 195 - apart, "y": 300}, {"x": 195 + apart, "y": 300}]
        touch.send("Input.dispatchTouchEvent", {"type": f"touch{what}", "touchPoints": points})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    assert scale_of(page) > 1.6
    page.keyboard.press("Escape")
    assert not page.is_visible("#zoom")
    context.close()
