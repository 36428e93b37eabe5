"""Scores from whatever holds them: a run's folder, a scores file, or published rows."""

import gzip
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sightline.errors import UsageError
from sightline.io.scores import SCORES, read_scores
from sightline.items import Evidence, Score
from sightline.metrics import metrics

NOT_SCORES = {"id", "story_id", "album_id", "system", "text"}


def holds_scores(path: Path) -> bool:
    """Whether the path is a run's folder or a file of scores, rather than stories that are still to be
    scored.
    """
    if path.is_dir():
        return (path / SCORES).is_file()
    if ".jsonl" not in path.suffixes:
        return False
    first = next(_rows(path), (0, {}))[1]
    return {"metric", "score"} <= set(first) or bool(_columns(first))


def scores_in(path: Path) -> Iterator[Score]:
    """The scores of a run's folder or scores.jsonl, or of rows with one column per metric (`rovist_c` or `rovist-c`).

    The latter say neither how they were measured nor why. A score that is NaN or null comes out as NaN.
    """
    path = path / SCORES if path.is_dir() else path
    first = next(_rows(path), (0, {}))[1]
    if {"metric", "score", "signature", "evidence"} <= set(first) and path.suffix != ".gz":
        yield from read_scores(path)
        return
    found = False
    for number, row in _rows(path):
        where = f"{path}:{number}"
        id = row.get("id", row.get("story_id"))
        if id is None:
            raise UsageError(f"{where}: a row of scores needs 'id' or 'story_id'")
        system = None if row.get("system") is None else str(row["system"])
        columns = {"score": str(row["metric"])} if {"metric", "score"} <= set(row) else _columns(row)
        for column, metric in columns.items():
            found = True
            value = math.nan if row[column] is None else _number(row[column], where)
            yield Score(str(id), metric, value, str(row.get("signature", "")), Evidence(), system)
    if not found:
        raise UsageError(f"{path}: no scores in it")


def _columns(row: dict[str, Any]) -> dict[str, str]:
    known = set(metrics)
    named = {column: column.replace("_", "-") for column in row if column not in NOT_SCORES}
    return {column: metric for column, metric in named.items() if metric.partition(":")[0] in known}


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UsageError(f"{where}: {value!r} is not a score")
    return float(value)


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    opened = gzip.open if path.suffix == ".gz" else open
    number = 0
    try:
        with opened(path, "rt", encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    row = json.loads(line)
                    if not isinstance(row, dict):
                        raise UsageError(f"{path}:{number}: a row of scores is an object")
                    yield number, row
    except (OSError, EOFError, UnicodeDecodeError) as fault:
        raise UsageError(f"{path}: cannot be read ({fault})") from None
    except json.JSONDecodeError as fault:
        raise UsageError(f"{path}:{number}: not JSON ({fault.msg})") from None
