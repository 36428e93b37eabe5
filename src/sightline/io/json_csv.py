"""Values as JSON and CSV hold them: NaN is null or an empty cell, and no cell is a formula."""

import csv
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from io import StringIO
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
"""How a text begins that a spreadsheet would run, or that was marked so that it does not."""

LINE_END = "\r\n"
"""What Python's writer is told, so that it quotes cells that hold either of the two."""


def json_text(value: Any) -> str:
    """A value as indented JSON. What is not defined is null, as JSON has no NaN."""
    return json.dumps(_bare(value), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def json_line(value: Any) -> str:
    """A value as one line of JSON."""
    return json.dumps(_bare(value), ensure_ascii=False, allow_nan=False) + "\n"


def csv_lines(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """The lines of a CSV file, its header first."""
    out = StringIO()
    writer = csv.writer(out, lineterminator=LINE_END)
    for row in chain([columns], rows):
        writer.writerow([_cell(value) for value in row])
        yield out.getvalue().removesuffix(LINE_END) + "\n"
        out.seek(0)
        out.truncate()


def safe_cell(value: Any) -> Any:
    """A text that a spreadsheet would run as a formula is marked as text; reading takes the mark off again."""
    return f"'{value}" if isinstance(value, str) and FORMULA.match(value) else value


def _cell(value: Any) -> Any:
    value = _bare(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | dict):
        value = json.dumps(value, ensure_ascii=False)
    return safe_cell(value)


def _bare(value: Any) -> Any:
    """The value in Python's own kinds."""
    if value is None or isinstance(value, str | bool | int):
        return str(value) if isinstance(value, str) else value
    if isinstance(value, np.ndarray | np.generic):
        return _bare(value.tolist())
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _bare(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_bare(inner) for inner in value]
    if is_dataclass(value) and not isinstance(value, type):
        return _bare(asdict(value))
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"an {type(value).__name__} has no place in a result file")
