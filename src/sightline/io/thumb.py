"""THumB 1.0: captions by four systems and by people, rated for precision and recall (Kasai et al. 2022)."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sightline.errors import BadLine, UsageError
from sightline.io.base import Found, readers
from sightline.io.published import Published, as_number, built, coco_names, id_in, last_parts
from sightline.io.table import TableFile, read_rows

COLUMNS = frozenset({"SYS", "seg_id", "hyp", "image", "human_score"})
CRITERIA = {"human_score": "total", "P": "precision", "R": "recall"}
PEOPLE = "Human"


@readers.add("thumb")
@dataclass(frozen=True)
class Thumb(Published):
    """THumB: JSON Lines with SYS, seg_id, hyp, image, P, R and human_score; references in a second file."""

    references: Path | None = None
    """JSON Lines with seg_id and refs."""
    people: Literal["keep", "drop"] = "keep"
    """Whether captions by people are kept, as the paper's two tables differ."""

    def recognises(self, source: TableFile) -> bool:
        return source.kind == "jsonl" and source.columns >= COLUMNS

    def read(self, source: TableFile) -> Iterator[Found]:
        if not source.columns >= COLUMNS:
            raise UsageError(f"{source.path}: not THumB; it needs the fields {', '.join(sorted(COLUMNS))}")
        known = _references(self.references) if self.references else {}
        album = self.album(source)
        for where, row in source.objects():
            if isinstance(row, BadLine):
                yield row
                continue
            try:
                id, system, image = (id_in(row, name) for name in ("seg_id", "SYS", "image"))
                if self.people == "drop" and system == PEOPLE:
                    continue
                path = album.find("field 'image'", *coco_names(last_parts(image)))
                ratings = {
                    name: _number(row[field])
                    for field, name in CRITERIA.items()
                    if row.get(field) is not None
                }
            except ValueError as fault:
                yield BadLine(where, str(fault))
                continue
            yield built(
                source, where, id, [path], {"text": "hyp"}, text=row.get("hyp"), system=system, ratings=ratings,
                references=known.get(id),
            )  # fmt: skip


def _number(value: Any) -> float:
    return as_number(str(value))


def _references(path: Path) -> dict[str, list[str]]:
    """The references of each segment."""
    found: dict[str, list[str]] = {}
    for where, row in read_rows(path, ("seg_id", "refs")):
        if not isinstance(row["refs"], list):
            raise UsageError(f"{where}: field 'refs' is not a list of texts")
        found[str(row["seg_id"])] = row["refs"]
    return found
