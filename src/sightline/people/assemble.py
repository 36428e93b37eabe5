"""Studies put together from original, machine-made and deliberately wrong captions (VICR, Section 4.2)."""

import random
from collections.abc import Sequence
from dataclasses import replace

import msgspec

from sightline.errors import UsageError
from sightline.items import Item

ORIGINAL, MISMATCHED = "original", "mismatched"


class Assembly(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the captions come from, and in what proportions they enter the study."""

    originals: str
    systems: tuple[str, ...] = ()
    original: float = 1.0
    system: float = 1.0
    mismatched: float = 1.0
    items: int | None = None
    """How many items in all; as many as the pictures give when not set."""
    seed: int = 0

    def __post_init__(self) -> None:
        if (
            min(self.original, self.system, self.mismatched) < 0
            or self.original + self.system + self.mismatched <= 0
        ):
            raise ValueError("proportions cannot be negative, and one must be above 0")
        if self.system and not self.systems:
            raise ValueError("system captions are asked for but no file of a system is named; set system = 0")


def assemble(assembly: Assembly, originals: Sequence[Item], systems: Sequence[Sequence[Item]]) -> list[Item]:
    """Items in random order with neutral ids; `system` tells the source to the analysis, not to raters."""
    if not originals:
        raise UsageError("an assembled study needs original captions")
    lots = random.Random(assembly.seed)
    pictures = {item.images for item in originals}
    made = [item for items in systems for item in items if item.images in pictures]
    parts: list[tuple[float, list[Item]]] = [
        (assembly.original, [_copy(item, ORIGINAL) for item in originals]),
        (assembly.system, [_copy(item, item.system or "system") for item in made]),
        (assembly.mismatched, _mismatch(originals, lots)),
    ]
    parts = [(share, pool) for share, pool in parts if share > 0]
    if empty := [share for share, pool in parts if not pool]:
        raise UsageError(f"no captions for a proportion of {empty[0]}: give more items, or set it to 0")
    whole = sum(share for share, _ in parts)
    size = assembly.items or int(min(len(pool) * whole / share for share, pool in parts))
    chosen: list[Item] = []
    for share, pool in parts:
        count = round(size * share / whole)
        if count > len(pool):
            raise UsageError(
                f"{count} captions are needed for a proportion of {share}, only {len(pool)} are there"
            )
        chosen += lots.sample(pool, count)
    lots.shuffle(chosen)
    return [replace(item, id=f"a{number:05d}") for number, item in enumerate(chosen, 1)]


def _copy(item: Item, source: str) -> Item:
    return replace(item, system=source, extra={**item.extra, "origin": item.id})


def _mismatch(items: Sequence[Item], lots: random.Random) -> list[Item]:
    """Each picture with a caption of another picture."""
    found = []
    for item in items:
        others = [other for other in lots.sample(items, min(len(items), 50)) if other.images != item.images]
        if others:
            found.append(
                replace(
                    item,
                    text=others[0].text,
                    sentences=others[0].sentences,
                    system=MISMATCHED,
                    references=(),
                    extra={"origin": item.id, "caption_of": others[0].id},
                )
            )
    return found
