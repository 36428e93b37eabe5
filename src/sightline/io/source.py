"""A file to read items from: its lines, rows or whole document, and what went wrong where."""

import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import IO, Any, Final

import msgspec

from sightline.errors import UsageError

LONGEST_LINE: Final = 64 << 20
"""Bytes of one line; a longer one is not a line of items but some other file."""
LARGEST_DOCUMENT: Final = 4 << 30
"""Bytes of a JSON file that is read whole."""

# The csv module refuses fields over 128 kB unless told otherwise, and a story can be longer.
csv.field_size_limit(LONGEST_LINE)

KINDS: Final = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".txt": "tsv",
    ".token": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
}


class BadLine(UsageError):  # noqa: N818 - it is also handed on as a value
    """A line, row or record that is not an item: where it is, and what is wrong with it."""

    def __init__(self, where: str, reason: str, id: str = "") -> None:
        super().__init__(f"{where}: {reason}")
        self.where = where
        self.reason = reason
        self.id = id


class Source:
    """One input file, plain or gzipped. UTF-8; a byte order mark and Windows line ends do no harm."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            if path.is_dir():
                raise UsageError(f"{path}: a folder, not a file of items")
            with self._open() as file:
                self.head = file.read(1 << 16)
        except FileNotFoundError:
            raise UsageError(f"{path}: there is no such file") from None
        except (OSError, EOFError, zlib.error, ValueError) as fault:
            raise self._unreadable(fault) from None
        if not self.head:
            raise UsageError(f"{path}: the file is empty (0 bytes)")
        if self.head.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise UsageError(f"{path}: the file is in UTF-16; save it as UTF-8")

    @property
    def folder(self) -> Path:
        """What paths in the file are relative to."""
        return self.path.parent

    def where(self, line: int) -> str:
        return f"{self.path}:{line}"

    @cached_property
    def kind(self) -> str:
        """jsonl, json, csv, tsv or parquet: by extension, else by content."""
        if self.head.startswith(b"PAR1"):
            return "parquet"
        suffixes = [suffix.lower() for suffix in self.path.suffixes if suffix.lower() != ".gz"]
        kind = KINDS.get(suffixes[-1], "") if suffixes else ""
        start = self.head.removeprefix(b"\xef\xbb\xbf").lstrip()
        if kind in ("", "json") and start.startswith((b"{", b"[")):
            return "jsonl" if self._first_line_is_whole(start) else "json"
        if not kind:
            line = start.split(b"\n", 1)[0]
            kind = "tsv" if b"\t" in line else "csv" if b"," in line else ""
        return kind

    def _first_line_is_whole(self, start: bytes) -> bool:
        line, _, rest = start.partition(b"\n")
        try:
            return isinstance(msgspec.json.decode(line), dict) and bool(rest.strip())
        except (ValueError, RecursionError):
            return False

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Number and bytes of every line that is not blank."""
        with self._open() as file:
            number = 0
            while line := self._line(file):
                number += 1
                if number == 1:
                    line = line.removeprefix(b"\xef\xbb\xbf")
                if line.strip():
                    yield number, line

    def objects(self) -> Iterator[tuple[str, dict[str, Any] | BadLine]]:
        """Where and what for every line of a JSON Lines file."""
        for number, line in self.lines():
            where = self.where(number)
            try:
                found = parse_json(line)
            except ValueError as fault:
                yield where, BadLine(where, str(fault))
                continue
            yield where, found if isinstance(found, dict) else BadLine(where, "not a JSON object")

    def rows(self, separator: str = ",") -> Iterator[tuple[str, list[str] | BadLine]]:
        """Where and what for every row of a CSV or TSV file, header included, blank rows left out."""
        # Bytes that are not UTF-8 become lone surrogates here, which `parse_text` finds.
        texts = (line.decode("utf-8", "surrogateescape") for line in self._raw_lines())
        quoted = separator == ","
        reader = csv.reader(
            texts, delimiter=separator, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE, strict=quoted
        )
        while True:
            where = self.where(reader.line_num + 1)
            try:
                row = next(reader)
            except StopIteration:
                return
            except csv.Error as fault:
                reason = "a quote that is never closed" if "end of data" in str(fault) else str(fault)
                yield where, BadLine(where, f"not a CSV row ({reason})")
                continue
            if any(cell.strip() for cell in row):
                yield where, row

    def records(self) -> Iterator[tuple[str, dict[str, str] | BadLine]]:
        """Where and what for every row of a CSV file with a header, by column."""
        rows = self.rows()
        columns: list[str] | None = None
        for where, row in rows:
            if isinstance(row, BadLine):
                yield where, row
            elif columns is None:
                columns = [cell.strip() for cell in row]
                if len(set(columns)) < len(columns):
                    raise UsageError(f"{where}: two columns have the same name")
            elif len(row) > len(columns) and any(cell.strip() for cell in row[len(columns) :]):
                yield (
                    where,
                    BadLine(
                        where, f"{len(row)} cells for {len(columns)} columns; quote cells that hold a comma"
                    ),
                )
            else:
                yield where, dict(zip(columns, row, strict=False))

    @cached_property
    def columns(self) -> frozenset[str]:
        """The column names of a CSV file; empty where there are none."""
        if self.kind not in ("json", "parquet"):
            first = next((row for _, row in self.rows()), ())
            return frozenset() if isinstance(first, BadLine) else frozenset(cell.strip() for cell in first)
        return frozenset()

    @cached_property
    def first_object(self) -> dict[str, Any]:
        """The first object of a JSON Lines file; empty where there is none."""
        found = next((found for _, found in self.objects()), {}) if self.kind == "jsonl" else {}
        return {} if isinstance(found, BadLine) else found

    @cached_property
    def document(self) -> Any:
        """The whole of a JSON file."""
        with self._open() as file:
            try:
                data = file.read(LARGEST_DOCUMENT + 1)
            except (OSError, EOFError, zlib.error) as fault:
                raise self._unreadable(fault) from None
        if len(data) > LARGEST_DOCUMENT:
            raise UsageError(f"{self.path}: larger than {LARGEST_DOCUMENT >> 30} GB")
        try:
            return parse_json(data.removeprefix(b"\xef\xbb\xbf"))
        except ValueError as fault:
            raise UsageError(f"{self.path}: {fault}") from None

    def _raw_lines(self) -> Iterator[bytes]:
        with self._open() as file:
            first = True
            while line := self._line(file):
                yield line.removeprefix(b"\xef\xbb\xbf") if first else line
                first = False

    def _line(self, file: IO[bytes]) -> bytes:
        try:
            line = file.readline(LONGEST_LINE + 1)
        except (OSError, EOFError, zlib.error) as fault:
            raise self._unreadable(fault) from None
        if len(line) > LONGEST_LINE:
            raise UsageError(
                f"{self.path}: a line is longer than {LONGEST_LINE >> 20} MB; is this the right file?"
            )
        return line

    def _open(self) -> IO[bytes]:
        with self.path.open("rb") as file:
            zipped = file.read(2) == b"\x1f\x8b"
        return io.BufferedReader(gzip.open(self.path)) if zipped else self.path.open("rb")

    def _unreadable(self, fault: Exception) -> UsageError:
        return UsageError(f"{self.path}: cannot be read ({getattr(fault, 'strerror', None) or fault})")


def parse_json(data: bytes | str) -> Any:
    """Any JSON value; raises ValueError with one clear reason."""
    try:
        return msgspec.json.decode(data)
    except msgspec.DecodeError as fault:
        raise ValueError(f"not JSON ({fault})") from None
    except UnicodeDecodeError as fault:
        raise ValueError(
            f"not UTF-8 (byte {fault.object[fault.start]:#04x}); save the file as UTF-8"
        ) from None
    except UnicodeEncodeError:
        raise ValueError("not UTF-8; save the file as UTF-8") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
