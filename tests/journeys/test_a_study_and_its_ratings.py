"""A study from its files to what its ratings are good for: played in the browser's own way, then four commands."""

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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

PLAYERS = ("Ada", "Ben", "Cleo", "Dan", "Eve", "Finn")
COLOURS = {
    "red": (200, 30, 30),
    "green": (30, 160, 40),
    "blue": (30, 50, 200),
    "yellow": (230, 220, 40),
    "white": (245, 245, 245),
    "black": (10, 10, 10),
    "orange": (240, 140, 20),
    "purple": (130, 30, 160),
}


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Twelve pictures that no one would take for one another."""
    rng = np.random.default_rng(5)
    for n in range(12):
        blocks = rng.integers(0, 255, (6, 6, 3), dtype=np.uint8)
        Image.fromarray(blocks).resize((90, 90), Image.Resampling.NEAREST).save(tmp_path / f"{n}.png")
    return tmp_path


def study_files(folder: Path) -> tuple[Path, Path, dict[str, int]]:
    """A rating game: its settings, its items, and the level that each caption deserves."""
    names = list(COLOURS)
    truth, lines = {}, []
    for n in range(36):
        level, role = 1 + (n * 7) % 5, "main" if n < 24 else "training" if n < 32 else "gold"
        own = f"blocks number {n} in {names[n % 8]} and {names[n % 5]}"
        words = own.split()
        text = " ".join(words[: 1 + level + (level == 5) * len(words)]) + f" ({n})"
        truth[text] = level
        item: dict[str, Any] = {"id": f"c{n}", "images": [f"{n % 12}.png"], "text": text, "references": [own]}
        item |= {"system": "a" if n % 2 else "b"}
        lines.append(item | ({"role": role, "expert": level} if role != "main" else {}))
    (folder / "items.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    settings = """kind = "rating game"
title = "Blocks"
items = "items.jsonl"
ratings_per_item = 6
hard = {more = 0}
training = {tutorial = 2, probation = 6, accuracy = 0.5}
checks = {gold = 0.2, attention = 0.0, floor = 0.0}
"""
    (folder / "blocks.toml").write_text(settings)
    return folder / "blocks.toml", folder / "items.jsonl", truth


def turns(browser: TestClient, slug: str, join: str, name: str, answer: Any) -> Iterator[int]:
    """One player from the invitation to the last item; what `answer` says of a text is sent."""
    page = browser.get(join)
    page = browser.post(
        f"/studies/{slug}/join", data={"csrf": csrf(page), "name": name, "token": join.removeprefix("/join/")}
    )
    headers = {"x-csrf-token": csrf(page)}
    task = browser.get(f"/api/studies/{slug}/turn").json()["next"]
    count = 0
    while task:
        count += 1
        body = {"item": task["item"], "token": f"{name:->8}{count:024d}", "seconds": 2.0}
        body["answers"] = {"value": answer(task["text"])}
        sent = browser.post(f"/api/studies/{slug}/answers", json=body, headers=headers)
        assert sent.status_code == 200, sent.text
        task = sent.json()["next"]
        yield count


def test_a_study_is_played_exported_analysed_and_learned_from(
    pictures: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIGHTLINE_CACHE", str(pictures / "cache"))
    monkeypatch.setattr(start, "run", lambda database, *rest: database.close())
    settings, items, truth = study_files(pictures)
    db = pictures / "ratings.db"
    said = command("serve", "--db", db, "--study", settings, "--port", "18731", "--no-sample")
    link = re.search(r"(/join/[\w-]+)", said)
    assert link, said

    database, _ = start.open_database(str(db), sample=False)
    server = Server(database, Limits({name: Limit(10_000, 10_000) for name in LIMITS}))
    for number, name in enumerate(PLAYERS):

        def answer(text: str, number: int = number) -> int:
            """The level it deserves; every fourth time one too low, every fourth one too high."""
            place = int(text.rpartition("(")[2].rstrip(")"))
            return min(max(truth[text] + (0, -1, 0, 1)[(place + number) % 4], 1), 5)

        browser = TestClient(create_app(server), follow_redirects=True)
        assert len(list(turns(browser, "blocks", link[1], name, answer))) >= 24 + 8
    server.close()
    database.close()

    exported = pictures / "ratings.csv"
    command("ratings", "export", "blocks", "-o", exported, "--db", db)
    with exported.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    phases = [row["phase"] for row in rows]
    assert phases.count("play") == 24 * 6 and {"tutorial", "probation", "gold"} < set(phases)
    assert all((row["expert"] == "") == (row["phase"] == "play") for row in rows)
    assert not any(name in exported.read_text() for name in PLAYERS)

    said = command("psych", exported, "-o", pictures / "psych", "--unused", "collapse", "--samples", 20)
    assert f"{phases.count('gold')} left out: given on items whose answer is known" in said
    fit = json.loads((pictures / "psych/fit.json").read_text())
    assert fit["answers"] == 144 and fit["persons"] == 6
    assert {row["reason"]: row["n"] for row in fit["ratings_left_out"]} == {
        name: phases.count(name) for name in ("tutorial", "probation", "gold")
    }
    assert fit["known_answers"]["score"] > 1.4, "all six know the scale"
    assert fit["agreement"]["alpha"]["ordinal"]["value"] > 0.6

    command("meta", items, "--ratings", exported, "-m", "rouge-l", "--samples", 20, "-o", pictures / "meta")
    (row,) = json.loads((pictures / "meta/meta.json").read_text())["rows"]
    assert (row["criterion"], row["n"]) == ("overall", 24)
    wanted = {item.id: truth[item.text] for item in read_items(items)}
    given = {row["item"]: [] for row in rows if row["phase"] == "play"}
    for one in rows:
        if one["phase"] == "play":
            given[one["item"]].append(int(one["value"]))
    close = [abs(sum(values) / len(values) - wanted[id]) for id, values in given.items()]
    assert max(close) < 1.2 and row["kendall_b"] > 0.5, "longer captions were rated higher"

    command(
        "train", "rater", items, "--ratings", exported, "--scale", "1-5", "--folds", 1, "--samples", 0,
        "-o", pictures / "rater",
    )  # fmt: skip
    told = json.loads((pictures / "rater/training.json").read_text())
    assert [(one["pairs"], one["ratings"]) for one in told["learned_from"]] == [(24, 144)]

    # the other form of the export says the same of every item
    command("ratings", "export", "blocks", "-o", pictures / "items2.jsonl", "--what", "items", "--db", db)
    by_item = {item.id: item.ratings for item in read_items(pictures / "items2.jsonl") if item.ratings}
    assert {id: sorted(map(int, of["overall"])) for id, of in by_item.items()} == {
        id: sorted(values) for id, values in given.items()
    }
