"""`sightline caption`: items in the contract's form, references of the asked axis, failures, resuming, the sheet."""

import io
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from typer.testing import CliRunner

import sightline
from doors import command
from saying import Saying
from sightline.cli.app import load_commands
from sightline.errors import UsageError
from sightline.generate.base import Axis, Decoding, Described, captioners
from sightline.generate.trouble import trouble
from sightline.io import read_items

Tell = Callable[..., None]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def status(*line: object) -> int:
    return CliRunner().invoke(load_commands(), [str(part) for part in line]).exit_code


def test_pictures_become_items_that_can_be_scored(pictures: Path, saying: Tell, tmp_path: Path) -> None:
    saying({"red": "a red wall", "green": "grass"})
    command(
        "caption", pictures, pictures / "red.png", "-c", "saying", "-o", tmp_path / "out", "--system", "mine"
    )
    rows = lines(tmp_path / "out/captions.jsonl")
    assert [(row["id"], row["text"]) for row in rows] == [
        ("blue.png", "something for the object"), ("green.png", "grass"), ("red.png", "a red wall"),
    ]  # fmt: skip
    assert rows[2]["system"] == "mine"
    assert rows[2]["captioner"] == "saying@0|axis=object|beams=3,length=30"
    assert rows[2]["log_probability"] == -1.5
    items = list(read_items(tmp_path / "out/captions.jsonl"))
    assert [item.images[0].resolve() for item in items] == [(pictures / row["id"]).resolve() for row in rows]
    page = (tmp_path / "out/report.html").read_text()
    assert "a red wall" in page and page.count("data:image/webp") == 3
    assert (tmp_path / "out/failures.jsonl").read_text() == ""
    assert (
        sightline.score(tmp_path / "out/captions.jsonl", ["clipscore"]).summary["metrics"]["clipscore"]["n"]
        == 3
    )


def test_captions_are_piped_into_score(
    pictures: Path, saying: Tell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = CliRunner().invoke(load_commands(), ["caption", str(pictures), "-c", "saying"])
    assert done.exit_code == 0 and len(done.stdout.splitlines()) == 3
    piped = type("Piped", (), {"buffer": io.BytesIO(done.stdout.encode()), "isatty": lambda _: False})()
    monkeypatch.setattr(sys, "stdin", piped)
    items = list(read_items("-"))
    assert [item.images[0].resolve() for item in items] == sorted(p.resolve() for p in pictures.iterdir())


@pytest.fixture
def hl(pictures: Path) -> Path:
    path = pictures / "hl.jsonl"
    scene, action = ["in a park", "in a park", "a lawn"], ["they play"]
    rows = [
        {"file_name": "red.png", "captions": {"scene": scene, "action": action}, "confidence": {"scene": [5, 1, 3]}},
        {"file_name": "green.png", "captions": {"action": ["he runs", "he jogs"]}},
    ]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_references_are_those_of_the_axis(hl: Path, saying: Tell, tmp_path: Path) -> None:
    command("caption", hl, "-c", "saying", "--axis", "scene", "--axis", "action", "-o", tmp_path / "out")
    found = {row["id"]: row for row in lines(tmp_path / "out/captions.jsonl")}
    assert {id: row.get("references", []) for id, row in found.items()} == {
        "red.png#scene": ["in a park", "in a park", "a lawn"], "red.png#action": ["they play"],
        "green.png#scene": [], "green.png#action": ["he runs", "he jogs"],
    }  # fmt: skip
    assert found["green.png#action"]["text"] == "something for the action"
    page = (tmp_path / "out/report.html").read_text()
    assert page.count("data:image/webp") == 2 and "a lawn" in page
    told = command("caption", hl, "-c", "saying", "--axis", "rationale", "-o", tmp_path / "why")
    assert "No caption of the axis 'rationale' is in the file (it has 3 of scene, 3 of action)" in told
    assert not any("references" in row for row in lines(tmp_path / "why/captions.jsonl"))


def test_items_keep_their_id_and_references_and_stories_get_a_sentence_a_picture(
    pictures: Path, saying: Tell, tmp_path: Path
) -> None:
    saying({"red": "One.", "green": "Two.", "blue": "!"})
    rows = [
        {"id": "a", "images": ["red.png"], "text": "of another system", "system": "x", "references": ["ref"]},
        {"id": "a", "images": ["red.png"], "text": "of a third", "system": "y", "references": ["ref"]},
        {"id": "b", "images": ["green.png"]},
        {"id": "c", "image": "green.png", "captions": {"scene": ["a lawn"], "object": ["grass"]}},
        {"id": "s", "images": ["red.png", "green.png"], "text": "Any story."},
        {"id": "t", "images": ["red.png", "blue.png"], "text": "Any story."},
        {"id": "none", "text": "no picture"},
    ]
    (pictures / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows) + "not json\n")
    out = tmp_path / "out"
    assert status("caption", pictures / "items.jsonl", "-c", "saying", "-o", out) == 3
    found = {row["id"]: row for row in lines(out / "captions.jsonl")}
    assert list(found) == ["a", "b", "c", "s"]
    assert (found["a"]["references"], found["b"].get("references")) == (["ref"], None)
    assert found["c"]["references"] == ["grass"]
    assert found["s"]["sentences"] == ["One.", "Two."] and "references" not in found["s"]
    reasons = {row["id"]: row["reason"] for row in lines(out / "failures.jsonl")}
    assert reasons["t"] == "it would not say" and reasons["none"] == "it has no picture to describe"
    assert "not JSON" in reasons[""]
    story = next(item for item in read_items(out / "captions.jsonl") if item.id == "s")
    assert story.sentences == ("One.", "Two.")


def test_what_cannot_be_described_is_a_failure_with_its_reason(
    pictures: Path, saying: Tell, tmp_path: Path
) -> None:
    saying({"red": "a a a a a wall", "green": " . ", "blue": "fine"})
    (pictures / "broken.png").write_bytes((pictures / "red.png").read_bytes()[:60])
    out = tmp_path / "out"
    assert status("caption", pictures, tmp_path / "none.png", "-c", "saying", "-o", out) == 3
    assert [row["text"] for row in lines(out / "captions.jsonl")] == ["fine"]
    reasons = {row["id"]: row["reason"] for row in lines(out / "failures.jsonl")}
    assert reasons["red.png"] == "it repeats itself: 'a a a a a wall'"
    assert reasons["green.png"] == "it says nothing: ' . '"
    assert "damaged picture" in reasons["broken.png"] and "there is no such picture" in reasons["none.png"]
    assert "it repeats itself" in (out / "report.html").read_text()


@pytest.mark.parametrize(
    ("text", "loops"),
    [
        ("a dog and a dog and a dog and a dog", True),
        ("a man on a man on a man on a beach", True),
        ("red red red red", True),
        ("very, very, very tall", False),
        ("a dog and a dog play with a dog", False),
        ("two by two by two", False),
        ("", True),
        ("?!", True),
        ("犬が走る", False),
    ],
)
def test_a_loop_is_told_from_a_sentence(text: str, loops: bool) -> None:
    assert (trouble(text) is not None) is loops


class Stopping(Saying):
    """Says something of a few pictures, then the machine goes down."""

    left = 2

    def describe(self, pictures: Sequence[Image.Image], axis: Axis, decoding: Decoding) -> list[Described]:
        if Stopping.left == 0:
            raise KeyboardInterrupt
        Stopping.left -= 1
        return super().describe(pictures, axis, decoding)


def test_a_run_that_was_stopped_goes_on_where_it_was(
    pictures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [{"id": f"{n}", "images": ["red.png"], "references": [f"r{n}"]} for n in range(100)]
    (pictures / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    asked = ["caption", pictures / "items.jsonl", "-c", "saying", "-o", tmp_path / "out"]
    monkeypatch.setitem(captioners._entries, "saying", lambda _: Stopping({}))
    assert status(*asked) == 130
    journal = tmp_path / "out/unfinished.jsonl"
    assert len(journal.read_bytes().splitlines()) == 1 + 64
    journal.write_bytes(journal.read_bytes()[:-20])  # a line that was cut off

    counted: list[int] = []
    whole = Saying({})
    made = type("Counting", (Saying,), {
        "describe": lambda self, pictures, axis, how: (
            counted.append(len(pictures)), whole.describe(pictures, axis, how)
        )[1]
    })({})  # fmt: skip
    monkeypatch.setitem(captioners._entries, "saying", lambda _: made)
    with pytest.raises(UsageError, match="holds an unfinished run; give --resume to go on or --overwrite"):
        command(*asked)
    with pytest.raises(UsageError, match="belongs to another run"):
        command(*asked, "--resume", "--beams", 5)
    command(*asked, "--resume")
    assert sum(counted) == 100 - 63 and not journal.exists()
    assert [row["id"] for row in lines(tmp_path / "out/captions.jsonl")] == [row["id"] for row in rows]
    assert [row["references"] for row in lines(tmp_path / "out/captions.jsonl")] == [
        row["references"] for row in rows
    ]
    with pytest.raises(UsageError, match="holds captions already; give another folder, or --overwrite them"):
        command(*asked)
    command(*asked, "--overwrite")


def test_in_python_pictures_come_in_any_form(pictures: Path, saying: Tell, tmp_path: Path) -> None:
    saying({"red": "a red wall"})
    found = sightline.caption(
        ["red.png", Image.new("RGB", (8, 8), (255, 0, 0)), {"id": "x", "images": ["blue.png"]}, "none.png"],
        "saying", base=pictures,
    )  # fmt: skip
    assert found.texts == {"red.png": "a red wall", "2": "a red wall", "x": "something for the object"}
    assert [failure.id for failure in found.failures] == ["none.png"]
    table = found.to_pandas()
    assert table.loc["2", "text"] == "a red wall" and table.loc["x", "axis"] == "object"
    assert "a red wall" in found.report(tmp_path / "deep/sheet.html").read_text()
    assert repr(found) == "<Captions: 3 captions; 1 failures>"
    assert len(sightline.score(list(found.items), ["clipscore"]).scores) == 3
    assert set(sightline.caption(pictures, "saying", ["scene", "action"]).texts) == {
        f"{name}.png#{axis}" for name in ("red", "green", "blue") for axis in ("scene", "action")
    }
    with pytest.raises(UsageError, match="unknown axis 'scenes'; did you mean 'scene'"):
        sightline.caption(pictures, "saying", "scenes")
    with pytest.raises(UsageError, match="--axis names each axis once"):
        sightline.caption(pictures, "saying", ["scene", "scene"])


def test_a_captioner_tells_what_it_was_trained_to_tell(pictures: Path, saying: Tell) -> None:
    saying({}, axes=("scene",))
    with pytest.raises(UsageError, match="saying tells of scene, not of object: choose --axis scene"):
        sightline.caption(pictures, "saying")
    with pytest.raises(UsageError, match="no picture in this folder"):
        empty = pictures / "empty"
        empty.mkdir()
        sightline.caption(empty, "saying", "scene")
