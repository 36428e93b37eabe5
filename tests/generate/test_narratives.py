"""`sightline narrate`: threes from files, the prompt and what comes back, the loop with people in it."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from chat_server import Reply, chat_server, refused, said
from doors import command
from sightline.cli.app import load_commands
from sightline.errors import Unscorable, UsageError
from sightline.generate.narratives import Triple, triples_at
from sightline.generate.prompting import sentence_in
from sightline.io import read_items
from sightline.items import Failure
from tiny_captioners import save_t5


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def hl(pictures: Path) -> Path:
    rows = [
        {"file_name": f"{name}.png", "captions": {
            "scene": ["in a house", "the picture is taken in a house"],
            "action": ["they are playing", f"the {who} sits"],
            "rationale": ["having fun", "to have fun"], "object": ["a red wall"]},
         "narrative": ["They are playing in a house, having fun."]}
        for name, who in (("red", "man"), ("green", "woman"), ("blue", "dog"))
    ]  # fmt: skip
    rows.append({"file_name": "lone.png", "captions": {"scene": ["in a park"], "action": ["he runs"]}})
    (pictures / "hl.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return pictures / "hl.jsonl"


def status(*line: object) -> int:
    return CliRunner().invoke(load_commands(), [str(part) for part in line]).exit_code


def test_narratives_keep_their_sources_and_can_be_scored(hl: Path, tmp_path: Path) -> None:
    assert status("narrate", hl, "-o", tmp_path / "out") == 3
    rows = lines(tmp_path / "out/narratives.jsonl")
    assert len(rows) == 6 and rows[1]["id"] == "red.png#narrative-1"
    assert rows[1]["text"] == "The man sits in a house to have fun."
    assert rows[1]["sources"] == {
        "scene": "the picture is taken in a house", "action": "the man sits", "rationale": "to have fun",
    }  # fmt: skip
    assert rows[0]["references"] == ["They are playing in a house, having fun."]
    assert (rows[0]["axis"], rows[0]["system"]) == ("narrative", "compose")
    assert not any("lost" in row for row in rows)
    (failure,) = lines(tmp_path / "out/failures.jsonl")
    assert (failure["id"], failure["reason"]) == ("lone.png", "there is no caption of rationale")
    assert len(list(read_items(tmp_path / "out/narratives.jsonl"))) == 6
    assert (tmp_path / "out/report.html").read_text().count("data:image/webp") == 3
    with pytest.raises(UsageError, match="holds narratives already"):
        command("narrate", hl, "-o", tmp_path / "out")


def test_captions_of_several_axes_are_joined_too(pictures: Path, tmp_path: Path) -> None:
    said = {"scene": "in a park", "action": "he runs", "rationale": "he is late"}
    rows = [
        {"id": f"red.png#{axis}", "images": ["red.png"], "text": text, "system": "git", "axis": axis}
        for axis, text in said.items()
    ]
    (pictures / "captions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    command("narrate", pictures / "captions.jsonl", "-o", tmp_path / "out")
    (row,) = lines(tmp_path / "out/narratives.jsonl")
    assert (row["id"], row["text"]) == ("red.png#narrative-0", "He runs in a park because he is late.")
    (pictures / "plain.jsonl").write_text('{"id": "1", "images": ["red.png"], "text": "a wall"}\n')
    with pytest.raises(UsageError, match="no caption names its axis"):
        command("narrate", pictures / "plain.jsonl", "-o", tmp_path / "none")


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ("they are playing in a house for fun.>", "They are playing in a house for fun."),
        ("<They play in a house>\n The three sentences are: 'a','b','c' <x>", "They play in a house."),
        ('Sure, here is the merged sentence:\n\n"They play in a house."', "They play in a house."),
        ("Here's the sentence: They play.", "They play."),
        ("  they play in a house\nand more talk", "They play in a house."),
        ("&lt;They play!&gt;", "They play!"),
    ],
)
def test_the_sentence_is_found_in_an_answer(answer: str, sentence: str) -> None:
    assert sentence_in(answer) == sentence


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", "holds no sentence"),
        ("<...>", "holds no sentence"),
        ("Given three sentences merge them into one", "repeats the question"),
        ("They play. They also eat.", "more than one sentence"),
        ("word " * 100, "longer than a sentence"),
    ],
)
def test_an_answer_without_a_sentence_is_a_failure(answer: str, reason: str) -> None:
    with pytest.raises(Unscorable, match=reason):
        sentence_in(answer)


def test_a_chat_model_gets_hl_s_prompt(hl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def answer(body: dict[str, Any]) -> Reply:
        text = body["messages"][0]["content"][0]["text"]
        asked.append(text)
        if "the dog sits" in text:
            return refused(400, "not this one")
        return said(
            "they are playing to have fun.>" if "are playing" in text else "the man sits in a house for fun>"
        )

    with chat_server(answer) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        assert status("narrate", hl, "-o", tmp_path / "out", "--way", "prompt", "--model", "chat:m") == 3
    assert any(
        text.endswith("The three sentences are: 'in a house','they are playing','having fun' <")
        for text in asked
    )
    rows = {row["id"]: row for row in lines(tmp_path / "out/narratives.jsonl")}
    assert rows["red.png#narrative-0"]["text"] == "They are playing to have fun."
    assert (
        rows["red.png#narrative-0"]["lost"] == ["scene"] and rows["red.png#narrative-0"]["system"] == "chat:m"
    )
    assert "lost: scene" in (tmp_path / "out/report.html").read_text()
    assert "the server refuses it (" in lines(tmp_path / "out/failures.jsonl")[-1]["reason"]
    for line, message in {
        ("--way", "prompt"): "--way prompt needs a model: --model chat:NAME",
        ("--way", "compose", "--model", "x"): "--way compose needs no --model",
    }.items():
        with pytest.raises(UsageError, match=message):
            command("narrate", hl, "-o", tmp_path / "other", *line)


def test_the_loop_waits_for_people_learns_and_ends(tmp_path: Path) -> None:
    import torch

    torch.set_num_threads(1)
    rows = [
        {"file_name": f"{n}.png", "captions": {"scene": ["in a house"], "action": ["the man sits"],
                                               "rationale": ["having fun"]}}
        for n in range(8)
    ]  # fmt: skip
    (tmp_path / "hl.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    t5, out = save_t5(tmp_path / "t5"), tmp_path / "out"
    asked = ("narrate", tmp_path / "hl.jsonl", "--way", "loop", "--model", t5, "-o", out, "--pictures", 3)

    def correct(number: int, narrative: str, rows: int | None = None) -> None:
        path = out / f"round-{number}/corrections.csv"
        with path.open(newline="") as file:
            read = list(csv.DictReader(file))
        for row in read[:rows]:
            row["narrative"] = narrative
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(read[0]))
            writer.writeheader()
            writer.writerows(read)

    with pytest.raises(UsageError, match="the paraphraser '/nowhere': there is no such folder"):
        command(*asked[:4], "--model", "/nowhere", "-o", tmp_path / "none")
    assert "Waiting for 3 of 3 narratives" in command(*asked)
    correct(0, "ok", 2)
    assert "Waiting for 1 of 3 narratives" in command(*asked)
    assert not (out / "round-0/model").exists()
    correct(0, "the man sits in a house having fun")
    told = command(*asked)
    first = json.loads((out / "round-0/round.json").read_text())
    assert first["learned"] == 2 and first["held_out"] == 1 and first["after"] < first["before"]
    assert "learned from 2 narratives" in told and "Waiting for 3 of 3" in told
    with pytest.raises(UsageError, match="holds a loop with other pictures, seed; repeat that one"):
        command(*asked[:-1], 4, "--seed", 1)
    correct(1, "the man sits in a house having fun")
    (out / "round-1/model.part").mkdir()  # a training that was cut off
    command(*asked)
    second = json.loads((out / "round-1/round.json").read_text())
    assert second["learned"] + second["held_out"] == 6
    correct(2, "the man sits in a house having fun", 1)
    assert "Waiting for 1 of 2" in command(*asked)
    told = CliRunner().invoke(load_commands(), [str(part) for part in (*asked, "--finish")]).output
    assert "learned from all 7 narratives" in " ".join(told.split())
    made, failed = lines(out / "narratives.jsonl"), lines(out / "failures.jsonl")
    assert len(made) + len(failed) == 8
    again = tmp_path / "again"
    status("narrate", tmp_path / "hl.jsonl", "--way", "paraphrase", "--model", out / "model", "-o", again)
    assert [row["text"] for row in lines(again / "narratives.jsonl")] == [row["text"] for row in made]


def test_what_people_wrote_already_is_filled_in(hl: Path) -> None:
    found = [one for one in triples_at(hl) if isinstance(one, Triple)]
    assert [one.gold for one in found] == [("They are playing in a house, having fun.",)] * 6
    assert [one.id for one in triples_at(hl) if isinstance(one, Failure)] == ["lone.png"]
