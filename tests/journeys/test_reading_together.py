"""From a file of captions to which words speak against them, and from people's ratings to a rater that reads too."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sightline
from sightline.cli.app import load_commands
from sightline.encoders.rater import load_rater

DEMO = Path(sightline.__file__).parent / "demo"


def run(*arguments: object) -> str:
    result = CliRunner().invoke(load_commands(), [str(one) for one in arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_true_stories_are_above_wrong_ones_and_the_wrong_words_are_named(tmp_path: Path) -> None:
    command = ["score", DEMO / "stories.jsonl", "-m", "match", "--cache", tmp_path / "cache"]
    run(*command, "-o", tmp_path / "out")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    mean = {system: row["match"]["mean"] for system, row in summary["systems"].items()}
    assert mean["good"] > mean["mediocre"] > mean["wrong"]
    rows = [json.loads(line) for line in (tmp_path / "out" / "scores.jsonl").read_text().splitlines()]
    marked = [word for row in rows for word in row["evidence"]["words"] if word["change"]]
    assert marked
    assert all(-1 < word["change"] < 1 for word in marked)
    assert "speaks against" in (tmp_path / "out" / "report.html").read_text("utf-8")
    run(*command, "-o", tmp_path / "again")  # from kept maps: the same to the bit
    assert (tmp_path / "out" / "scores.jsonl").read_bytes() == (
        tmp_path / "again" / "scores.jsonl"
    ).read_bytes()


def test_a_rater_learns_from_what_is_read_and_names_what_read_it(tmp_path: Path) -> None:
    stories = [json.loads(line) for line in (DEMO / "stories.jsonl").read_text("utf-8").splitlines()]
    level = {"good": 4, "mediocre": 3, "wrong": 1}
    with (tmp_path / "rated.jsonl").open("w") as file:
        for story in stories:
            if story["system"] not in level:
                continue
            for number, (image, text) in enumerate(
                zip(story["images"], story.get("sentences", []), strict=False)
            ):
                row = {
                    "id": f"{story['id']}-{number}", "images": [str(DEMO / image)], "text": text,
                    "system": story["system"], "ratings": {"overall": [level[story["system"]]] * 2},
                }  # fmt: skip
                file.write(json.dumps(row) + "\n")
    out = tmp_path / "rater"
    run("train", "rater", tmp_path / "rated.jsonl", "--together", "--scale", "1-5", "--folds", "3", "-o", out)
    rater = load_rater(str(out / "rater.npz"))
    assert rater.together
    assert rater.arrays["w_r"].shape == rater.arrays["read_mean"].shape
    run(
        "score",
        tmp_path / "rated.jsonl",
        "-m",
        "vicr",
        "--rater",
        out / "rater.npz",
        "-o",
        tmp_path / "scored",
    )
    score = json.loads((tmp_path / "scored" / "scores.jsonl").read_text().splitlines()[0])
    assert f"together:{rater.together}" in score["signature"]
    result = CliRunner().invoke(
        load_commands(),
        ["train", "rater", str(tmp_path / "rated.jsonl"), "--together", "--form", "paper", "-o", str(out)],
    )
    assert isinstance(result.exception, sightline.UsageError)
    assert "--together is for --form bilinear" in str(result.exception)
    with pytest.raises(sightline.UsageError, match="was trained with the reading network"):
        rater.fits_reader("another")
