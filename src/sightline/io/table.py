"""Rows of a table, whatever the file: CSV, TSV, JSON Lines or Parquet, each row with its place, `FILE:LINE`."""

import csv
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from sightline.errors import BadLine, UsageError
from sightline.io.items import parse_text
from sightline.io.json_csv import FORMULA
from sightline.io.source import LONGEST_LINE, Lines, Source

# The csv module refuses fields over 128 kB unless told otherwise, and a story can be longer.
csv.field_size_limit(LONGEST_LINE)

AT_ONCE: Final = 1024

Cells = dict[str, Any]


class Row(NamedTuple):
    """One row: where it stands, and what is in its columns."""

    where: str
    cells: Cells


class TableFile(Source):
    """A file of rows. The place of a row of Parquet is its number.

    Cells of CSV are text; one that was marked against being run as a formula loses the mark.
    """

    def records(self) -> Iterator[tuple[str, Cells | BadLine]]:
        """Where and what for every row, by column; a line that is no row comes out as the reason."""
        if self.kind == "parquet":
            yield from self._parquet()
        elif self.kind == "jsonl":
            yield from self.objects()
        elif self.kind == "json":
            yield from self._document()
        else:
            yield from self._by_header()

    def rows(self, separator: str = ",", quoted: bool = True) -> Iterator[tuple[str, list[str] | BadLine]]:
        """Where and what for every line of a CSV or TSV file, header included, blank ones left out."""
        with self.open() as file:
            lines = Lines(self, file)
            reader = csv.reader(
                map(_decoded, lines),
                delimiter=separator,
                quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
                strict=quoted,
            )
            while True:
                first = lines.number + 1
                try:
                    for row in reader:
                        if any(map(str.strip, row)):
                            yield f"{self.path}:{first}", row
                        first = lines.number + 1
                    return
                except BadLine as long:
                    yield long.where, BadLine(long.where, long.reason + _not_read(first, lines.number))
                except csv.Error as fault:
                    where = self.where(first)
                    yield where, BadLine(where, _not_csv(str(fault), first, lines.number))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns in their order; of JSON Lines, those of its first object."""
        if self.kind == "parquet":
            with self._opened() as file:
                return tuple(file.schema_arrow.names)
        if self.kind in ("jsonl", "json"):
            return tuple(map(str, self.first_object))
        first = next((row for _, row in self.rows(self.separator)), ())
        return () if isinstance(first, BadLine) else tuple(cell.strip() for cell in first)

    @property
    def columns(self) -> frozenset[str]:
        return frozenset(self.names)

    @cached_property
    def separator(self) -> str:
        """Comma, semicolon or tab: whichever the first line has most of."""
        if self.kind == "tsv":
            return "\t"
        first = next((line for _, line in self.lines() if not isinstance(line, BadLine)), b"")
        return max(",;\t", key=lambda mark: first.count(mark.encode()))

    @cached_property
    def first_object(self) -> Cells:
        """The first object of a JSON Lines file; empty where there is none."""
        found: Cells | BadLine = (
            next((found for _, found in self.objects()), {}) if self.kind == "jsonl" else {}
        )
        return {} if isinstance(found, BadLine) else found

    def _by_header(self) -> Iterator[tuple[str, Cells | BadLine]]:
        columns: list[str] | None = None
        for where, row in self.rows(self.separator):
            if isinstance(row, BadLine):
                yield where, row
            elif columns is None:
                columns = [cell.strip() for cell in row]
                if twin := next((name for n, name in enumerate(columns) if name in columns[:n]), None):
                    raise UsageError(f"{where}: two columns have the same name, '{twin[:80]}'")
            elif len(row) > len(columns) and any(map(str.strip, row[len(columns) :])):
                fault = f"{len(row)} cells for {len(columns)} columns; quote cells that hold a comma"
                yield where, BadLine(where, fault)
            else:
                yield where, dict(zip(columns, map(unmarked, row), strict=False))

    def _document(self) -> Iterator[tuple[str, Cells | BadLine]]:
        found = self.document
        for number, one in enumerate(found if isinstance(found, list) else [found]):
            where = f"{self.path}: [{number}]" if isinstance(found, list) else str(self.path)
            yield where, one if isinstance(one, dict) else BadLine(where, "not a JSON object")

    def _parquet(self) -> Iterator[tuple[str, Cells | BadLine]]:
        try:
            with self._opened() as file:
                batches = (batch.to_pylist() for batch in file.iter_batches(AT_ONCE))
                for number, row in enumerate(chain.from_iterable(batches), 1):
                    yield f"{self.path}:{number}", row
        except (pa.ArrowException, OSError, ValueError, OverflowError) as fault:
            raise self._no_parquet(fault) from None

    def _opened(self) -> pq.ParquetFile:
        try:
            return pq.ParquetFile(self.content)
        except (pa.ArrowException, OSError, ValueError) as fault:
            raise self._no_parquet(fault) from None

    def _no_parquet(self, fault: Exception) -> UsageError:
        reason = str(fault).split("\n", 1)[0]
        return UsageError(f"{self.path}: not a readable Parquet file ({reason})")


class StandardInput(TableFile):
    """What comes in on stdin, as a file: it is read more than once. Paths in it are relative to the working folder."""

    def __init__(self) -> None:
        if sys.stdin.isatty():
            raise UsageError("-: nothing comes in on stdin; pipe a file into it")
        self._copy = tempfile.NamedTemporaryFile(prefix="stdin-")  # noqa: SIM115 - lives as long as this
        shutil.copyfileobj(sys.stdin.buffer, self._copy)
        self._copy.flush()
        super().__init__(Path("stdin"), Path(self._copy.name))


def read_rows(path: Path, need: Sequence[str] = ()) -> Iterator[Row]:
    """The rows of a table, where all must be good: the first that is not is wrong use.

    Cells of CSV are text, an empty one is None. `need` are columns that every row must fill.
    """
    table = TableFile(path)
    plain = table.kind in ("jsonl", "json", "parquet")
    for where, row in table.records():
        if isinstance(row, BadLine):
            raise row
        cells = row if plain else {name: cell or None for name, cell in row.items()}
        for name, cell in cells.items():
            if isinstance(cell, str) and not cell.isascii():
                try:
                    parse_text(cell)
                except ValueError as fault:
                    raise BadLine(where, f"column '{name[:80]}': {fault}") from None
        for name in need:
            if cells.get(name) is None or cells[name] == "":
                raise BadLine(where, f"'{name}' is missing")
        yield Row(where, cells)


def unmarked(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell) else cell


def _decoded(line: bytes) -> str:
    """Bytes that are not UTF-8 become lone surrogates, which `parse_text` finds."""
    return line.decode("utf-8", "surrogateescape")


def _not_csv(fault: str, first: int, last: int) -> str:
    """Why the lines from first to last are not a row; a quote left open takes what follows with it."""
    if "end of data" in fault:
        rest = f"the rows from line {first} to the end of the file, line {last}, are not read"
        return f"not a CSV row (a quote that is never closed; {rest})"
    if "field limit" in fault:
        fault = f"a cell of more than {LONGEST_LINE >> 20} MB; is a quote never closed?"
    return f"not a CSV row ({fault}{_not_read(first, last)})"


def _not_read(first: int, last: int) -> str:
    return f"; lines {first} to {last} are not read" if first < last else ""
