"""The items of a file, as often as they are asked for, and its lines in slices that another process can read."""

from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO, Literal

from sightline.errors import BadLine, UsageError
from sightline.io.base import Found, guess, item_file, make_reader, streamed
from sightline.io.item_rows import JsonLines
from sightline.io.pictures import files
from sightline.io.source import Lines
from sightline.io.table import StandardInput, TableFile


class ItemFile:
    """Iterating over it reads the file from its start. What is wrong with the file itself is told when it is made."""

    def __init__(
        self,
        path: Path | str,
        *,
        format: str | None = None,
        on_error: Literal["raise", "collect"] = "raise",
    ) -> None:
        self._collect = on_error == "collect"
        self._source = item_file(path)
        self._reader = make_reader(format) if format else guess(self._source)

    def __iter__(self) -> Iterator[Found]:
        return streamed(self._reader, self._source, self._collect)

    @property
    def has_lines(self) -> bool:
        """Whether its lines are items each, wherever they are read."""
        if type(self._reader) is not JsonLines or isinstance(self._source, StandardInput):
            return False
        with self._source.content.open("rb") as file:
            return files.fetcher is None and file.read(2) != b"\x1f\x8b"  # nor is it zipped

    def slices(self, size: int) -> Iterator["LineSlice"]:
        """So many lines at a time, blank ones not counted."""
        path, collect = self._source.content.resolve(), self._collect
        with self._source.open() as file:
            lines = Lines(self._source, file)
            start = before = rows = 0
            for blank in _blank(lines):
                rows += not blank
                if rows == size:
                    end = file.tell()
                    yield LineSlice(path, self._source.path, start, end, before, rows, collect)
                    start, before, rows = end, lines.number, 0
            if rows:
                yield LineSlice(path, self._source.path, start, file.tell(), before, rows, collect)

    def refuse_no_items(self, fault: BadLine | None) -> None:
        """As reading it item by item does."""
        reason = f"no item in it; {fault}" if fault else "no item in it"
        raise UsageError(f"{self._source.path}: {reason}")


def _blank(lines: Lines) -> Iterator[bool]:
    """Of every line whether nothing is in it; one that is too long is something."""
    while True:
        try:
            yield not next(lines).strip()
        except StopIteration:
            return
        except BadLine:
            yield False


@dataclass(frozen=True)
class LineSlice:
    """Some lines of a file of JSON Lines."""

    path: Path
    """Where the file lies."""
    named: Path
    """What messages call it; pictures are relative to it."""
    start: int
    end: int
    before: int
    """Lines before it."""
    rows: int
    collect: bool
    """Whether a line that is no item comes out as the reason; else it is raised."""

    def read(self) -> Iterator[Found]:
        for found in JsonLines().read(_SlicedFile(self)):
            if isinstance(found, BadLine) and not self.collect:
                raise found
            yield found


class _SlicedFile(TableFile):
    def __init__(self, part: LineSlice) -> None:
        self.path, self.content = part.named, part.path
        self.before = part.before
        self._part = part

    def open(self) -> IO[bytes]:
        with self.content.open("rb") as file:
            file.seek(self._part.start)
            return BytesIO(file.read(self._part.end - self._part.start))
