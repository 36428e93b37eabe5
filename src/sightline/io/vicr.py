"""VICR (Narins et al. 2024): pictures and captions with four to seven people's ratings from 1 to 5."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sightline.errors import BadLine, UsageError
from sightline.io.base import Found, readers
from sightline.io.items import parse_number
from sightline.io.published import Published, as_number, built, coco_names, last_parts
from sightline.io.references import References
from sightline.io.source import naming
from sightline.io.table import TableFile

RATING = re.compile(r"ratings|rating_\d+")
"""The first rating stands in a column that is called `ratings`, the others in `rating_2` and so on."""
CALLED = {"text": "caption"}
CRITERION = "overall"
"""As the rating game's own exports call it."""


@readers.add("vicr")
@dataclass(frozen=True)
class Vicr(Published):
    """VICR CSV (image, caption, num_ratings, ratings, rating_2 …); pictures by the end of their address."""

    subset: Literal["all", "train", "val", "test"] = "all"
    """Only the pairs that the file's column `subset` gives to this part."""
    references: Path | None = None
    """Captions of COCO's pictures (captions_val2014.json, or items); a candidate is none of its references."""

    def recognises(self, source: TableFile) -> bool:
        return source.columns >= {"image", "caption", "num_ratings", "ratings"}

    def read(self, source: TableFile) -> Iterator[Found]:
        if not source.columns >= {"image", "caption", "ratings"}:
            raise UsageError(
                f"{source.path}: not a VICR file; it needs the columns image, caption and ratings"
            )
        if self.subset != "all" and "subset" not in source.columns:
            raise UsageError(
                f"{source.path}: there is no column 'subset', so none of it is known to be {self.subset}"
            )
        album = self.album(source)
        known = References.read(self.references) if self.references else References()
        seen: dict[str, int] = {}
        for where, row in source.records():
            if isinstance(row, BadLine):
                yield row
                continue
            name = last_parts(row.get("image", "").strip())
            seen[name] = seen.get(name, 0) + 1
            part = row.get("subset", "").strip()
            if self.subset not in ("all", part):
                continue
            id = f"{name}#{seen[name]}"
            try:
                ratings = _ratings(row)
                image = album.find("field 'image'", *coco_names(name))
            except ValueError as fault:
                yield BadLine(where, str(fault), id)
                continue
            about = {"system": row.get("system") or None, "subset": part or None, "url": row["image"].strip()}
            references = list(known.of(name, without=row.get("caption", "")))
            given = {"text": row.get("caption"), "references": references, "ratings": {CRITERION: ratings}}
            yield built(source, where, id, [image], CALLED, **given, **about)


def _ratings(row: dict[str, str]) -> list[float]:
    """A row's ratings, as many as num_ratings says."""
    ratings = []
    for column, cell in row.items():
        if RATING.fullmatch(column) and (cell := cell.strip()):
            with naming(f"field '{column}'"):
                ratings.append(parse_number(as_number(cell)))
    if count := row.get("num_ratings", "").strip():
        with naming("field 'num_ratings'"):
            if as_number(count) != len(ratings):
                raise ValueError(f"says {count} where there are {len(ratings)} ratings")
    return ratings
