"""Scores and failures to disk and back."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from sightline.errors import UsageError
from sightline.io.results import ResultFolder
from sightline.io.scores import ScoreWriter, read_failures, read_scores
from sightline.items import Evidence, Failure, PhraseEvidence, Score

PHRASE = PhraseEvidence("a dog", 0, 1, 6, 0.6, 0.6, 3.0, 1.8, 0, (0.0, 1.0, 2.0, 3.0), (0.6, 0.1))
SCORES = [
    Score(
        "a",
        "groovist",
        1.25,
        "groovist|v:1",
        Evidence(sentences=("„A“ dog.",), phrases=(PHRASE,), threshold=0.5),
        "arel",
    ),
    Score("b", "groovist", -0.1, "groovist|v:1", Evidence(parts={"T": 1.0}, counts={"n": (1.0, 2.0)})),
]
FAILURES = [Failure("c", "groovist", "the text is empty", "stories.jsonl:3")]


def test_what_is_written_comes_back(tmp_path: Path) -> None:
    with ResultFolder(tmp_path) as out:
        writer = ScoreWriter(out)
        writer.add(SCORES[:1], FAILURES)
        writer.add(SCORES[1:], [])
        assert not (tmp_path / "scores.jsonl").exists(), "nothing is in place before it is whole"
        writer.close()
        writer.close()
        assert out.status == 3
    assert list(read_scores(tmp_path / "scores.jsonl")) == SCORES
    assert list(read_failures(tmp_path / "failures.jsonl")) == FAILURES
    line = json.loads((tmp_path / "scores.jsonl").read_text("utf-8").splitlines()[0])
    assert list(line) == ["id", "system", "metric", "score", "signature", "evidence"]
    table = pq.read_table(tmp_path / "scores.parquet").to_pylist()
    assert [(row["id"], row["system"], row["score"]) for row in table] == [
        ("a", "arel", 1.25),
        ("b", None, -0.1),
    ]
    assert json.loads(table[0]["evidence"]) == line["evidence"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "failures.jsonl",
        "scores.jsonl",
        "scores.parquet",
    ]


def test_many_rows_stream_into_row_groups(tmp_path: Path) -> None:
    writer = ScoreWriter(ResultFolder(tmp_path))
    for start in range(0, 10_000, 100):
        writer.add([Score(str(n), "m", float(n), "s", Evidence()) for n in range(start, start + 100)], [])
    writer.close()
    file = pq.ParquetFile(tmp_path / "scores.parquet")
    assert file.metadata.num_rows == 10_000
    assert file.metadata.num_row_groups > 1


def test_no_scores_at_all(tmp_path: Path) -> None:
    ScoreWriter(ResultFolder(tmp_path)).close()
    assert list(read_scores(tmp_path / "scores.jsonl")) == []
    assert pq.read_table(tmp_path / "scores.parquet").num_rows == 0


def test_a_damaged_file_is_told_by_line(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    path.write_text('{"id": "a"}\n')
    with pytest.raises(UsageError, match=r"scores.jsonl:1: not a score"):
        list(read_scores(path))
    with pytest.raises(UsageError, match="there is no such file"):
        list(read_failures(tmp_path / "none.jsonl"))
