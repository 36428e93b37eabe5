"""What came before: items whose id the system had already, and references that several systems share.

Both are found by 64-bit hashes, eight bytes an item; items with equal hashes are then looked at themselves.
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sightline.items import Item, Key
from sightline.pipeline.batches import Kept
from sightline.pipeline.journal import Log, Place
from sightline.pipeline.stages import Computed, Hashes
from sightline.pipeline.wire import decode

Numbers = NDArray[np.int64]


class Repeats:
    """Collects the hashes of all batches."""

    def __init__(self, counting: Sequence[int]) -> None:
        self._batches: list[tuple[Place, int, int]] = []
        self._keys: list[Hashes] = []
        self._documents: dict[int, list[Hashes]] = {number: [] for number in counting}

    def add(self, computed: Computed) -> None:
        self._batches.append((computed.place, computed.items, computed.bad))
        self._keys.append(computed.keys)
        for number, hashes in computed.documents.items():
            self._documents[number].append(hashes)

    def found(self, log: Log) -> list[Kept]:
        """The batches, each with what of it came before."""
        starts = np.cumsum([0, *(items for _, items, _ in self._batches)])
        left_out = self._left_out(log, starts)
        by_batch = _by_batch(left_out, starts)
        again: dict[int, dict[int, tuple[int, ...]]] = {}
        for number, parts in self._documents.items():
            hashes = np.concatenate([np.zeros(0, np.uint64), *parts])
            hashes[left_out] = 0
            again[number] = _by_batch(_not_first(hashes), starts)
        return [
            Kept(
                place,
                items,
                bad,
                by_batch.get(batch, ()),
                tuple((number, places[batch]) for number, places in again.items() if batch in places),
            )
            for batch, (place, items, bad) in enumerate(self._batches)
        ]

    def _left_out(self, log: Log, starts: Numbers) -> Numbers:
        """Numbers of the items whose id and system came before."""
        hashes = np.concatenate([np.zeros(0, np.uint64), *self._keys])
        self._keys.clear()
        again = _not_first(hashes)
        if not len(again):
            return again
        alike = np.flatnonzero(np.isin(hashes, hashes[again]))
        seen: set[Key] = set()
        found: list[int] = []
        for batch, numbers in _by_batch(alike, starts).items():
            record = log.read(self._batches[batch][0])
            for number in numbers:
                key = decode(record.rows[number].item, Item).key
                if key in seen:
                    found.append(int(starts[batch]) + number)
                seen.add(key)
        return np.array(found, np.int64)


def _not_first(hashes: Hashes) -> Numbers:
    """Numbers of those that stood before; 0 stands for none."""
    order = np.argsort(hashes, kind="stable")
    in_order = hashes[order]
    repeated = (in_order[1:] == in_order[:-1]) & (in_order[1:] != 0)
    found: Numbers = np.sort(order[1:][repeated])
    return found


def _by_batch(numbers: Numbers, starts: Numbers) -> dict[int, tuple[int, ...]]:
    """Numbers of items as those within their batches."""
    found: dict[int, list[int]] = defaultdict(list)
    for number, batch in zip(
        numbers.tolist(), (np.searchsorted(starts, numbers, "right") - 1).tolist(), strict=True
    ):
        found[batch].append(number - int(starts[batch]))
    return {batch: tuple(places) for batch, places in found.items()}
