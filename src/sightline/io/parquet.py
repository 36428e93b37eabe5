"""Parquet with the contract's columns, read batch by batch."""

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from sightline.errors import UsageError
from sightline.io.base import Found, Reader, checked, readers
from sightline.io.source import Source

ROWS = 1024


@readers.add("parquet")
@dataclass(frozen=True)
class Parquet(Reader):
    """Parquet with the columns of JSON Lines; images, sentences and references as lists."""

    general = True

    def recognises(self, source: Source) -> bool:
        return source.kind == "parquet"

    def read(self, source: Source) -> Iterator[Found]:
        try:
            with pq.ParquetFile(source.path) as file:
                if "id" not in file.schema_arrow.names:
                    raise UsageError(f"{source.path}: the Parquet file has no column 'id'")
                number = 0
                for batch in file.iter_batches(ROWS):
                    for row in batch.to_pylist():
                        number += 1
                        yield checked(row, source.folder, f"{source.path}: row {number}")
        except (pa.ArrowException, OSError, ValueError, OverflowError) as fault:
            reason = str(fault).split("\n", 1)[0]
            raise UsageError(f"{source.path}: not a readable Parquet file ({reason})") from None
