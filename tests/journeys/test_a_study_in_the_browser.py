"""Every kind of study in a real Chromium: from the moderator's form through its raters to the file that is analysed."""

import csv
import http.server
import json
import os
import re
import shutil
import signal
import threading
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from doors import command

pytest.importorskip("fastapi")
from nursery import Nursery, free_port
from sightline.server.storage import staff
from sightline.server.storage.database import Database

pytestmark = pytest.mark.browser
PASSWORD = "a long password"
RATERS, ITEMS = ("Ada", "Ben", "Cleo"), 3
PLACES = ("in a quiet kitchen", "at the sea", "on a steep hill", "in a crowded street")
STORY = ["A dog runs home.", "It finds the red ball."]


def items_of(kind):
    """What a team has: four items of the kind over six pictures."""
    found = []
    for n in range(ITEMS):
        item = {"id": f"i{n}", "images": [f"p{n}.png"], "text": f"Caption number {n}.", "system": "a"}
        if kind == "confidence":
            item = {**item, "answers": {"scene": PLACES[n], "action": "They wait."}}
            del item["text"]
        elif kind in ("story survey", "pairwise preference"):
            del item["text"]
            item |= {"images": [f"p{n}.png", f"p{n + 1}.png"], "sentences": [*STORY, f"End {n}."]}
            found.append({**item, "system": "b", "sentences": ["Nothing is here.", f"Bye {n}."]})
        elif kind == "error marking":
            item["text"] = f"One red dog sits near house {n}."
        found.append(item)
    return found


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("pictures"), np.random.default_rng(4)
    for n in range(ITEMS + 1):
        blocks = rng.integers(0, 255, (5, 7, 3), dtype=np.uint8)
        Image.fromarray(blocks).resize((280, 200), Image.Resampling.NEAREST).save(folder / f"p{n}.png")
    return folder


class Lab:
    """A running server, its moderator's browser, and the ways of everybody else."""

    def __init__(self, browser, base, folder):
        self.browser, self.base, self.folder = browser, base, folder
        self.faults = []
        self.desk = self.person()
        self.desk.goto(f"{base}/staff")
        self.desk.fill("#name", "mod")
        self.desk.fill("#password", PASSWORD)
        self.desk.keyboard.press("Enter")
        self.desk.wait_for_url("**/staff")

    def person(self, **options):
        """Somebody at a computer of their own."""
        page = self.browser.new_context(viewport={"width": 1366, "height": 640}, **options).new_page()
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda fault: self.faults.append(str(fault)))
        return page

    def set_up(self, kind, title, files, **fields):
        """Fill the form in, choose the files, send it; the study's page is open then."""
        desk = self.desk
        desk.goto(f"{self.base}/staff/studies/new")
        desk.click(f"a:text-is('{kind}')")
        desk.fill("#title", title)
        if isinstance(files, Path):
            desk.set_input_files("#folder", files)
            desk.wait_for_selector("#kept li:has-text('Pictures: 3')")
        else:
            desk.set_input_files("#chosen", files)
            desk.wait_for_selector("#kept li >> nth=1")
        desk.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        for name, value in fields.items():
            if name in ("platform", "scale"):
                desk.select_option(f"#{name}", value)
            else:
                desk.fill(f"#{name}", value)
        desk.click("button[value=store]")
        desk.wait_for_selector("text=Take the data home")
        return desk.url.rpartition("/")[2]

    def invite(self, slug):
        self.desk.goto(f"{self.base}/staff/studies/{slug}")
        self.desk.select_option("#uses", "study")
        self.desk.click("text=Make a link")
        return self.desk.inner_text("#link")

    def download(self, slug, label):
        """A file as the moderator's browser saves it."""
        self.desk.goto(f"{self.base}/staff/studies/{slug}")
        with self.desk.expect_download() as found:
            self.desk.click(f"a:text-is('{label}')")
        path = self.folder / found.value.suggested_filename
        found.value.save_as(path)
        return path


@pytest.fixture(scope="module")
def lab(browser, tmp_path_factory):
    folder, port = tmp_path_factory.mktemp("lab"), free_port()
    database = Database(str(folder / "ratings.db"))
    database.migrate()
    with database.write() as connection:
        staff.set_password(connection, "mod", PASSWORD)
    database.close()
    nursery = Nursery(str(folder / "ratings.db"), port)
    server = nursery.start()
    made = Lab(browser, f"http://127.0.0.1:{port}", folder)
    yield made
    os.kill(server, signal.SIGTERM)
    nursery.close()
    assert made.faults == []


def files_of(kind, pictures, folder):
    """A file of items and its pictures; where people write the texts, a folder of pictures is enough."""
    if kind == "description":
        walk = folder / "walk"
        walk.mkdir()
        for n in range(ITEMS):
            shutil.copy(pictures / f"p{n}.png", walk)
        return walk
    path = folder / f"{kind.replace(' ', '-')}.jsonl"
    path.write_text("".join(json.dumps(item) + "\n" for item in items_of(kind)))
    return [path, *sorted(pictures.glob("*.png"))]


def join(page, link, name=None):
    page.goto(link)
    if name:
        page.fill("#name", name)
    page.click("text=Begin")


def number_in(text):
    return int(re.search(r"(\d)\.", text)[1])


def opinion(text, rater):
    """What somebody makes of a text: later ones are better, and people differ a little."""
    return 1 + min(3, max(0, number_in(text) + (-1, 0, 1)[(rater + number_in(text)) % 3]))


def answer(page, kind, rater):
    """Answer what is shown, mostly by keys, which the page hears when it is there in full."""
    page.wait_for_selector(".status")
    page.wait_for_load_state()
    keys = page.keyboard
    if kind == "rating game":
        keys.press(str(opinion(page.inner_text("#caption"), rater)))
        page.wait_for_selector("#next:focus")
        keys.press("Enter")
        page.wait_for_selector("#feedback", state="hidden")
        return
    if kind == "description":
        done = int(page.inner_text(".status .score").split()[0])
        page.fill("#scene", f"{PLACES[(done + rater) % 4]} near a house")
        page.fill("#action", f"They are walking {'slowly' if rater else 'home'} together.")
        page.fill("#rationale", "They want to see their old friends again.")
    elif kind == "pairwise preference":
        keys.press(
            "0"
            if rater == 2
            else page.locator(".choice.text", has_text="dog").locator("input").get_attribute("data-key")
        )
    elif kind == "error marking":
        if rater == 2:
            page.check("#none-wrong")
        for place in (1, 2)[: 2 - rater]:
            page.click(f".word[data-place='{place}']")
    elif kind == "story survey":
        for section in page.locator("section.story").all():
            level = 4 if "dog" in section.inner_text() else 2
            for step in range(3):
                keys.press(str(level + (step + rater) % 2))
        keys.press(page.locator("section.story", has_text="dog").locator("h2").inner_text()[-1])
    elif kind == "confidence":
        text = page.locator("blockquote").first.inner_text()
        keys.press(str(1 + (PLACES.index(text) + rater) % 5))
        keys.press("4")
    else:
        keys.press(str(opinion(page.inner_text("blockquote"), rater)))
    with page.expect_navigation():
        page.click("#send") if kind in ("description", "error marking") else keys.press("Enter")


ANALYSED = {
    "rating game": ("ratings · CSV", "psych", ("--unused", "collapse")),
    "description": ("HL · JSONL", "corpus", ()),
    "confidence": ("ratings · CSV", "psych", ("--criterion", "scene", "--unused", "collapse")),
    "story survey": ("ratings · CSV", "psych", ("--criterion", "coherence", "--unused", "collapse")),
    "grounding survey": ("ratings · CSV", "psych", ("--unused", "collapse")),
    "pairwise preference": ("ratings · CSV", "psych", ()),
    "error marking": ("items · JSONL", "psych", ()),
}
"""What is taken home, and which command reads it."""


@pytest.mark.parametrize("kind", ANALYSED)
def test_from_the_form_to_the_analysed_file(lab, pictures, tmp_path, kind):
    fields = {"ratings_per_item": str(len(RATERS))}
    if kind == "rating game":
        fields |= {"tutorial": "0", "probation": "0", "gold": "0", "attention": "0"}
    slug = lab.set_up(kind, f"My {kind}", files_of(kind, pictures, tmp_path), **fields)
    link = lab.invite(slug)
    for number, name in enumerate(RATERS):
        page = lab.person()
        join(page, link, name)
        if kind == "grounding survey":
            page.click("text=I consent")
        for _ in range(ITEMS):
            answer(page, kind, number)
        page.wait_for_selector("h1:text-is('All done')")
        page.context.close()
    label, verb, options = ANALYSED[kind]
    path, out = lab.download(slug, label), tmp_path / "out"
    if verb == "corpus":
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        assert [row["file_name"] for row in rows] == [f"p{n}.png" for n in range(ITEMS)]
        assert all(len(row["captions"][axis]) == len(RATERS) for row in rows for axis in ("scene", "action"))
        command("corpus", path, "-o", out)
        assert json.loads((out / "stats.json").read_text())["captions"] == 3 * ITEMS * len(RATERS)
        return
    assert not any(name in path.read_text() for name in RATERS)
    command("psych", path, "-o", out, "--samples", 20, *options)
    fit = json.loads((out / "fit.json").read_text())
    check(kind, fit, path)


def check(kind, fit, path):
    """The analysis has what people said, and says what they thought."""
    if kind == "pairwise preference":
        (a, b) = sorted(fit["strengths"], key=lambda one: one["name"])
        assert (a["wins"], a["losses"], a["ties"]) == (2 * ITEMS, 0, ITEMS)
        assert a["strength"] > b["strength"]
        return
    if kind == "error marking":
        assert (fit["texts"], fit["words"]) == (ITEMS, 7 * ITEMS)
        marked = [sorted(json.loads(line)["errors"]) for line in path.read_text().splitlines()]
        assert marked == ITEMS * [[[], [1], [1, 2]]]
        return
    texts = 2 * ITEMS if kind == "story survey" else ITEMS
    assert (fit["persons"], fit["items"], fit["answers"]) == (len(RATERS), texts, texts * len(RATERS))
    with path.open(newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["criterion"] == fit["criterion"]]
    given = sorted((row["item"], row["system"], int(row["value"])) for row in rows)
    if kind == "story survey":
        assert {system: {row[2] for row in given if row[1] == system} for system in "ab"} == {
            "a": {4, 5},
            "b": {2, 3},
        }
    elif kind == "confidence":
        assert [value for *_, value in given] == [
            1 + (n + rater) % 5 for n in range(ITEMS) for rater in range(3)
        ]
    else:
        expected = [(f"i{n}", "a", opinion(f" {n}.", rater)) for n in range(ITEMS) for rater in range(3)]
        assert given == sorted(expected)


class Platform(http.server.BaseHTTPRequestHandler):
    """Where participants come from and go back to."""

    seen: list[str] = []  # noqa: RUF012

    def do_GET(self):
        self.seen.append(self.path)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<title>Thanks</title>Thanks")

    def log_message(self, *_):
        """Nothing is printed."""


def test_from_a_crowd_platform_and_back(lab, pictures, tmp_path):
    platform = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Platform)
    threading.Thread(target=platform.serve_forever, daemon=True).start()
    home = f"http://127.0.0.1:{platform.server_port}"
    slug = lab.set_up(
        "grounding survey",
        "From a platform",
        files_of("grounding survey", pictures, tmp_path),
        items_per_person="2",
        places="1",
        platform="prolific",
        completed=f"{home}/complete?cc=C0DE",
        full=f"{home}/full",
    )
    link = lab.invite(slug) + "?PROLIFIC_PID=p-77&STUDY_ID=s1&SESSION_ID=x1"
    page = lab.person()
    join(page, link)
    page.click("text=I consent")
    for told in ("1 of 2", "2 of 2"):
        assert told in page.inner_text(".status")
        answer(page, "grounding survey", 1)
    page.click("text=Finish and go back")
    page.wait_for_url(f"{home}/**")
    assert page.title() == "Thanks"
    late = lab.person()
    join(late, link.replace("p-77", "p-78"))
    late.click("text=Go back")
    late.wait_for_url(f"{home}/**")
    platform.shutdown()
    assert [path for path in Platform.seen if "favicon" not in path] == ["/complete?cc=C0DE", "/full"]
    assert "p-77" not in lab.download(slug, "ratings · CSV").read_text()
    with lab.download(slug, "ratings with names").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [(row["PROLIFIC_PID"], row["STUDY_ID"], row["SESSION_ID"]) for row in rows] == 2 * [
        ("p-77", "s1", "x1")
    ]


def test_one_person_at_two_devices(lab, pictures, tmp_path):
    slug = lab.set_up(
        "grounding survey", "Two devices", files_of("grounding survey", pictures, tmp_path), consent=""
    )
    laptop, phone = lab.person(), lab.person(has_touch=True)
    phone.set_viewport_size({"width": 390, "height": 844})
    join(laptop, lab.invite(slug), "Ada")
    answer(laptop, "grounding survey", 0)
    laptop.goto(f"{lab.base}/studies/{slug}/me")
    laptop.click("#elsewhere summary")
    phone.goto(laptop.inner_text("#elsewhere p.code:last-child"))
    phone.click("text=I am Ada: go on")
    assert "2 of 3" in phone.inner_text(".status")
    laptop.goto(f"{lab.base}/studies/{slug}")
    before = laptop.inner_text("blockquote")
    assert phone.inner_text("blockquote") == before  # one place, two windows
    phone.tap(".choice >> nth=2")
    with phone.expect_navigation():
        phone.tap("#send")
    answer(laptop, "grounding survey", 0)  # the same item once more
    assert laptop.inner_text("h1") == "This answer was not taken"
    laptop.click("text=Go on >> nth=-1")
    assert "3 of 3" in laptop.inner_text(".status")
    with lab.download(slug, "ratings · CSV").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == len({row["item"] for row in rows}) == 2
    assert len({row["rater"] for row in rows}) == 1


def test_two_people_at_a_shared_computer(lab, pictures, tmp_path):
    slug = lab.set_up("error marking", "One computer", files_of("error marking", pictures, tmp_path))
    link, page = lab.invite(slug), lab.person()
    join(page, link, "Ada")
    answer(page, "error marking", 0)
    page.goto(link)  # Ben sits down and opens the link he was sent
    assert "I am Ada: go on" in page.inner_text("main")
    page.fill("#name", "Ben")
    page.click("text=Begin")
    assert page.inner_text(".who b") == "Ben"
    assert "1 of 3" in page.inner_text(".status")
    answer(page, "error marking", 2)
    page.click("text=Log out")
    assert re.fullmatch(r"\d+-\w{5}-\w{5}", page.inner_text("#code"))
    with lab.download(slug, "ratings with names").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert sorted((row["name"], row["value"]) for row in rows) == [("Ada", "[1, 2]"), ("Ben", "[]")]
