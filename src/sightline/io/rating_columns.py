"""Ratings from any table, long or wide: a mapping tells which columns hold the item, the rater and the rating.

    item=C rater=C rating=C [criterion=C]     a row a rating
    item=C rater=C criteria=C …               a row an item and rater, a column a criterion
    item=C raters=C …                         a row an item, a column a rater
    rater=C items=C …                         a row a rater, a column an item

Any of them may have `system=C`; where many columns are named, `*` and `?` stand for parts of names.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from sightline.errors import BadLine, UsageError
from sightline.io.json_csv import csv_lines, json_line
from sightline.io.ratings import CRITERION, as_id, number, table_rows
from sightline.items import Rating

SINGLE: Final = ("item", "rater", "rating", "criterion", "system")
SEVERAL: Final = ("criteria", "raters", "items")
SHAPES: Final = (
    {"item", "rater", "rating"},
    {"item", "rater", "criteria"},
    {"item", "raters"},
    {"rater", "items"},
)
FREE: Final = {"criterion", "system"}
COLUMNS: Final = ("item", "system", "rater", "value", "criterion")

Chosen = dict[str, list[str]]


def mapped_ratings(
    path: Path, mapping: Sequence[str], levels: Mapping[str, float] | None = None
) -> Iterator[Rating]:
    """The ratings of a table. `mapping` has parts as `item=HITId`; `levels` are numbers for answers in words.

    Raises:
        UsageError: a mapping that is none, or names a column that there is not.
        BadLine: a cell that is neither a number nor one of the levels.
    """
    rows = table_rows(path)
    first = next(rows, None)
    if first is None:
        raise UsageError(f"{path}: the file holds no ratings")
    chosen = columns_of(mapping, list(first.cells), path)
    yield from _of_row(first.where, first.cells, chosen, levels or {})
    for where, cells in rows:
        yield from _of_row(where, cells, chosen, levels or {})


def columns_of(mapping: Sequence[str], names: Sequence[str], path: Path) -> Chosen:
    """The columns of each part of a mapping."""
    given: Chosen = {}
    for part in mapping:
        role, equals, column = part.partition("=")
        if not equals or not column or role not in (*SINGLE, *SEVERAL):
            raise UsageError(f"--map {part}: write ROLE=COLUMN; roles are {', '.join((*SINGLE, *SEVERAL))}")
        if role in SINGLE and role in given:
            raise UsageError(f"--map {part}: there is a column of {role} already ({given[role][0]})")
        given.setdefault(role, []).append(column)
    if set(given) - FREE not in SHAPES or ("criterion" in given and "rating" not in given):
        shapes = "; ".join(" ".join(f"{role}=…" for role in sorted(shape)) for shape in SHAPES)
        raise UsageError(f"--map has {', '.join(given) or 'nothing'}; a table is one of: {shapes}")
    single = {columns[0] for role, columns in given.items() if role in SINGLE}
    for role, columns in given.items():
        if role in SEVERAL:
            given[role] = _matching(columns, [name for name in names if name not in single], path)
        elif columns[0] not in names:
            raise UsageError(f"{path}: there is no column '{columns[0]}'; there are {', '.join(names)}")
    return given


def _matching(patterns: Sequence[str], names: Sequence[str], path: Path) -> list[str]:
    for pattern in patterns:
        if not any(name == pattern or fnmatchcase(name, pattern) for name in names):
            raise UsageError(f"{path}: no column is '{pattern}'; there are {', '.join(names)}")
    return [
        name for name in names if any(name == pattern or fnmatchcase(name, pattern) for pattern in patterns)
    ]


def _of_row(
    where: str, cells: Mapping[str, Any], chosen: Chosen, levels: Mapping[str, float]
) -> Iterator[Rating]:
    about = {role: cells.get(columns[0]) for role, columns in chosen.items() if role in SINGLE}
    for role in ("item", "rater"):
        if role in about and (about[role] is None or not str(about[role]).strip()):
            raise BadLine(where, f"column '{chosen[role][0]}' is empty")
    many = next((role for role in SEVERAL if role in chosen), None)
    for column in chosen[many] if many else chosen["rating"]:
        cell = cells.get(column)
        if cell is None or not str(cell).strip():
            continue
        text = str(cell).strip()
        value = levels[text] if text in levels else number(cell)
        if not math.isfinite(value):
            raise BadLine(
                where,
                f"column '{column}': '{text[:40]}' is no number; --level '{text[:40]}=NUMBER' gives it one",
            )
        criterion = about.get("criterion")
        yield Rating(
            item=column if many == "items" else as_id(about["item"]),
            rater=column if many == "raters" else as_id(about["rater"]),
            value=value,
            criterion=column if many == "criteria" else CRITERION if criterion is None else as_id(criterion),
            system=None if about.get("system") is None else as_id(about["system"]),
            source=where,
        )


def ratings_file(ratings: Iterable[Rating], form: str) -> bytes:
    """Single ratings as `psych` and `meta` read them: a CSV or JSON Lines file."""
    rows = ([one.item, one.system, one.rater, one.value, one.criterion] for one in ratings)
    if form == "csv":
        return "".join(csv_lines(COLUMNS, rows)).encode()
    return "".join(json_line(dict(zip(COLUMNS, row, strict=True))) for row in rows).encode()
