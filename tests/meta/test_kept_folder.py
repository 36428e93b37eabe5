"""A comparison written into a folder that holds results already: added to, or refused; never replaced in silence."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sightline.cli.app import load_commands
from sightline.errors import UsageError

SAID = {
    "a": ["A dog runs.", "A cat sits.", "A man."],
    "b": ["A dog.", "A cat sits.", "Men."],
    "c": ["It."] * 3,
}


def run(*words: object) -> Any:
    return CliRunner().invoke(load_commands(), [*map(str, words), "--no-cache", "-q"])


def refused(*words: object) -> str:
    done = run(*words)
    assert isinstance(done.exception, UsageError), done.output
    return str(done.exception)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder for each of three systems, scored in two metrics."""
    for name, texts in SAID.items():
        rows = [
            {"id": str(n), "text": text, "references": ["A dog runs.", "A cat."]}
            for n, text in enumerate(texts)
        ]
        file = tmp_path / f"{name}.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        assert run("score", file, "-m", "rouge-l,bleu-1", "-o", tmp_path / name).exit_code == 0
    return tmp_path


def metrics_of(folder: Path) -> list[str]:
    return [pair["metric"] for pair in json.loads((folder / "compare.json").read_text())["pairs"]]


def test_another_metric_is_added_and_all_else_refused(runs: Path) -> None:
    two, out = (f"a={runs / 'a'}", f"b={runs / 'b'}"), runs / "out"
    assert run("compare", *two, "-m", "rouge-l", "-o", out).exit_code == 0
    assert run("compare", *two, "-m", "bleu-1", "-o", out).exit_code == 0
    assert metrics_of(out) == ["rouge-l", "bleu-1"]
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    other = (f"a={runs / 'a'}", f"c={runs / 'c'}")
    assert "another input" in refused("compare", *other, "-o", out)
    assert "against not given, not a" in refused("compare", *two, "--against", "a", "-o", out)
    assert "samples 1000, not 200" in refused("compare", *two, "--samples", 200, "-o", out)
    assert "another input" in refused("compare", *two, "-o", runs / "c")
    assert "one of the runs that are compared" in refused("compare", *two, "-o", runs / "a")
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert not (runs / "c" / "compare.json").exists()
    assert run("compare", *other, "-o", out, "--overwrite").exit_code == 0
    assert {pair["b"] for pair in json.loads((out / "compare.json").read_text())["pairs"]} == {"c"}


def test_a_run_of_several_systems_is_compared_in_its_own_folder(runs: Path) -> None:
    rows = [
        json.dumps({**json.loads(line), "system": name})
        for name in SAID
        for line in (runs / f"{name}.jsonl").read_text().splitlines()
    ]
    (runs / "all.jsonl").write_text("\n".join(rows) + "\n")
    out = runs / "all"
    assert run("score", runs / "all.jsonl", "-m", "rouge-l", "-o", out).exit_code == 0
    scores = (out / "scores.jsonl").read_bytes()
    assert run("compare", out, "-o", out).exit_code == 0
    assert len(metrics_of(out)) == 3
    assert (out / "scores.jsonl").read_bytes() == scores and (out / "items.parquet").is_file()
    assert run("score", runs / "all.jsonl", "-m", "bleu-1", "-o", out).exit_code == 0, (
        "it is still that run's"
    )


def test_files_of_scores_are_known_again(runs: Path) -> None:
    two = [f"{name}={runs / name / 'scores.jsonl'}" for name in "ab"]
    assert run("compare", *two, "-o", runs / "out").exit_code == 0
    assert run("compare", *two, "-o", runs / "out").exit_code == 0
    assert "another input" in refused(
        "compare", two[0], f"c={runs / 'c' / 'scores.jsonl'}", "-o", runs / "out"
    )
