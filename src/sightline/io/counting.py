"""How many items there are to read, as far as that can be told without reading them: for a bar that shows time left."""

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sightline.errors import UsageError
from sightline.io.base import item_file

STDIN = "-"


def expected(paths: Iterable[Path]) -> int | None:
    """The items of all files together: rows, lines, or the members of a list; None where one of them cannot tell."""
    total = 0
    for path in paths:
        found = None if str(path) == STDIN else _rows(path)
        if found is None:
            return None
        total += found
    return total


def _rows(path: Path) -> int | None:
    try:
        source = item_file(path)
        if source.kind == "parquet":
            return int(pq.read_metadata(source.content).num_rows)
        if source.kind == "json":
            return len(source.document) if isinstance(source.document, list) else None
        lines = sum(1 for _ in source.lines())
        return lines - 1 if source.kind == "csv" else lines
    except (UsageError, OSError, pa.ArrowException):
        return None  # what is wrong with it is told when it is read
