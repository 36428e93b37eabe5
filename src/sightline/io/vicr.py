"""VICR (Narins et al. 2024): pictures and captions with four to seven people's ratings from 1 to 5."""

from collections.abc import Iterator
from dataclasses import dataclass

from sightline.errors import UsageError
from sightline.io.base import Found, readers
from sightline.io.published import Published, built, last_parts
from sightline.io.source import BadLine, Source

COLUMNS = ("ratings", *(f"rating_{n}" for n in range(2, 8)))
"""The first rating stands in a column that is called `ratings`."""


@readers.add("vicr")
@dataclass(frozen=True)
class Vicr(Published):
    """VICR CSV (image, caption, num_ratings, ratings, rating_2 …); pictures by the end of their address."""

    def recognises(self, source: Source) -> bool:
        return source.columns >= {"image", "caption", "num_ratings", "ratings"}

    def read(self, source: Source) -> Iterator[Found]:
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
                ratings = [float(cell) for column in COLUMNS if (cell := row.get(column, "").strip())]
                count = row.get("num_ratings", "").strip()
                if count and int(count) != len(ratings):
                    raise ValueError(f"{len(ratings)} ratings where num_ratings says {count}")
                image = album.find(name)
            except ValueError as fault:
                yield BadLine(where, str(fault), id)
                continue
            about = {"system": row.get("system") or None, "subset": row.get("subset") or None}
            caption = row.get("caption")
            yield built(source, where, id, [image], text=caption, ratings={"overall": ratings}, **about)
