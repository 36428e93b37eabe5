"""The one way results reach the disk: a folder that one run at a time writes to, each file put in place whole.

>>> with ResultFolder(Path("results")) as out:  # doctest: +SKIP
...     out.json("summary.json", {"mean": 0.5})
...     out.csv("items.csv", ("id", "score"), rows)
...     out.failures(failures)
>>> sys.exit(out.status)  # doctest: +SKIP
"""

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from sightline.errors import UnwritableError
from sightline.io.json_csv import csv_lines, json_line, json_text
from sightline.io.lock import Lock
from sightline.items import Failure

LOCK = ".sightline.lock"
PART = ".part"


class ResultFolder:
    """A folder of results, locked while a `with` block writes to it.

    A file appears under its name when it is whole. What an interrupted run left half written is cleared away by the
    next. Anything in the way (a full disk, a folder of a file's name, another run) is a
    `UsageError` of one line.
    """

    def __init__(self, path: Path, *, overwrite: bool = False, resume: bool = False) -> None:
        self.path = path
        self.overwrite = overwrite
        """Whether results of another run may be replaced."""
        self.resume = resume
        """Whether to go on with an unfinished run."""
        self.failed = 0
        """How many failures were written."""
        self._lock: Lock | None = None
        self._new = False

    @property
    def status(self) -> int:
        """The command's exit status: 3 where some items failed."""
        return 3 if self.failed else 0

    def __enter__(self) -> Self:
        with told(self.path):
            self._new = not self.path.exists()
            try:
                self.path.mkdir(parents=True, exist_ok=True)
            except (FileExistsError, NotADirectoryError):
                file = next(place for place in (self.path, *self.path.parents) if place.is_file())
                raise UnwritableError(f"{self.path}: cannot write there ({file} is a file)") from None
            self._lock = Lock(self.path / LOCK)
            self._clear()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._lock is not None:
            with suppress(OSError):
                self._clear()
            self._lock.release()
            self._lock = None
            if fault is not None and self._new:
                with suppress(OSError):  # there is something in it
                    self.path.rmdir()

    def expect(self, *names: str) -> None:
        """Raises `UnwritableError`, before the work, where a folder has the name of a file to come."""
        for name in names:
            if (self.path / name).is_dir():
                raise UnwritableError(f"{self.path}: cannot write there ({name} is a folder)")

    def holds(self, name: str) -> bool:
        return (self.path / name).is_file()

    def json(self, name: str, value: Any) -> None:
        """Any value of numbers, texts, lists, mappings, dataclasses and arrays; NaN becomes null."""
        self.text(name, json_text(value))

    def jsonl(self, name: str, rows: Iterable[Any]) -> None:
        self.text(name, map(json_line, rows))

    def csv(self, name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """A header and rows; what is None or NaN is an empty cell, and no cell can be a formula."""
        self.text(name, csv_lines(columns, rows))

    def text(self, name: str, text: str | Iterable[str]) -> None:
        """A text, whole or in pieces as they are made (the page of a report)."""
        with whole(self.path / name) as file:
            for piece in (text,) if isinstance(text, str) else text:
                file.write(piece.encode("utf-8", "backslashreplace"))

    def bytes(self, name: str, content: bytes) -> None:
        with whole(self.path / name) as file:
            file.write(content)

    def parquet(self, name: str, table: pa.Table) -> None:
        with whole(self.path / name) as file:
            pq.write_table(table, file, compression="zstd")

    @contextmanager
    def staged(self) -> Iterator[Path]:
        """An empty folder for files that other programs write; they come in place when the block ends well."""
        with told(self.path):
            part = Path(tempfile.mkdtemp(suffix=PART, prefix=".", dir=self.path))
        try:
            with told(self.path):
                yield part
                for file in sorted(one for one in part.rglob("*") if one.is_file()):
                    place = self.path / file.relative_to(part)
                    place.parent.mkdir(parents=True, exist_ok=True)
                    file.replace(place)
        finally:
            shutil.rmtree(part, ignore_errors=True)

    def failures(self, failures: Iterable[Failure]) -> None:
        """failures.jsonl, empty where nothing failed."""
        self.jsonl("failures.jsonl", map(self._counted, failures))

    def remove(self, *names: str) -> None:
        for name in names:
            with told(self.path / name):
                (self.path / name).unlink(missing_ok=True)

    def _counted(self, failure: Failure) -> dict[str, Any]:
        self.failed += 1
        return failure_row(failure)

    def _clear(self) -> None:
        """Remove what was never finished; only the holder of the lock may."""
        for part in self.path.glob(f".*{PART}"):
            if part.is_dir():
                shutil.rmtree(part, ignore_errors=True)
            else:
                part.unlink(missing_ok=True)


def failure_row(failure: Failure) -> dict[str, Any]:
    """A line of failures.jsonl."""
    return {
        "id": failure.id,
        "system": failure.system,
        "metric": failure.metric,
        "reason": failure.reason,
        "source": failure.source,
    }


@contextmanager
def whole(path: Path) -> Iterator[IO[bytes]]:
    """A file to write that appears under its name when the block ends, and not at all where the block fails."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}{PART}")
    with told(path):
        try:
            if path.is_dir():
                raise IsADirectoryError(21, "a folder has this name")
            with part.open("xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Trouble with the disk as one clear line."""
    try:
        yield
    except OSError as fault:
        raise UnwritableError(f"{path}: cannot write there ({fault.strerror or fault})") from None
