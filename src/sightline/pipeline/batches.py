"""The input cut into batches, the same on every engine: what is computed together, and what is safe together."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from sightline.errors import BadLine
from sightline.io.item_file import ItemFile, LineSlice
from sightline.items import Item
from sightline.pipeline.journal import Place

BATCH_ITEMS = 256
BATCH_PICTURES = 32
"""A batch ends at whichever comes first: enough to fill the encoder, little enough for memory."""

SHARD_ITEMS = 4096
"""Items whose scores are safe together."""

Rows = Sequence[Item | BadLine]


@dataclass(frozen=True)
class Batch:
    """Rows of the input: themselves, or where they lie in a file, so that whoever works reads them."""

    number: int
    rows: Rows | LineSlice
    earlier: tuple[Place, ...] = ()
    """Records of an earlier run that may hold them."""

    def read(self) -> Rows:
        return list(self.rows.read()) if isinstance(self.rows, LineSlice) else self.rows


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
            yield Batch(number, tuple(rows))
            number, rows, pictures = number + 1, [], set()
    if rows:
        yield Batch(number, tuple(rows))


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
