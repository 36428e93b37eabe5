"""Tables with the contract's columns: JSON Lines, CSV and Parquet, an item a row."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

from sightline.errors import BadLine, UsageError
from sightline.io.base import Found, Reader, checked, readers
from sightline.io.source import parse_json
from sightline.io.table import Cells, TableFile

STRUCTURED = ("images", "sentences", "references", "ratings", "regions", "captions")


@dataclass(frozen=True)
class ItemRows(Reader):
    """Base of the general readers."""

    general = True
    kind: ClassVar[str]

    def recognises(self, source: TableFile) -> bool:
        return source.kind == self.kind and (self.kind != "csv" or "id" in source.columns)

    def read(self, source: TableFile) -> Iterator[Found]:
        for where, row in self.rows(source):
            bad = row if isinstance(row, BadLine) else _badly_written(row, where)
            yield bad or checked(row, source.folder, where)  # type: ignore[arg-type]

    def rows(self, source: TableFile) -> Iterator[tuple[str, Cells | BadLine]]:
        """Row by row, for those who take more than items from a row."""
        return source.records()


@readers.add("jsonl")
@dataclass(frozen=True)
class JsonLines(ItemRows):
    """JSON Lines: one item a line with id, images, text or sentences, and optional fields."""

    kind = "jsonl"

    def rows(self, source: TableFile) -> Iterator[tuple[str, Cells | BadLine]]:
        return source.objects()


@readers.add("csv")
@dataclass(frozen=True)
class Csv(ItemRows):
    """CSV with the columns of JSON Lines; lists in a cell as JSON."""

    kind = "csv"

    def rows(self, source: TableFile) -> Iterator[tuple[str, Cells | BadLine]]:
        if source.kind in ("json", "jsonl", "parquet") or "id" not in source.columns:
            raise UsageError(f"{source.path}: the CSV file has no column 'id' in its first line")
        for where, row in source.records():
            yield where, row if isinstance(row, BadLine) else structured(row)


@readers.add("parquet")
@dataclass(frozen=True)
class Parquet(ItemRows):
    """Parquet with the columns of JSON Lines; images, sentences and references as lists."""

    kind = "parquet"

    def rows(self, source: TableFile) -> Iterator[tuple[str, Cells | BadLine]]:
        if source.kind != "parquet":
            raise UsageError(f"{source.path}: not a Parquet file")
        if "id" not in source.columns:
            raise UsageError(f"{source.path}: the Parquet file has no column 'id'")
        yield from source.records()


def structured(row: Cells, names: tuple[str, ...] = STRUCTURED) -> Cells:
    """A row of CSV with what its cells hold: a list or an object is written as JSON, an empty cell is nothing."""
    given: Cells = {}
    for name, cell in row.items():
        if not isinstance(cell, str) or cell.strip():
            given[name] = cell
            if _is_json(name, cell, names):
                with suppress(ValueError):
                    given[name] = parse_json(cell)
    return given


def _badly_written(row: Cells, where: str) -> BadLine | None:
    """A cell that should be JSON and stayed text."""
    for name, cell in row.items():
        if _is_json(name, cell):
            try:
                parse_json(cell)
            except ValueError as fault:
                return BadLine(where, f"field '{name}': {fault}", str(row.get("id") or ""))
    return None


def _is_json(name: str, cell: object, names: tuple[str, ...] = STRUCTURED) -> bool:
    return name in names and isinstance(cell, str) and cell.lstrip().startswith(("[", "{"))
