"""HL's file through every door: analysed as a corpus, judged again in a study, exported, analysed once more."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from doors import command, csrf
from sightline.io import read_items

pytest.importorskip("fastapi")
from fastapi.testclient import TestClient

from sightline.server import start
from sightline.server.app import create_app
from sightline.server.context import Server
from sightline.server.security.limits import LIMITS, Limit, Limits

AXES = ("scene", "action", "rationale")
SAID = {
    "scene": ("in a park", "at a lake", "on a street", "in a kitchen"),
    "action": ("they are walking", "he is cooking", "she rides a bike", "they play"),
    "rationale": ("to have fun", "they are hungry", "to get home", "it is sunny"),
}


@pytest.fixture
def hl(tmp_path: Path) -> Path:
    """Four pictures as HL publishes them, with their pictures under COCO's names."""
    rng = np.random.default_rng(2)
    (tmp_path / "train2014").mkdir()
    lines = []
    for n in range(4):
        name = f"COCO_train2014_{n + 7:012d}.jpg"
        Image.fromarray(rng.integers(0, 255, (40, 40, 3), dtype=np.uint8)).save(tmp_path / "train2014" / name)
        captions = {axis: [SAID[axis][(n + k) % 4] for k in range(3)] for axis in AXES}
        confidence = {axis: [float(3 + (n + k) % 3) for k in range(3)] for axis in AXES}
        captions["object"] = ["a thing on a table", "another thing"]
        lines.append({"file_name": name, "captions": captions, "confidence": confidence})
    path = tmp_path / "hl.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_hl_is_analysed_judged_again_and_analysed(hl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, db = hl.parent, hl.parent / "ratings.db"
    plain = ("--purity", "none", "--floor", "1", "--lemma-floor", "1")
    command("corpus", hl, "-o", folder / "before", *plain)
    before = json.loads((folder / "before/stats.json").read_text())

    command("ratings", "import", hl, "--format", "hl", "--study", "hl", "--images", folder, "--db", db)
    monkeypatch.setattr(start, "run", lambda database, *rest: database.close())
    database, password = start.open_database(str(db), sample=False, staff="lead")
    server = Server(database, Limits({name: Limit(10_000, 10_000) for name in LIMITS}))
    staff = TestClient(create_app(server), follow_redirects=True)
    page = staff.get("/staff/login")
    assert password is not None
    staff.post("/staff/login", data={"csrf": csrf(page), "name": password[0], "password": password[1]})
    overview = staff.get("/staff/studies/hl")
    link = staff.post("/staff/studies/hl/invitations", data={"csrf": csrf(overview), "uses": "study"})
    token = re.search(r"/join/([\w-]+)", link.text)
    assert token, link.text[:2000]

    for number, name in enumerate(("Ada", "Ben")):
        browser = TestClient(create_app(server), follow_redirects=True)
        page = browser.get(f"/join/{token[1]}")
        join = {"csrf": csrf(page), "name": name, "token": token[1]}
        page = browser.post("/studies/hl/join", data=join)
        pages = 0
        while item := re.search(r'name="item" value="(\d+)"', page.text):
            asked = sorted(set(re.findall(r'type="radio"[^>]*name="(\w+)"', page.text)))
            asked = asked or sorted(set(re.findall(r'name="(\w+)"[^>]*type="radio"', page.text)))
            assert asked == sorted(AXES), page.text[:3000]
            sent = {axis: str(1 + (number + place) % 5) for place, axis in enumerate(AXES)}
            once = re.search(r'name="token" value="([^"]+)"', page.text)
            assert once
            sent |= {"csrf": csrf(page), "item": item[1], "token": once[1], "seconds": "3"}
            page = browser.post("/studies/hl/answers", data=sent)
            assert page.status_code == 200, page.text
            pages += 1
        assert pages == 12
    server.close()
    database.close()

    ratings = folder / "ratings.jsonl"
    command("ratings", "export", "hl", "-o", ratings, "--db", db)
    rows = [json.loads(line) for line in ratings.read_text().splitlines()]
    known = {item.id for item in read_items(hl) if item.extra["axis"] != "object"}
    assert {row["item"] for row in rows} == known, "the ids are those of --format hl"
    assert {row["criterion"] for row in rows} == {"confidence"} and len(rows) == 36 * 3
    command("psych", ratings, "-o", folder / "psych", "--unused", "collapse", "--samples", 10)
    assert json.loads((folder / "psych/fit.json").read_text())["answers"] == 36 * 3

    command("ratings", "export", "hl", "-o", folder / "again.jsonl", "--what", "hl", "--db", db)
    command("corpus", folder / "again.jsonl", "-o", folder / "after", *plain)
    after = json.loads((folder / "after/stats.json").read_text())
    for place, axis in enumerate(AXES):
        one, two = (told["axes"][axis] for told in (before, after))
        assert (one["captions"], one["tokens"]) == (two["captions"], two["tokens"])
        people = [1 + place % 5, 1 + (1 + place) % 5]
        mean = (one["confidence"]["mean"] + sum(people)) / 3
        assert two["confidence"]["mean"] == pytest.approx(mean), "the published level and two players'"
