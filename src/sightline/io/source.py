"""A file to read from: its lines or whole document, and what went wrong where."""

import gzip
import io
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import IO, Any, Final

import msgspec

from sightline.errors import BadLine, UsageError

LONGEST_LINE: Final = 64 << 20
"""Bytes of one line; a longer one is not a line of items but some other file."""
SKIPPED_AT_ONCE: Final = 1 << 20
"""Bytes of a line that is too long are passed over in pieces of this size."""
LARGEST_DOCUMENT: Final = 4 << 30
"""Bytes of a JSON file that is read whole."""

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"

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


@contextmanager
def naming(place: str) -> Iterator[None]:
    """A fault inside is told with the place where it is, such as "field 'id'"."""
    try:
        yield
    except ValueError as fault:
        raise ValueError(f"{place}: {fault}") from None


class Source:
    """One input file, plain or gzipped. UTF-8; a byte order mark and Windows line ends do no harm."""

    before = 0
    """Lines of the file before its first here."""

    def __init__(self, path: Path, content: Path | None = None) -> None:
        self.path = path
        """What the file is called."""
        self.content = content or path
        """Where its bytes are."""
        try:
            if self.content.is_dir():
                raise UsageError(f"{path}: a folder, not a file of items")
            with self.open() as file:
                self.head = file.read(1 << 16)
        except FileNotFoundError:
            raise UsageError(f"{path}: there is no such file") from None
        except (OSError, EOFError, zlib.error, ValueError) as fault:
            raise self.unreadable(fault) from None
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
        start = self.head.removeprefix(BYTE_ORDER_MARK).lstrip()
        if kind in ("", "json") and start.startswith((b"{", b"[")):
            return "jsonl" if self._is_lines() else "json"
        if not kind:
            line = start.split(b"\n", 1)[0]
            kind = "tsv" if b"\t" in line else "csv" if b"," in line else ""
        return kind

    def _is_lines(self) -> bool:
        """Whether the first line is a whole object, with more lines behind it or else in an item's form."""
        lines = self.lines()
        first = next(lines)[1]
        try:
            if isinstance(first, BadLine):
                return False
            found = msgspec.json.decode(first, type=_Outline)
        except (ValueError, RecursionError):
            return False
        return next(lines, None) is not None or found.is_item

    def lines(self) -> Iterator[tuple[int, bytes | BadLine]]:
        """Number and bytes of every line that is not blank; one that is too long comes out as the reason."""
        with self.open() as file:
            lines = Lines(self, file)
            while True:
                try:
                    line = next(lines)
                except StopIteration:
                    return
                except BadLine as long:
                    yield lines.number, long
                    continue
                if line.strip():
                    yield lines.number, line

    def objects(self) -> Iterator[tuple[str, dict[str, Any] | BadLine]]:
        """Where and what for every line of a JSON Lines file."""
        for number, line in self.lines():
            where = self.where(number)
            if isinstance(line, BadLine):
                yield where, line
                continue
            try:
                found = parse_json(line)
            except ValueError as fault:
                yield where, BadLine(where, str(fault))
                continue
            yield where, found if isinstance(found, dict) else BadLine(where, "not a JSON object")

    @cached_property
    def document(self) -> Any:
        """The whole of a JSON file."""
        with self.open() as file:
            try:
                data = file.read(LARGEST_DOCUMENT + 1)
            except (OSError, EOFError, zlib.error) as fault:
                raise self.unreadable(fault) from None
        if len(data) > LARGEST_DOCUMENT:
            raise UsageError(f"{self.path}: larger than {LARGEST_DOCUMENT >> 30} GB")
        try:
            return parse_json(data.removeprefix(BYTE_ORDER_MARK))
        except ValueError as fault:
            raise UsageError(f"{self.path}: {fault}") from None

    def open(self) -> IO[bytes]:
        """Its bytes, unzipped."""
        with self.content.open("rb") as file:
            zipped = file.read(2) == b"\x1f\x8b"
        return io.BufferedReader(gzip.open(self.content)) if zipped else self.content.open("rb")

    def unreadable(self, fault: Exception) -> UsageError:
        return UsageError(f"{self.path}: cannot be read ({getattr(fault, 'strerror', None) or fault})")


class Lines:
    """The lines of an open file, counted.

    One that is too long is passed over and raised as BadLine; the next call goes on with the line after it.
    """

    def __init__(self, source: Source, file: IO[bytes]) -> None:
        self.number = source.before
        self._source = source
        self._file = file

    def __iter__(self) -> "Lines":
        return self

    def __next__(self) -> bytes:
        line = self._read(LONGEST_LINE + 1)
        if not line:
            raise StopIteration
        self.number += 1
        if len(line) > LONGEST_LINE:
            while line and not line.endswith(b"\n"):
                line = self._read(SKIPPED_AT_ONCE)
            raise BadLine(self._source.where(self.number), f"the line is longer than {LONGEST_LINE >> 20} MB")
        return line.removeprefix(BYTE_ORDER_MARK) if self.number == 1 else line

    def _read(self, most: int) -> bytes:
        try:
            return self._file.readline(most)
        except (OSError, EOFError, zlib.error) as fault:
            raise self._source.unreadable(fault) from None


class _Outline(msgspec.Struct):
    """Which of an item's fields an object has."""

    id: Any = None
    images: Any = None
    text: Any = None
    sentences: Any = None

    @property
    def is_item(self) -> bool:
        return self.id is not None and any(
            part is not None for part in (self.images, self.text, self.sentences)
        )


def parse_json(data: bytes | str) -> Any:
    """Any JSON value, the NaN that Python writes too: it is null. Raises ValueError with one clear reason."""
    try:
        try:
            return msgspec.json.decode(data)
        except msgspec.DecodeError:
            text = data if isinstance(data, str) else data.decode()
            if "NaN" not in text and "Infinity" not in text:
                raise
            return json.loads(text, parse_constant=lambda _: None)
    except (msgspec.DecodeError, json.JSONDecodeError) as fault:
        raise ValueError(f"not JSON ({fault})") from None
    except UnicodeDecodeError as fault:
        raise ValueError(
            f"not UTF-8 (byte {fault.object[fault.start]:#04x}); save the file as UTF-8"
        ) from None
    except UnicodeEncodeError:
        raise ValueError("not UTF-8; save the file as UTF-8") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
