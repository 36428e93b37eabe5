"""Scores and failures to disk as they are made, and back. Each file is put in place whole."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from sightline.errors import UsageError
from sightline.items import Failure, Score

T = TypeVar("T")

SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("metric", pa.string()),
        ("score", pa.float64()),
        ("signature", pa.string()),
        ("evidence", pa.string()),
    ]
)
ROW_GROUP = 4096


class ScoreWriter:
    """Writes scores.jsonl, scores.parquet (evidence as JSON text) and failures.jsonl.

    They appear in the folder together when the writer is closed; until then they are called `….part`.
    """

    def __init__(self, folder: Path) -> None:
        self._paths = [folder / name for name in ("scores.jsonl", "failures.jsonl", "scores.parquet")]
        self._parts = [path.with_name(path.name + ".part") for path in self._paths]
        self._scores: IO[bytes] = self._parts[0].open("wb")
        self._failures: IO[bytes] = self._parts[1].open("wb")
        self._table = pq.ParquetWriter(self._parts[2], SCHEMA, compression="zstd")
        self._rows: list[tuple[str, str, float, str, str]] = []
        self._encode = msgspec.json.Encoder().encode
        self._closed = False

    def add(self, scores: Sequence[Score], failures: Sequence[Failure]) -> None:
        for score in scores:
            self._scores.write(self._encode(score) + b"\n")
            evidence = self._encode(score.evidence).decode()
            self._rows.append((score.id, score.metric, score.score, score.signature, evidence))
        for failure in failures:
            self._failures.write(self._encode(failure) + b"\n")
        if len(self._rows) >= ROW_GROUP:
            self._write_rows()

    def close(self) -> None:
        """Put the files in place. Closing again does nothing."""
        if self._closed:
            return
        self._closed = True
        self._write_rows()
        self._table.close()
        for file in (self._scores, self._failures):
            file.flush()
            os.fsync(file.fileno())
            file.close()
        for part, path in zip(self._parts, self._paths, strict=True):
            part.replace(path)

    def abandon(self) -> None:
        """Let go of what was written so far. Files that are in place already stay."""
        if not self._closed:
            self._closed = True
            for file in (self._scores, self._failures, self._table):
                file.close()
            for part in self._parts:
                part.unlink(missing_ok=True)

    def _write_rows(self) -> None:
        if self._rows:
            columns = [
                pa.array(column, field.type)
                for column, field in zip(zip(*self._rows, strict=True), SCHEMA, strict=True)
            ]
            self._table.write_table(pa.table(columns, schema=SCHEMA))
            self._rows.clear()


def read_scores(path: Path) -> Iterator[Score]:
    """The scores of a scores.jsonl."""
    return _read(path, Score)


def read_failures(path: Path) -> Iterator[Failure]:
    """The failures of a failures.jsonl."""
    return _read(path, Failure)


def _read(path: Path, kind: type[T]) -> Iterator[T]:
    decode: Any = msgspec.json.Decoder(kind).decode
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    yield decode(line)
                except (msgspec.DecodeError, UnicodeDecodeError) as fault:
                    raise UsageError(f"{path}:{number}: not a {kind.__name__.lower()} ({fault})") from None
    except OSError as fault:
        raise UsageError(f"{path}: cannot be read ({fault.strerror})") from None
