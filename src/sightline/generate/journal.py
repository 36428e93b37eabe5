"""What was described so far, a line each, durable batch by batch: a run that is killed goes on from it."""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from sightline.errors import UsageError
from sightline.generate.subjects import Subject
from sightline.io.json_csv import json_line
from sightline.io.results import ResultFolder, told

FILE = "unfinished.jsonl"


class Journal:
    """Lines by key in a result folder. The first names what the run makes; another run's is refused.

    A line that was cut off is no line: what it was of is made again.
    """

    def __init__(self, out: ResultFolder, fingerprint: Mapping[str, Any]) -> None:
        self.path = out.path / FILE
        self.known: dict[str, Any] = {}
        self._empty = True
        self._file: IO[bytes] | None = None
        head = {"run": json.loads(json_line(fingerprint))}
        if self.path.exists() and not out.resume and not out.overwrite:
            raise UsageError(
                f"{out.path} holds an unfinished run; give --resume to go on or --overwrite to start over"
            )
        with told(self.path):
            if self.path.exists() and out.resume:
                whole = self._read(head)
                self._file = self.path.open("r+b")
                self._file.truncate(whole)
                self._file.seek(whole)
            else:
                self._file = self.path.open("wb")
            if not self.known and not self._file.tell():
                self._write([head])

    def _read(self, head: Mapping[str, Any]) -> int:
        """The lines that are whole; where they end."""
        end = 0
        for number, line in enumerate(self.path.read_bytes().splitlines(keepends=True)):
            try:
                found = json.loads(line) if line.endswith(b"\n") else None
            except ValueError:
                found = None
            if not isinstance(found, dict):
                break
            if number == 0:
                if found != head:
                    was, now = found.get("run", {}), head["run"]
                    other = [name for name in now if was.get(name) != now[name]]
                    raise UsageError(
                        f"{self.path} belongs to another run (with other {', '.join(other) or 'settings'}); repeat "
                        "that one, or start over with --overwrite"
                    )
            else:
                self.known[found["key"]] = found["told"]
            end += len(line)
        return end

    def add(self, rows: Iterable[tuple[str, Any]]) -> None:
        self._empty = False
        with told(self.path):
            self._write([{"key": key, "told": value} for key, value in rows])

    def _write(self, lines: Iterable[Mapping[str, Any]]) -> None:
        assert self._file is not None
        self._file.write("".join(map(json_line, lines)).encode())
        self._file.flush()
        os.fsync(self._file.fileno())

    def delete(self) -> None:
        """The run is done."""
        self.close()
        with told(self.path):
            self.path.unlink(missing_ok=True)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        if fault is not None and self._empty and not self.known:  # nothing to resume
            self.delete()
        self.close()


def key_of(subject: Subject) -> str:
    """A subject as the files are now: what changed is described anew."""
    return hashlib.blake2b(
        json.dumps([subject.id, [_state(path) for path in subject.images]]).encode(), digest_size=12
    ).hexdigest()


def _state(path: Path) -> list[Any]:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return [str(path), -1, -1]
    return [str(path), found.st_size, found.st_mtime_ns]
