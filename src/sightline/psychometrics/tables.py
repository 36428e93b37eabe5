"""Files as tables of columns: CSV, JSON Lines and Parquet, with faults told by line."""

import csv
import gzip
import io
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from sightline.errors import UsageError

RATER_NAMES = (
    "rater",
    "person",
    "worker",
    "annotator",
    "participant",
    "player",
    "respondent",
    "subject",
    "judge",
    "user",
)
NAMED_COLUMNS = (*RATER_NAMES, "id", "item", "item_id", "pair", "unit", "criterion", "")
MISSING_WORDS = frozenset(("", "NA", "N/A", "NaN", "nan", "na", "null", "None", "none", ".", "-"))


def read_table(path: Path, text: Sequence[str]) -> pa.Table:
    """The file's columns. Columns that name raters, items or criteria, and those in `text`, stay text."""
    if not path.is_file():
        raise UsageError(f"{path}: there is no such file")
    kind = path.name.lower().removesuffix(".gz").rpartition(".")[2]
    if kind == "parquet":
        table = _parquet(path)
    elif kind in ("jsonl", "ndjson", "json"):
        table = _jsonl(path)
    else:
        table = _csv(path, text)
    if not table.num_rows or not table.num_columns:
        raise UsageError(f"{path}: the file holds no ratings")
    return _as_text(table, text)


def _parquet(path: Path) -> pa.Table:
    try:
        return pq.read_table(path)
    except (pa.ArrowInvalid, OSError) as fault:
        raise UsageError(f"{path}: this is not a Parquet file ({str(fault).splitlines()[0]})") from None


def _jsonl(path: Path) -> pa.Table:
    """Rating exports; what lies in an `extra` object counts as columns too."""
    columns: dict[str, list[Any]] = {}
    rows = 0
    with _opened(path) as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError as fault:
                raise UsageError(f"{path}, line {number}: this is not JSON ({fault})") from None
            if not isinstance(row, dict):
                raise UsageError(f"{path}, line {number}: a rating is an object with rater, item and value")
            more = row.pop("extra", None)
            flat = {**(more if isinstance(more, dict) else {}), **row}
            for name, value in flat.items():
                plain = value is None or isinstance(value, str | int | float)
                columns.setdefault(name, [None] * rows).append(value if plain else json.dumps(value))
            rows += 1
            for column in columns.values():
                column.extend([None] * (rows - len(column)))
    return pa.table({name: _array(column) for name, column in columns.items()})


def _array(column: list[Any]) -> pa.Array:
    try:
        return pa.array(column)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return pa.array([None if cell is None else str(cell) for cell in column])


def _csv(path: Path, text: Sequence[str]) -> pa.Table:
    with _opened(path) as lines:
        head = next((line for line in lines if line.strip()), "")
    if not head:
        raise UsageError(f"{path}: the file is empty")
    delimiter = max(",;\t", key=head.count)
    names = [name.strip() for name in next(csv.reader([head], delimiter=delimiter))]
    twin = next((name for n, name in enumerate(names) if name in names[:n]), None)
    if twin is not None:
        raise UsageError(f"{path}: two columns are called '{twin}'")
    if all(_number(name) for name in names):
        raise UsageError(f"{path}: the first line must name the columns; it holds only numbers")
    faults: list[str] = []

    def told(row: pacsv.InvalidRow) -> str:
        faults.append(f"{row.actual_columns} cells where the first line has {row.expected_columns}")
        return "error"

    stay = {name for name in names if name.lower() in NAMED_COLUMNS or name in text}
    try:
        return pacsv.read_csv(
            path,
            read_options=pacsv.ReadOptions(column_names=names, skip_rows=_head_line(path), use_threads=False),
            parse_options=pacsv.ParseOptions(
                delimiter=delimiter, invalid_row_handler=told, newlines_in_values=True
            ),
            convert_options=pacsv.ConvertOptions(
                column_types={name: pa.string() for name in stay},
                null_values=sorted(MISSING_WORDS),
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
                true_values=[],
                false_values=[],
            ),
        )
    except (pa.ArrowInvalid, UnicodeDecodeError) as fault:
        line = _bad_line(path, delimiter, len(names)) if faults else None
        where = f", line {line}" if line else ""
        raise UsageError(f"{path}{where}: {faults[0] if faults else str(fault).splitlines()[0]}") from None


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _head_line(path: Path) -> int:
    """Lines up to and with the one that names the columns."""
    with _opened(path) as lines:
        return next(n for n, line in enumerate(lines, 1) if line.strip())


def _bad_line(path: Path, delimiter: str, cells: int) -> int | None:
    with _opened(path) as lines:
        rows = csv.reader(lines, delimiter=delimiter)
        return next((rows.line_num for row in rows if row and len(row) != cells), None)


def line_of(path: Path, row: int) -> int:
    """The line of a file that holds a data row (counted from 0)."""
    kind = path.name.lower().removesuffix(".gz").rpartition(".")[2]
    if kind == "parquet":
        return row + 1
    with _opened(path) as lines:
        if kind in ("jsonl", "ndjson", "json"):
            return [n for n, line in enumerate(lines, 1) if line.strip()][row]
        rows = csv.reader(lines)
        filled = (rows.line_num for cells in rows if cells)
        next(filled, None)
        return next((n for place, n in enumerate(filled) if place == row), row + 2)


def _as_text(table: pa.Table, text: Sequence[str]) -> pa.Table:
    """Ids as text, whatever they look like: 7 and 7.0 of a spreadsheet are both '7'."""
    for n, name in enumerate(table.column_names):
        kind = table.column(n).type
        if pa.types.is_dictionary(kind):
            table = table.set_column(n, name, table.column(n).cast(kind.value_type))
        elif (name.strip().lower() in NAMED_COLUMNS or name in text) and not pa.types.is_string(kind):
            cells = table.column(n).to_pylist()
            whole = [int(c) if isinstance(c, float) and c.is_integer() else c for c in cells]
            table = table.set_column(
                n, name, pa.array([None if c is None else str(c) for c in whole], pa.string())
            )
    return table


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    """The file as text; a byte that is not UTF-8 is a clear error."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rb") as raw, io.TextIOWrapper(raw, "utf-8-sig", newline="") as lines:
        try:
            yield lines
        except UnicodeDecodeError as fault:
            raise UsageError(f"{path}: this is not UTF-8 text ({fault.reason}); save it as UTF-8") from None
        except (OSError, EOFError) as fault:
            raise UsageError(f"{path}: this cannot be read ({fault})") from None
