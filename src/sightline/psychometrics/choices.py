"""Files of choices: which of two texts people preferred, and which words they marked."""

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sightline.errors import BadLine, UsageError
from sightline.io.ratings import MISSING, Columns, answer, number, table_rows
from sightline.io.scores import read_scores
from sightline.io.table import Row
from sightline.psychometrics.agreement.marking import MarkedText, phrase_words
from sightline.psychometrics.model.preferences import PairedChoice

BETTER, ERRORS = "better", "errors"


def read_choices(path: Path) -> tuple[list[PairedChoice], dict[str, MarkedText]]:
    """The comparisons in pairs that a file of single ratings holds, or the marked texts that a file of items does.

    Of a comparison each text has a row of its own, the two one after the other: 1 for the better one, 0 for the
    other, 0.5 for both where neither is better. Marked texts are items with `errors`: for each rater, the places
    of the marked words. Both are empty where the file holds neither.
    """
    rows = list(table_rows(path))
    names = list(dict.fromkeys(name for row in rows for name in row.cells))
    if {"id", ERRORS} <= set(names):
        return [], dict(_marked(row) for row in rows if row.cells.get(ERRORS) is not None)
    columns = Columns.among(names)
    if columns is None or not any(row.cells.get("criterion") == BETTER for row in rows):
        if any(row.cells.get("criterion") == ERRORS for row in rows):
            raise UsageError(
                f"{path}: marked words are read from the items (sightline ratings export --what items)"
            )
        return [], {}
    return list(_comparisons(rows, columns)), {}


def _comparisons(rows: Sequence[Row], columns: Columns) -> Iterator[PairedChoice]:
    waiting: dict[str, Any] = {}
    for row in rows:
        one = answer(row, columns)
        if one.criterion != BETTER or one.phase != "play" or one.extra.get("state") == "excluded":
            continue
        value = math.nan if one.value is None or str(one.value).strip() in MISSING else number(one.value)
        if value not in (0, 0.5, 1):
            raise BadLine(one.where, f"'{one.value}' is not 1 (better), 0 (the other one) or 0.5 (neither)")
        before = waiting.pop(one.rater, None)
        if before is None:
            waiting[one.rater] = (one, value)
            continue
        first, share = before
        if share + value != 1:
            raise BadLine(
                one.where, f"{share:g} and {value:g} are no choice between the two texts of {first.where}"
            )
        names = (first.system, one.system) if first.system and one.system else (first.item, one.item)
        if names[0] == names[1]:
            names = (first.item, one.item)
        yield PairedChoice(*names, share, (first.key, one.key))
    if waiting:
        first, _ = next(iter(waiting.values()))
        raise BadLine(first.where, "a comparison has two rows, one for each text; the second is missing")


def _marked(row: Row) -> tuple[str, MarkedText]:
    cells = row.cells
    sentences, errors = (_json(row, name) for name in ("sentences", ERRORS))
    words = tuple((" ".join(sentences) if sentences else str(cells.get("text") or "")).split())
    marks = np.zeros((len(errors), len(words)))
    for rater, places in enumerate(errors):
        for place in places:
            if not isinstance(place, int) or not 0 <= place < len(words):
                raise BadLine(row.where, f"there is no word {place} in a text of {len(words)} words")
            marks[rater, place] = 1
    return str(cells["id"]), MarkedText(words, marks)


def _json(row: Row, name: str) -> Any:
    cell = row.cells.get(name)
    if not isinstance(cell, str):
        return cell if cell is not None else []
    try:
        return json.loads(cell)
    except ValueError as fault:
        raise BadLine(row.where, f"column '{name}': not JSON ({fault})") from None


def read_calls(scores: Path, metric: str = "groovist") -> dict[str, list[tuple[range, bool]]]:
    """Each text's phrases as a metric's evidence has them: the places of their words, and whether they lie under
    the metric's threshold, which is to say that no picture supports them."""
    path = scores / "scores.jsonl" if scores.is_dir() else scores
    found: dict[str, list[tuple[range, bool]]] = {}
    for score in read_scores(path):
        evidence = score.evidence
        if score.metric.partition(":")[0] != metric or evidence.threshold is None:
            continue
        found[score.id] = [
            (
                phrase_words(evidence.sentences, one.sentence, one.start, one.end),
                one.similarity < evidence.threshold,
            )
            for one in evidence.phrases
        ]
    if not found:
        raise UsageError(f"{path}: no evidence of phrases with a threshold for '{metric}'")
    return found
