"""What is wrong with systems that are to be compared is told, and counted where the rest can go on."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sightline.api import compare
from sightline.cli.app import load_commands
from sightline.errors import UsageError


def run(*words: object) -> Any:
    return CliRunner().invoke(load_commands(), ["compare", *map(str, words), "--no-cache"])


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def texts(path: Path, prefix: str = "", references: bool = True, **more: str) -> Path:
    said = ("A dog runs.", "A cat sits on a chair.", "Two men talk.")
    known = {"references": ["A brown dog runs.", "A cat on a chair."]} if references else {}
    return lines(path, [{"id": f"{prefix}{n}", "text": text, **known, **more} for n, text in enumerate(said)])


def scores(path: Path, values: list[float | None]) -> Path:
    """As another program writes them: Python's NaN and Infinity, or null."""
    rows = [
        {"id": str(n), "metric": "m", "score": value, "signature": "m|x", "evidence": {}}
        for n, value in enumerate(values)
    ]
    return lines(path, rows)


def test_scores_that_are_no_numbers_are_failures_that_are_counted_and_told(tmp_path: Path) -> None:
    odd = scores(tmp_path / "odd.jsonl", [1.0, math.nan, None, math.inf, 2.0, 3.0])
    plain = scores(tmp_path / "plain.jsonl", [0.5] * 6)
    done = run(f"odd={odd}", f"plain={plain}", "-o", tmp_path / "out")
    assert done.exit_code == 3, done.output
    found = json.loads((tmp_path / "out" / "compare.json").read_text())
    assert (found["pairs"][0]["n"], found["pairs"][0]["wins"]) == (3, 3)
    assert found["systems"]["odd"]["m"]["failed"] == 3 and found["systems"]["odd"]["m"]["mean"] == 2.0
    assert any(
        "3 items of odd could not be scored (there is no score (NaN, null or empty))" in note
        for note in found["notes"]
    )
    reasons = (tmp_path / "out" / "failures.jsonl").read_text()
    assert reasons.count("there is no score") == 2 and reasons.count("the score is inf") == 1
    never = scores(tmp_path / "never.jsonl", [math.nan] * 6)
    fault = str(run(f"never={never}", f"plain={plain}").exception)
    assert "could not score any item of never (there is no score (NaN, null or empty))" in fault


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"prefix": "x"}, "with a score in the same metric: their ids differ (a has '0', b has 'x0')"),
        ({"references": False}, "rouge-l could not score any caption of b (there are no references)"),
    ],
)  # fmt: skip
def test_systems_that_share_nothing(tmp_path: Path, other: dict[str, Any], says: str) -> None:
    a, b = texts(tmp_path / "a.jsonl"), texts(tmp_path / "b.jsonl", **other)
    done = run(f"a={a}", f"b={b}", "-m", "rouge-l")
    assert isinstance(done.exception, UsageError) and says in str(done.exception)


def test_lines_that_are_no_items_are_failures_of_the_system_whose_they_are(tmp_path: Path) -> None:
    a, b = texts(tmp_path / "a.jsonl"), texts(tmp_path / "b.jsonl")
    b.write_text(b.read_text() + "no JSON\n{\n")
    done = run(f"a={a}", f"b={b}", "-m", "rouge-l", "-o", tmp_path / "out")
    found = json.loads((tmp_path / "out" / "compare.json").read_text())
    assert done.exit_code == 3
    assert [found["systems"][name]["rouge-l"]["failed"] for name in "ab"] == [0, 2]
    assert any("rouge-l: 2 items of b could not be scored (not JSON" in note for note in found["notes"])
    both = tmp_path / "both.jsonl"
    rows = [json.loads(line) | {"system": name} for name in "ab" for line in a.read_text().splitlines()]
    lines(both, [*rows, {"id": "9", "system": "b", "text": 7}, {"id": 8.5}])
    told = json.loads(run(both, "-m", "rouge-l", "--json").stdout)
    assert [told["systems"][name]["rouge-l"]["failed"] for name in "ab"] == [0, 1]
    assert any("1 line could not be read" in note for note in told["notes"]), "nobody knows whose it is"
    again = compare({"a": a, "b": b}, ["rouge-l"], cache=None)
    assert again.summary["pairs"] == found["pairs"] and len(again.failures) == 2


def test_texts_of_no_system_and_of_one(tmp_path: Path) -> None:
    assert "no system is named" in str(run(texts(tmp_path / "a.jsonl"), "-m", "rouge-l").exception)
    one = texts(tmp_path / "b.jsonl", system="ours")
    assert "there is one system, ours" in str(run(one, "-m", "rouge-l").exception)


def test_a_metric_that_failed_on_one_side_leaves_the_others(tmp_path: Path) -> None:
    a, b = texts(tmp_path / "a.jsonl"), texts(tmp_path / "b.jsonl", references=False)
    done = run(f"a={a}", f"b={b}", "-m", "rouge-l,rovist-nr", "--json")
    found = json.loads(done.stdout)
    assert done.exit_code == 3 and [pair["metric"] for pair in found["pairs"]] == ["rovist-nr"]
    assert any("rouge-l: 3 items of b could not be scored" in note for note in found["notes"])


def test_a_run_of_another_version_is_refused_with_what_mends_it(tmp_path: Path) -> None:
    for name in "ab":
        file = texts(tmp_path / f"{name}.jsonl")
        words = ["score", str(file), "-m", "rouge-l", "-q", "--no-cache", "-o", str(tmp_path / name)]
        assert CliRunner().invoke(load_commands(), words).exit_code == 0
    folders = [f"{name}={tmp_path / name}" for name in "ab"]
    summary = tmp_path / "b" / "summary.json"
    version = json.loads(summary.read_text())["versions"]["sightline"]
    summary.write_text(summary.read_text().replace(f"version:{version}", "version:0.0.9"))
    fault = str(run(*folders).exception)
    assert f"version is {version} in a, 0.0.9 in b; score all files anew: sightline compare" in fault
    summary.write_text('{"metrics": {}}')
    assert "older version of Sightline; score the file again" in str(run(*folders).exception)
    summary.write_text("{")
    assert "not the summary of a run" in str(run(*folders).exception)
