"""The input cut into batches, the same on every engine: what is computed together, and what is safe together."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from platform import node
from typing import NamedTuple

from sightline.errors import BadLine, UsageError
from sightline.io.item_file import ItemFile, LineSlice
from sightline.items import Item
from sightline.pipeline.journal import Place

BATCH_ITEMS = 256
BATCH_PICTURES = 32
"""A batch ends at whichever comes first: enough to fill the encoder, little enough for memory."""

SHARD_ITEMS = 4096
"""Items whose scores are safe together."""

SHARED = "all machines need input, pictures and results under the same paths"

Rows = Sequence[Item | BadLine]


@dataclass(frozen=True)
class Batch:
    """Rows of the input: themselves, or where they lie in a file, so that whoever works reads them."""

    number: int
    rows: Rows | LineSlice
    earlier: tuple[Place, ...] = ()
    """Records of an earlier run that may hold them."""
    folders: tuple[str, ...] = ()
    """Where pictures lie that the first process sees, for those who work elsewhere."""

    def read(self) -> Rows:
        """The rows; raises UsageError where this machine does not see what the first process does."""
        if missing := next((folder for folder in self.folders if not _is_folder(folder)), None):
            raise UsageError(f"a worker on {node()} does not see {missing}, where pictures lie; {SHARED}")
        if not isinstance(self.rows, LineSlice):
            return self.rows
        try:
            return list(self.rows.read())
        except FileNotFoundError:
            raise UsageError(f"a worker on {node()} does not see {self.rows.path}; {SHARED}") from None


class Kept(NamedTuple):
    """A batch as the stages after the first one know it."""

    place: Place
    items: int
    bad: int
    left_out: tuple[int, ...] = ()
    """Numbers of the items whose id the system had before."""
    again: tuple[tuple[int, tuple[int, ...]], ...] = ()
    """By a statistic's number: those of the items whose id came before with these very references."""


def cut(items: Iterable[Item | BadLine], by_pictures: bool, elsewhere: bool) -> Iterator[Batch]:
    """Batches of the input. What works `elsewhere` reads a file itself where the file's lines are items."""
    if elsewhere and not by_pictures and isinstance(items, ItemFile) and items.has_lines:
        for number, part in enumerate(items.slices(BATCH_ITEMS)):
            yield Batch(number, part)
        return
    number = 0
    rows: list[Item | BadLine] = []
    pictures: set[Path] = set()
    for row in items:
        rows.append(row)
        if by_pictures and isinstance(row, Item):
            pictures.update(row.images)
        if len(rows) >= BATCH_ITEMS or len(pictures) >= BATCH_PICTURES:
            yield Batch(number, tuple(rows), folders=_folders(pictures) if elsewhere else ())
            number, rows, pictures = number + 1, [], set()
    if rows:
        yield Batch(number, tuple(rows), folders=_folders(pictures) if elsewhere else ())


def _folders(pictures: Iterable[Path]) -> tuple[str, ...]:
    """The folders of pictures, of those that are there."""
    return tuple(sorted(folder for folder in {str(path.parent) for path in pictures} if _is_folder(folder)))


@lru_cache(maxsize=10_000)
def _is_folder(folder: str) -> bool:
    return Path(folder).is_dir()


def shards(batches: Iterable[Kept]) -> Iterator[list[Kept]]:
    """Neighbouring batches, together of some thousand items."""
    shard: list[Kept] = []
    items = 0
    for batch in batches:
        shard.append(batch)
        items += batch.items
        if items >= SHARD_ITEMS:
            yield shard
            shard, items = [], 0
    if shard:
        yield shard
