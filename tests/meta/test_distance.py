"""d_HM: published figures from published scores, and the formula's properties."""

import gzip
import json
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from sightline.cli.app import load_commands
from sightline.errors import UsageError
from sightline.meta.comparison.board import Board
from sightline.meta.comparison.distance import PARTS, deviation, distance, squashed
from sightline.meta.comparison.score_tables import holds_scores, scores_in

finite = st.floats(-5, 5)
pairs = st.dictionaries(st.text(max_size=3), st.tuples(finite, finite), min_size=1, max_size=20)


def test_published_distance_of_llava_on_vist(data: Path) -> None:
    path = data / "vist_published_scores.jsonl.gz"
    board = Board.of(scores_in(path))
    human, llava = ({m: board.scores(m, system) for m in board.metrics} for system in ("human", "llava"))
    found = distance(human, llava)
    published = {"groovist": 0.2079, "rovist-c": 0.1456, "rovist-nr": 0.1193}
    for metric, value in published.items():
        assert found.parts[metric].deviation == pytest.approx(value, abs=0.01)
    assert found.d_hm == pytest.approx(0.1576, abs=0.01)
    assert found.parts["rovist-c"].generated > found.parts["rovist-c"].human


@settings(max_examples=30, deadline=None)
@given(pairs)
def test_deviation_is_symmetric_and_zero_for_equal_sides(stories: dict[str, tuple[float, float]]) -> None:
    left = {story: scores[0] for story, scores in stories.items()}
    right = {story: scores[1] for story, scores in stories.items()}
    one, other, same = (deviation("m", a, b) for a, b in ((left, right), (right, left), (left, left)))
    assert one and other and same
    assert one.deviation == pytest.approx(other.deviation)
    assert one.higher + other.higher == pytest.approx(1)
    assert same.deviation == 0


def test_only_groovist_is_squashed_and_only_once() -> None:
    assert squashed("groovist", 1.0) == squashed("groovist:weights=idf", 1.0) == math.tanh(1.0)
    assert squashed("groovist:tanh=on", 0.7) == 0.7
    assert squashed("rovist-c", 0.9) == 0.9


def test_a_missing_part_leaves_d_hm_undefined() -> None:
    scores = {"groovist": {"a": 1.0}, "rovist-c": {"a": 0.5}}
    found = distance(scores, scores)
    assert found.d_hm is None and list(found.parts) == ["groovist", "rovist-c"]
    assert distance({"groovist": {"a": 1.0}}, {"groovist": {"b": 1.0}}).parts == {}


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)) + "\n", "utf-8")
    return path


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path]:
    run = tmp_path / "run"
    run.mkdir()
    rows: list[dict[str, object]] = [
        {"id": story, "metric": metric, "score": score, "signature": f"{metric}|x"}
        for metric in PARTS
        for story, score in (("a", 0.5), ("b", 0.25), ("c", 1.0))
    ]
    write(run / "scores.jsonl", rows)
    wide = [
        {"story_id": s, "groovist": 0.5, "rovist_c": 1.0, "rovist_nr": None if s == "b" else 0.5}
        for s in "ab"
    ]
    return run, write(tmp_path / "wide.jsonl", wide)  # type: ignore[arg-type]


def test_compare_reads_runs_and_published_rows(sides: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = CliRunner().invoke(load_commands(), ["compare", *map(str, sides), "-o", str(out)])
    assert done.exit_code == 3 and "there is no score" in done.output  # null in one row
    found = json.loads((out / "compare.json").read_text())
    parts = {metric: part["deviation"] for metric, part in found["parts"].items()}
    tanh = (math.tanh(0.5) - math.tanh(0.25)) / 2
    assert parts == pytest.approx({"groovist": tanh, "rovist-c": 0.625, "rovist-nr": 0.0})
    assert found["d_hm"] == pytest.approx((tanh + 0.625) / 3)
    assert any("no counterpart" in note for note in found["notes"])
    page = (out / "report.html").read_text()
    assert "d_HM" in page and "tanh(GROOViST)" in page and "<script" not in page


def test_compare_scores_stories_itself(tmp_path: Path) -> None:
    human = [
        {"id": "a", "sentences": ["we ran fast .", "then we slept well ."]},
        {"id": "b", "sentences": ["one ."]},
    ]
    generated = [{"id": "a", "sentences": ["we ran .", "we ran ."]}]
    files = write(tmp_path / "h.jsonl", human), write(tmp_path / "g.jsonl", generated)  # type: ignore[arg-type]
    done = CliRunner().invoke(
        load_commands(), ["compare", *map(str, files), "-m", "rovist-nr", "-o", str(tmp_path / "out")]
    )
    assert done.exit_code == 0, done.output
    part = json.loads((tmp_path / "out" / "compare.json").read_text())["parts"]["rovist-nr"]
    assert part["n"] == 1 and part["human"] > part["generated"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"story_id": "a", "rovist_c": 1.0}, {"story_id": "a", "rovist_c": 0.5}], "second rovist-c score"),
        ([{"rovist_c": 1.0}], "needs 'id'"),
        ([{"id": "a", "rovist_c": "high"}], "is not a score"),
    ],
)
def test_bad_tables(tmp_path: Path, rows: list[dict[str, object]], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Board.of(scores_in(write(tmp_path / "t.jsonl", rows)))


def test_a_score_that_is_nan_or_null_counts_as_failed(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(
        '{"id": "a", "rovist_c": NaN}\n{"id": "b", "rovist_c": null}\n{"id": "c", "rovist_c": 0.5}\n'
    )
    board = Board.of(scores_in(path))
    (column,) = board.columns["rovist-c"].values()
    assert column.ids == ["c"] and column.failed == 2


def test_what_holds_scores(sides: tuple[Path, Path], tmp_path: Path) -> None:
    assert all(map(holds_scores, sides))
    assert not holds_scores(write(tmp_path / "items.jsonl", [{"id": "a", "text": "One. Two."}]))
    (tmp_path / "bad.jsonl").write_text("{\n")
    with pytest.raises(UsageError, match=r"bad\.jsonl:1: not JSON"):
        holds_scores(tmp_path / "bad.jsonl")


def test_scores_in_any_table(tmp_path: Path) -> None:
    """A run's scores.parquet with its evidence, a spreadsheet, a zipped file: the same scores."""
    rows = [{"id": "a", "system": "x", "rovist_c": 0.5}, {"id": "b", "system": "x", "rovist_c": None}]
    zipped = tmp_path / "t.jsonl.gz"
    zipped.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))
    (tmp_path / "t.csv").write_text("id,system,rovist_c\na,x,0.5\nb,x,\n")
    one, other = ([*scores_in(path)] for path in (zipped, tmp_path / "t.csv"))
    assert [(s.key, s.metric) for s in one] == [(s.key, s.metric) for s in other]
    assert one[0].score == other[0].score == 0.5 and math.isnan(one[1].score) and math.isnan(other[1].score)
    stories = write(tmp_path / "s.jsonl", [{"id": "a", "text": "We ran. We sat."}])
    CliRunner().invoke(
        load_commands(), ["score", str(stories), "-m", "rovist-nr", "-o", str(tmp_path / "run")]
    )
    lines, table = ([*scores_in(tmp_path / "run" / name)] for name in ("scores.jsonl", "scores.parquet"))
    assert lines == table and lines[0].evidence.parts
