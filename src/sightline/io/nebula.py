"""Nebula and Polaris: captions of many systems, each with one human score (Matsuda et al. 2024; Wada et al. 2024)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sightline.errors import BadLine, UsageError
from sightline.io.base import Found, readers
from sightline.io.item_rows import structured
from sightline.io.published import Published, as_number, built, coco_names, id_in, last_parts
from sightline.io.table import TableFile

COLUMNS = frozenset({"imgid", "mt", "refs", "score"})
CRITERION = "score"


@readers.add("nebula")
@dataclass(frozen=True)
class Nebula(Published):
    """Nebula or Polaris: imgid, mt (the caption), refs and score, as a JSON list, JSON Lines or CSV."""

    def recognises(self, source: TableFile) -> bool:
        return _columns(source) >= COLUMNS

    def read(self, source: TableFile) -> Iterator[Found]:
        if not _columns(source) >= COLUMNS:
            raise UsageError(f"{source.path}: not Nebula or Polaris; it needs {', '.join(sorted(COLUMNS))}")
        album = self.album(source)
        seen: dict[str, int] = {}
        for where, row in source.records():
            if isinstance(row, BadLine):
                yield row
                continue
            row = structured(row, ("refs",))
            try:
                image = last_parts(id_in(row, "imgid"))
                path = album.find("field 'imgid'", *coco_names(image))
                rating = as_number(str(row.get("score")))
            except ValueError as fault:
                yield BadLine(where, str(fault))
                continue
            number = seen[image] = seen.get(image, -1) + 1
            called = {"text": "mt", "references": "refs"}
            yield built(
                source, where, f"{image}#{number}", [path], called, text=row.get("mt"), references=row.get("refs"),
                ratings={CRITERION: rating},
            )  # fmt: skip


def _columns(source: TableFile) -> frozenset[str]:
    """The fields of the first row, also of a JSON list."""
    if source.kind != "json":
        return source.columns
    document: Any = source.document
    first = document[0] if isinstance(document, list) and document else None
    return frozenset(map(str, first)) if isinstance(first, dict) else frozenset()
