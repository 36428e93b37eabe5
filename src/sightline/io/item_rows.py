"""Tables with the contract's columns: JSON Lines, CSV and Parquet, an item a row."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from sightline.errors import BadLine, UsageError
from sightline.io.base import Found, Reader, checked, readers
from sightline.io.fetch import AT_ONCE
from sightline.io.pictures import files
from sightline.io.source import parse_json
from sightline.io.table import Cells, TableFile

R = TypeVar("R")
STRUCTURED = ("images", "sentences", "references", "ratings", "regions", "captions")


@dataclass(frozen=True)
class ItemRows(Reader):
    """Base of the general readers."""

    general = True
    kind: ClassVar[str]
    numbered: ClassVar[bool] = True
    """Whether rows of a table without ids have their number as id."""

    def recognises(self, source: TableFile) -> bool:
        return source.kind == self.kind and (self.kind != "csv" or has_items(source))

    def read(self, source: TableFile) -> Iterator[Found]:
        for number, (where, row) in enumerate(fetched_ahead(self.rows(source)), 1):
            if not isinstance(row, BadLine) and self.numbered and "id" not in row:
                row = {"id": number, **row}
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
    numbered = False

    def rows(self, source: TableFile) -> Iterator[tuple[str, Cells | BadLine]]:
        return source.objects()


@readers.add("csv")
@dataclass(frozen=True)
class Csv(ItemRows):
    """CSV with the columns of JSON Lines; lists in a cell as JSON."""

    kind = "csv"

    def rows(self, source: TableFile) -> Iterator[tuple[str, Cells | BadLine]]:
        if source.kind in ("json", "jsonl", "parquet") or not has_items(source):
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
        if not has_items(source):
            raise UsageError(f"{source.path}: the Parquet file has no column 'id'")
        yield from source.records()


@readers.add("imagefolder")
@dataclass(frozen=True)
class PictureFolder(ItemRows):
    """A folder of pictures with metadata.jsonl, .csv or .parquet beside them: file_name, and text or caption."""

    general = False
    kind = "imagefolder"

    def recognises(self, source: TableFile) -> bool:
        return source.path.stem == "metadata" and "file_name" in source.columns

    def rows(self, source: TableFile) -> Iterator[tuple[str, Cells | BadLine]]:
        if "file_name" not in source.columns:
            raise UsageError(f"{source.path}: there is no column 'file_name'")
        for where, row in source.records():
            if isinstance(row, BadLine):
                yield where, row
            else:
                name = row.pop("file_name", None)
                yield where, {"id": name, "images": name, **structured(row)}


def has_items(source: TableFile) -> bool:
    """Whether the columns are those of items; ids may be missing where there are pictures and captions."""
    has = source.columns
    return "id" in has or bool({"image", "images"} & has and {"caption", "text", "sentences"} & has)


def fetched_ahead(rows: Iterable[tuple[str, R]]) -> Iterator[tuple[str, R]]:
    """The same rows; pictures on the web that the next ones name are being fetched meanwhile."""
    if files.fetcher is None:
        yield from rows
        return
    waiting: deque[tuple[str, R]] = deque()
    for where, row in rows:
        if isinstance(row, Mapping):
            for name in ("image", "images"):
                several = row.get(name)
                for one in several if isinstance(several, list | tuple) else [several]:
                    if isinstance(one, str) and one.lower().startswith(("http://", "https://")):
                        files.fetcher.ahead(one)
        waiting.append((where, row))
        if len(waiting) > AT_ONCE:
            yield waiting.popleft()
    yield from waiting


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
