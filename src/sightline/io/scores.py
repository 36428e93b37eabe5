"""Scores and failures to disk as they are made, and back."""

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from sightline.errors import BadLine
from sightline.io.results import ResultFolder, failure_row, told, whole
from sightline.io.score_lines import SCHEMA, ScoreBlock, score_lines, table_of
from sightline.io.source import Source
from sightline.items import Failure, Key, Score

T = TypeVar("T")

SCORES = "scores.jsonl"
FAILURES = "failures.jsonl"
TABLE = "scores.parquet"

ROW_GROUP = 4096


class ScoreWriter:
    """Writes scores.jsonl, scores.parquet (evidence as JSON text) and failures.jsonl.

    They appear in the folder together when the writer is closed.
    """

    def __init__(self, folder: ResultFolder) -> None:
        self._folder = folder
        self._parts = ExitStack()
        with told(folder.path):
            self._scores, self._failures, table = (
                self._parts.enter_context(whole(folder.path / name)) for name in (SCORES, FAILURES, TABLE)
            )
            self._table = pq.ParquetWriter(table, SCHEMA, compression="zstd")
        self._waiting: list[pa.Table] = []
        self._rows = 0
        self._encoder = msgspec.json.Encoder()
        self._closed = False

    def add(self, scores: Sequence[Score], failures: Sequence[Failure]) -> None:
        lines, columns = score_lines(scores, self._encoder)
        failed = b"".join(self._encoder.encode(failure_row(failure)) + b"\n" for failure in failures)
        self._put(lines, pa.table(columns, schema=SCHEMA), failed, len(failures))

    def add_block(self, block: ScoreBlock) -> None:
        """What was made elsewhere."""
        self._put(block.scores, table_of(block.table), block.failures, block.failed)

    def _put(self, lines: bytes, table: pa.Table, failures: bytes, failed: int) -> None:
        with told(self._folder.path):
            self._scores.write(lines)
            self._failures.write(failures)
            self._folder.failed += failed
            self._waiting.append(table)
            self._rows += len(table)
            if self._rows >= ROW_GROUP:
                self._write_rows()

    def close(self) -> None:
        """Put the files in place. Closing again does nothing."""
        if self._closed:
            return
        self._closed = True
        with told(self._folder.path):
            self._write_rows()
            self._table.close()
        self._parts.close()

    def abandon(self) -> None:
        """Let go of what was written so far. Files that are in place already stay."""
        if not self._closed:
            self._closed = True
            with suppress(_Abandoned, OSError):
                self._table.close()
            with suppress(_Abandoned):
                abandoned = _Abandoned()
                self._parts.__exit__(type(abandoned), abandoned, None)

    def _write_rows(self) -> None:
        if self._rows:
            self._table.write_table(pa.concat_tables(self._waiting), ROW_GROUP)
            self._waiting, self._rows = [], 0


class _Abandoned(Exception):  # noqa: N818 - told to the files, so that they do not appear
    """The run was given up."""


class StoredScore(msgspec.Struct):
    """A score as it is stored, its evidence not read yet: most of what reads scores looks at few of them."""

    id: str
    metric: str
    score: float
    signature: str
    evidence: msgspec.Raw
    """As JSON."""
    system: str | None = None

    @property
    def key(self) -> Key:
        return self.id, self.system


def stored_scores(path: Path) -> Iterator[StoredScore]:
    """The scores of a scores.jsonl that a run of ours wrote."""
    return _read(path, StoredScore)


def read_scores(path: Path) -> Iterator[Score]:
    """The scores of a scores.jsonl."""
    return _read(path, Score)


def decoded_scores(lines: bytes) -> list[Score]:
    """Scores from lines of a scores.jsonl that we wrote."""
    return msgspec.json.Decoder(Score).decode_lines(lines)


def decoded_failures(lines: bytes) -> list[Failure]:
    return msgspec.json.Decoder(Failure).decode_lines(lines)


def read_failures(path: Path) -> Iterator[Failure]:
    """The failures of a failures.jsonl."""
    return _read(path, Failure)


def _read(path: Path, kind: type[T]) -> Iterator[T]:
    if path.is_file() and not path.stat().st_size:
        return  # nothing failed
    decode: Any = msgspec.json.Decoder(kind).decode
    for number, line in Source(path).lines():
        if isinstance(line, BadLine):
            raise line
        try:
            yield _decoded(line, decode, kind)
        except (ValueError, TypeError) as fault:
            raise BadLine(f"{path}:{number}", f"not a {kind.__name__.lower()} ({fault})") from None


def _decoded(line: bytes, decode: Any, kind: type[T]) -> T:
    """A line of ours, or of another program that writes NaN, or null, where it has no score."""
    try:
        found: T = decode(line)
    except msgspec.DecodeError:
        row = json.loads(line)
        if isinstance(row, dict) and row.get("score", 0) is None:
            row["score"] = math.nan
        found = msgspec.convert(row, kind)
    return found
