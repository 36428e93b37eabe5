"""Scores by metric and story, from whatever holds them: a run's folder, a scores file, or published rows."""

import gzip
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sightline.errors import UsageError
from sightline.metrics import metrics

NOT_SCORES = {"id", "story_id", "album_id", "system", "text"}


@dataclass
class ScoreTable:
    """For each metric, a score by story id; and the signatures they were made with."""

    scores: dict[str, dict[str, float]] = field(default_factory=dict)
    signatures: dict[str, set[str]] = field(default_factory=dict)

    def add(self, metric: str, story: str, score: float, where: str, signature: str = "") -> None:
        column = self.scores.setdefault(metric, {})
        if story in column:
            raise UsageError(
                f"{where}: story '{story}' has a second {metric} score; name the system if there are several"
            )
        column[story] = score
        if signature:
            self.signatures.setdefault(metric, set()).add(signature)


def holds_scores(path: Path) -> bool:
    """Whether the path is a run's folder or a file of scores, rather than stories that are still to be
    scored.
    """
    if path.is_dir():
        return (path / "scores.jsonl").is_file()
    if ".jsonl" not in path.suffixes:
        return False
    first = next(_rows(path), (0, {}))[1]
    return {"metric", "score"} <= set(first) or bool(_columns(first))


def read_table(path: Path, system: str | None = None) -> ScoreTable:
    """A run's `scores.jsonl`, or rows with one column per metric (`rovist_c` or `rovist-c`), of one system
    if named.
    """
    path = path / "scores.jsonl" if path.is_dir() else path
    table = ScoreTable()
    systems: set[str] = set()
    for number, row in _rows(path):
        where = f"{path}:{number}"
        systems.add(str(row.get("system")))
        if system is not None and row.get("system") != system:
            continue
        story = row.get("id", row.get("story_id"))
        if story is None:
            raise UsageError(f"{where}: a row of scores needs 'id' or 'story_id'")
        if {"metric", "score"} <= set(row):
            table.add(
                str(row["metric"]),
                str(story),
                _number(row["score"], where),
                where,
                str(row.get("signature", "")),
            )
            continue
        for column, metric in _columns(row).items():
            if row[column] is not None:
                table.add(metric, str(story), _number(row[column], where), where)
    if not table.scores:
        known = f"; systems there: {', '.join(sorted(systems))}" if system is not None else ""
        raise UsageError(f"{path}: no scores in it{known}")
    return table


def _columns(row: dict[str, Any]) -> dict[str, str]:
    known = set(metrics)
    named = {column: column.replace("_", "-") for column in row if column not in NOT_SCORES}
    return {column: metric for column, metric in named.items() if metric.partition(":")[0] in known}


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
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
