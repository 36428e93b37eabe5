"""VICR (Narins et al. 2024): pictures and captions with four to seven people's ratings from 1 to 5."""

from collections.abc import Iterator
from dataclasses import dataclass

from sightline.errors import BadLine, UsageError
from sightline.io.base import Found, readers
from sightline.io.items import parse_number
from sightline.io.published import Published, as_number, built, last_parts
from sightline.io.source import naming
from sightline.io.table import TableFile

COLUMNS = ("ratings", *(f"rating_{n}" for n in range(2, 8)))
"""The first rating stands in a column that is called `ratings`."""
CALLED = {"text": "caption"}


@readers.add("vicr")
@dataclass(frozen=True)
class Vicr(Published):
    """VICR CSV (image, caption, num_ratings, ratings, rating_2 …); pictures by the end of their address."""

    def recognises(self, source: TableFile) -> bool:
        return source.columns >= {"image", "caption", "num_ratings", "ratings"}

    def read(self, source: TableFile) -> Iterator[Found]:
        if not source.columns >= {"image", "caption", "ratings"}:
            raise UsageError(
                f"{source.path}: not a VICR file; it needs the columns image, caption and ratings"
            )
        album = self.album(source)
        seen: dict[str, int] = {}
        for where, row in source.records():
            if isinstance(row, BadLine):
                yield row
                continue
            name = last_parts(row.get("image", "").strip())
            seen[name] = seen.get(name, 0) + 1
            id = f"{name}#{seen[name]}"
            try:
                ratings = _ratings(row)
                image = album.find("field 'image'", name)
            except ValueError as fault:
                yield BadLine(where, str(fault), id)
                continue
            about = {"system": row.get("system") or None, "subset": row.get("subset") or None}
            given = {"text": row.get("caption"), "ratings": {"overall": ratings}, **about}
            yield built(source, where, id, [image], CALLED, **given)


def _ratings(row: dict[str, str]) -> list[float]:
    """A row's ratings, as many as num_ratings says."""
    ratings = []
    for column in COLUMNS:
        if cell := row.get(column, "").strip():
            with naming(f"field '{column}'"):
                ratings.append(parse_number(as_number(cell)))
    if count := row.get("num_ratings", "").strip():
        with naming("field 'num_ratings'"):
            if as_number(count) != len(ratings):
                raise ValueError(f"says {count} where there are {len(ratings)} ratings")
    return ratings
