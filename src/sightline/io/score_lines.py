"""Scores as blocks of bytes that a worker makes and a file takes as they are: JSON Lines, and rows of a table."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pyarrow as pa

from sightline.io.results import failure_row
from sightline.items import Failure, Score

SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("system", pa.string()),
        ("metric", pa.string()),
        ("score", pa.float64()),
        ("signature", pa.string()),
        ("evidence", pa.string()),
    ]
)


class ScoreBlock(msgspec.Struct, array_like=True):
    """Some scores and failures."""

    scores: bytes
    """Lines of scores.jsonl."""
    table: bytes
    """The same as rows of scores.parquet, in Arrow's stream form."""
    failures: bytes
    """Lines of failures.jsonl."""
    failed: int


class _Line(msgspec.Struct):
    """A line of scores.jsonl, its fields in order."""

    id: str
    system: str | None
    metric: str
    score: float
    signature: str
    evidence: msgspec.Raw


def score_block(scores: Sequence[Score], failures: Sequence[Failure]) -> ScoreBlock:
    encoder = msgspec.json.Encoder()
    lines, rows = score_lines(scores, encoder)
    return ScoreBlock(
        lines,
        stream(pa.table(rows, schema=SCHEMA)),
        b"".join(encoder.encode(failure_row(failure)) + b"\n" for failure in failures),
        len(failures),
    )


def score_lines(scores: Sequence[Score], encoder: msgspec.json.Encoder) -> tuple[bytes, list[pa.Array]]:
    """Scores as JSON Lines, and as the columns of a table."""
    evidence = [encoder.encode(score.evidence) for score in scores]
    columns: tuple[list[Any], ...] = (
        [score.id for score in scores],
        [score.system for score in scores],
        [score.metric for score in scores],
        [score.score for score in scores],
        [score.signature for score in scores],
    )
    lines = encoder.encode_lines(
        [
            _Line(id, system, metric, score, signature, msgspec.Raw(told))
            for id, system, metric, score, signature, told in zip(*columns, evidence, strict=True)
        ]
    )
    arrays = [pa.array(column, kind.type) for column, kind in zip((*columns, evidence), SCHEMA, strict=True)]
    return lines, arrays


def stream(table: pa.Table) -> bytes:
    """A table in Arrow's stream form."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    found: bytes = sink.getvalue().to_pybytes()
    return found


def table_of(data: bytes) -> pa.Table:
    """And back."""
    with pa.ipc.open_stream(pa.py_buffer(data)) as reader:
        return reader.read_all()
