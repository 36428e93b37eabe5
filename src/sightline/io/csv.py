"""CSV with the contract's columns. A cell that holds several things is a JSON list or object."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sightline.errors import UsageError
from sightline.io.base import Found, Reader, checked, readers
from sightline.io.source import BadLine, Source, parse_json

STRUCTURED = ("images", "sentences", "references", "ratings", "regions")


@readers.add("csv")
@dataclass(frozen=True)
class Csv(Reader):
    """CSV with the columns of JSON Lines; lists in a cell as JSON."""

    general = True

    def recognises(self, source: Source) -> bool:
        return source.kind == "csv" and "id" in source.columns

    def read(self, source: Source) -> Iterator[Found]:
        if "id" not in source.columns:
            raise UsageError(f"{source.path}: the CSV file has no column 'id' in its first line")
        for where, row in source.records():
            yield row if isinstance(row, BadLine) else self._item(row, source, where)

    def _item(self, row: dict[str, str], source: Source, where: str) -> Found:
        given: dict[str, Any] = {}
        for name, cell in row.items():
            if not cell.strip():
                continue
            given[name] = cell
            if name in STRUCTURED and cell.lstrip()[0] in "[{":
                try:
                    given[name] = parse_json(cell)
                except ValueError as fault:
                    return BadLine(where, f"field '{name}': {fault}", row.get("id", ""))
        return checked(given, source.folder, where)
