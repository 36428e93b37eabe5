"""Scores from whatever holds them: a run's folder, a file of scores, or a table with a column for each metric."""

import math
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import msgspec

from sightline.errors import BadLine, UsageError
from sightline.io.scores import SCORES, read_scores
from sightline.io.table import TableFile, read_rows
from sightline.items import Evidence, Score
from sightline.metrics import metrics

NOT_SCORES = {"id", "story_id", "album_id", "system", "text"}
OURS = {"metric", "score", "signature", "evidence"}
"""The columns of a run's scores.jsonl and scores.parquet."""


def holds_scores(path: Path) -> bool:
    """Whether the path is a run's folder or a table of scores, rather than stories that are still to be scored."""
    if path.is_dir():
        return (path / SCORES).is_file()
    table = TableFile(path)
    if table.kind == "json":
        return False
    if table.kind == "jsonl":
        next(read_rows(path), None)  # a first line that is no object is told
    return {"metric", "score"} <= table.columns or bool(_columns(table.columns))


def scores_in(path: Path) -> Iterator[Score]:
    """The scores of a run's folder or file, or of rows with one column per metric (`rovist_c` or `rovist-c`).

    The latter say neither how they were measured nor why. A score that is NaN, null or empty comes out as NaN.
    """
    path = path / SCORES if path.is_dir() else path
    table = TableFile(path)
    if table.kind == "jsonl" and table.columns >= OURS:
        yield from read_scores(path)
        return
    found = False
    for where, row in read_rows(path):
        id = row.get("id", row.get("story_id"))
        if id is None:
            raise BadLine(where, "a row of scores needs 'id' or 'story_id'")
        system = None if row.get("system") is None else str(row["system"])
        columns = {"score": str(row["metric"])} if {"metric", "score"} <= set(row) else _columns(row)
        for column, metric in columns.items():
            found = True
            evidence = _evidence(row.get("evidence"), where)
            value, signature = _number(row[column], where), str(row.get("signature") or "")
            yield Score(str(id), metric, value, signature, evidence, system)
    if not found:
        raise UsageError(f"{path}: no scores in it")


def _columns(names: Collection[str]) -> dict[str, str]:
    known = set(metrics)
    named = {column: column.replace("_", "-") for column in names if column not in NOT_SCORES}
    return {column: metric for column, metric in named.items() if metric.partition(":")[0] in known}


def _number(value: Any, where: str) -> float:
    try:
        return math.nan if value is None else float(math.inf if isinstance(value, bool) else value)
    except (TypeError, ValueError):
        raise BadLine(where, f"{value!r} is not a score") from None


def _evidence(given: Any, where: str) -> Evidence:
    """What scores.parquet keeps as a text."""
    if not isinstance(given, str):
        return Evidence()
    try:
        return msgspec.json.decode(given, type=Evidence)
    except msgspec.DecodeError as fault:
        raise BadLine(where, f"not the evidence of a score ({fault})") from None
