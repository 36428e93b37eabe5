"""How much boxes overlap, and the strongest ones that stand apart."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]


def overlap(some: Floats, others: Floats) -> Floats:
    """Intersection over union of every box with every other: [some, others]."""
    low = np.maximum(some[:, None, :2], others[None, :, :2])
    high = np.minimum(some[:, None, 2:], others[None, :, 2:])
    both = np.clip(high - low, 0, None).prod(-1)
    areas = [(boxes[:, 2:] - boxes[:, :2]).prod(-1) for boxes in (some, others)]
    union = areas[0][:, None] + areas[1][None, :] - both
    found: Floats = np.where(union > 0, both / np.where(union > 0, union, 1), 0.0)
    return found


def keep_apart(boxes: Floats, strength: Floats, apart: float, count: int) -> NDArray[np.int64]:
    """Rows of the strongest boxes, none of which overlaps a stronger one by more than `apart`.

    Where fewer than `count` stand apart, the strongest of the rest fill up, so that every picture gets its number.
    """
    if count < 1:
        return np.zeros(0, np.int64)
    order = np.argsort(-strength, kind="stable")[: 16 * count]
    likeness = overlap(boxes[order], boxes[order])
    kept: list[int] = []
    for place in range(len(order)):
        if not kept or likeness[place, kept].max() <= apart:
            kept.append(place)
            if len(kept) == count:
                break
    spare = [place for place in range(len(order)) if place not in set(kept)]
    kept += spare[: count - len(kept)]
    return order[np.array(sorted(kept), np.int64)]
