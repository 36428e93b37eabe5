"""Metrics by benchmarks: published files of several studies in, one table out."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from chat_server import chat_server
from doors import command
from judge_answers import JudgeAnswers
from sightline.errors import UsageError

WORDS = "a dog cat man woman boat river tree house red blue small runs sits near".split()


def text(seed: int) -> str:
    return " ".join(np.random.default_rng(seed).choice(WORDS, 7))


@pytest.fixture
def studies(tmp_path: Path) -> Path:
    """PASCAL-50S and Nebula in small, each in a folder of its name."""
    photos = tmp_path / "pascal-50s" / "VOC2012" / "JPEGImages", tmp_path / "nebula" / "images"
    for folder in photos:
        folder.mkdir(parents=True)
        for n in range(8):
            levels = np.random.default_rng(n).integers(0, 256, (16, 16, 3), dtype=np.uint8)
            Image.fromarray(levels).save(folder / f"{n}.jpg")
    pairs: dict[str, list[dict[str, Any]]] = {
        kind: [
            {
                "image": f"VOC2012/JPEGImages/{n % 8}.jpg", "captions": [text(2 * n), text(2 * n + 1)], "label": n % 2,
                "references": [text(2 * n + n % 2), text(900 + n)],
            }
            for n in range(12)
        ]
        for kind in ("HC", "HI", "HM", "MM")
    }  # fmt: skip
    (tmp_path / "pascal-50s" / "pascal_50s.json").write_text(json.dumps(pairs))
    rows = [
        {
            "imgid": f"{n % 8}.jpg",
            "mt": text(n),
            "refs": [text(n + 500 * (n % 3)), text(n + 1)],
            "score": n % 5 / 4,
        }
        for n in range(40)
    ]
    (tmp_path / "nebula" / "nebula_test.json").write_text(json.dumps(rows))
    return tmp_path


def test_one_table_with_intervals_and_costs(studies: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with chat_server(JudgeAnswers()) as url:
        told = ["--protocol", "pascal-50s", "--protocol", "nebula", "--data", studies, "--samples", "100"]
        metrics = ["-m", "bleu-1", "-m", "rouge-l", "-m", "judge:model=m,criterion=vicr"]
        said = command("meta", *told, *metrics, "--judge-url", url, "--no-cache", "-o", out)
    board = json.loads((out / "leaderboard.json").read_text())
    assert [(one["protocol"], one["criterion"], one["coefficient"]) for one in board["benchmarks"]] == [
        ("pascal-50s", "preference", "pairwise_accuracy"),
        ("nebula", "score", "kendall_c"),
    ]
    by = {row["metric"]: row for row in board["rows"]}
    for row in by.values():
        for cell in row["values"].values():
            low, high = cell["ci"]
            assert low <= cell["value"] <= high
        assert row["seconds_an_item"] > 0
    assert by["bleu-1"]["values"]["pascal-50s"]["n"] == 48 and by["bleu-1"]["tokens_an_item"] is None
    assert by["judge:model=m,criterion=vicr"]["tokens_an_item"] == 102
    single = command(
        "meta", "--protocol", "nebula", "--data", studies / "nebula", "-m", "rouge-l", "--samples", "0",
        "-o", tmp_path / "one",
    )  # fmt: skip
    assert single
    (alone,) = json.loads((tmp_path / "one" / "meta.json").read_text())["rows"]
    assert alone["kendall_c"] == by["rouge-l"]["values"]["nebula"]["value"]
    markdown = (out / "leaderboard.md").read_text()
    assert "| bleu-1 |" in markdown and "tokens an item" in markdown and "Vedantam" in markdown
    latex = (out / "leaderboard.tex").read_text()
    assert latex.count(r"\textbf") >= 2 and r"\toprule" in latex
    page = (out / "report.html").read_text()
    assert (
        "Metrics by benchmarks" in page
        and "accuracy in pairs" in page
        and "http://" not in re.sub(r"http://www\.w3\.org", "", page).replace(url, "")
    )
    assert "Metrics by benchmarks" in said


def test_one_folder_for_each_or_one_for_all(studies: Path, tmp_path: Path) -> None:
    told = ["meta", "--protocol", "pascal-50s", "--protocol", "nebula", "-m", "bleu-1", "--samples", "0"]
    each = ["--data", studies / "pascal-50s", "--data", studies / "nebula"]
    command(*told, *each, "-o", tmp_path / "each")
    command(*told, "--data", studies, "-o", tmp_path / "all")
    one, other = (
        json.loads((tmp_path / name / "leaderboard.json").read_text())["rows"][0] for name in ("each", "all")
    )
    assert one["values"] == other["values"]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ([], "give --data DIR"),
        (["--data", "a", "--data", "b", "--data", "c"], "2 protocols and 3 folders"),
        (["--data", "nowhere"], "is no folder"),
        (["--data", "nowhere", "--experiment", "length"], "no FILE and no experiment"),
    ],
)
def test_wrong_use_is_one_clear_line(tmp_path: Path, more: list[str], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        command(
            "meta",
            "--protocol",
            "pascal-50s",
            "--protocol",
            "nebula",
            "-m",
            "bleu-1",
            *more,
            "-o",
            tmp_path / "out",
        )
