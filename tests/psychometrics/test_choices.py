"""Files of preferences and of marked words, from the command line to what it leaves."""

import csv
import json

import pytest
from typer.testing import CliRunner

from sightline.cli.app import app
from sightline.errors import BadLine, UsageError
from sightline.psychometrics.choices import read_choices


def written(folder, rows, name="ratings.jsonl"):
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def votes(rater, item, first, second, share):
    said = {"item": item, "rater": rater, "criterion": "better", "phase": "play"}
    return [{**said, "system": first, "value": share}, {**said, "system": second, "value": 1 - share}]


def run(*words):
    found = CliRunner().invoke(app, ["psych", *map(str, words)], catch_exceptions=True)
    if isinstance(found.exception, Exception) and not isinstance(found.exception, SystemExit):
        raise found.exception
    return found


def test_preferences_from_ratings_to_strengths(tmp_path):
    rows = []
    for item in range(20):
        rows += votes("ada", f"p{item}", "old", "new", 0 if item % 4 else 1)
        rows += votes("ben", f"p{item}", "new", "old", 1 if item % 3 else 0.5)
    found = run(written(tmp_path, rows), "-o", tmp_path / "out")
    assert found.exit_code == 0, found.output
    assert "new is preferred to old" in found.output
    with (tmp_path / "out" / "preferences.csv").open() as lines:
        new, old = csv.DictReader(lines)
    assert (new["name"], new["wins"], new["losses"], new["ties"]) == ("new", "28", "5", "7")
    assert float(new["low"]) < float(new["strength"]) < float(new["high"])
    assert float(new["strength"]) == pytest.approx(-float(old["strength"]))
    summary = json.loads((tmp_path / "out" / "fit.json").read_text())
    assert (summary["comparisons"], summary["clusters"]) == (40, 40)
    assert "Bradley-Terry" in summary["model"]
    assert "new" in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        (votes("a", "p", "x", "y", 1)[:1], "second is missing"),
        ([{**row, "value": 1} for row in votes("a", "p", "x", "y", 1)], "no choice between"),
        ([{**row, "value": 0.3} for row in votes("a", "p", "x", "y", 1)], "is not 1"),
    ],
)
def test_what_is_no_comparison_is_told_with_its_line(tmp_path, rows, why):
    with pytest.raises(BadLine, match=why):
        read_choices(written(tmp_path, rows))


def marked_items(tmp_path):
    items = [
        {"id": "a", "images": [], "text": "A red dog sits there.", "errors": [[1, 2], [2], []]},
        {"id": "b", "images": [], "sentences": ["Two men.", "They run."], "errors": [[], [], [3]]},
    ]
    return written(tmp_path, items, "items.jsonl")


def test_marked_words_from_items_to_agreement(tmp_path):
    found = run(marked_items(tmp_path), "-o", tmp_path / "out")
    assert found.exit_code == 0, found.output
    assert "raters agree on words with alpha" in found.output
    with (tmp_path / "out" / "words.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    assert [
        (row["item"], row["word"], round(float(row["marked"]), 2)) for row in rows if float(row["marked"])
    ] == [
        ("a", "red", 0.33),
        ("a", "dog", 0.67),
        ("b", "run.", 0.33),
    ]


def test_a_metrics_phrases_are_held_against_marked_words(tmp_path):
    phrase = {"text": "A red dog", "sentence": 0, "start": 0, "end": 9, "similarity": 0.4, "penalized": 0.4}
    phrase |= {"weight": 1.0, "contribution": 0.4}
    sky = {**phrase, "text": "Two men", "end": 7, "similarity": 0.9}
    lines = [
        {"id": "a", "metric": "groovist", "score": 0.1, "signature": "x"}
        | {"evidence": {"sentences": ["A red dog sits there."], "phrases": [phrase], "threshold": 0.7}},
        {"id": "b", "metric": "groovist", "score": 0.1, "signature": "x"}
        | {"evidence": {"sentences": ["Two men.", "They run."], "phrases": [sky], "threshold": 0.7}},
    ]
    (tmp_path / "run").mkdir()
    written(tmp_path / "run", lines, "scores.jsonl")
    found = run(marked_items(tmp_path), "-o", tmp_path / "out", "--evidence", tmp_path / "run")
    assert found.exit_code == 0, found.output
    phrases = json.loads((tmp_path / "out" / "fit.json").read_text())["phrases"]
    assert (phrases["called"], phrases["marked"], phrases["both"], phrases["phrases"]) == (1, 1, 1, 2)
    assert phrases["precision"]["value"] == phrases["recall"]["value"] == 1
    with pytest.raises(UsageError, match="no evidence"):
        run(
            marked_items(tmp_path),
            "-o",
            tmp_path / "out",
            "--evidence",
            tmp_path / "run",
            "--metric",
            "rovist-vg",
        )


def test_single_ratings_of_marked_words_name_the_file_that_is_needed(tmp_path):
    rows = [{"item": "a", "rater": r, "criterion": "errors", "value": 1} for r in "xy"]
    with pytest.raises(UsageError, match="--what items"):
        read_choices(written(tmp_path, rows))
