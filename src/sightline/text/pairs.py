"""Pairs of sentences on their way through a model: in batches of like width, and from logits to probabilities."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

SentencePair = tuple[str, str]
Floats = NDArray[np.float64]


def batches_by_width(widths: Sequence[int], pieces: int) -> Iterator[list[int]]:
    """Row numbers in batches of like width, so that little is padded."""
    batch: list[int] = []
    for row in sorted(range(len(widths)), key=widths.__getitem__):
        if batch and (len(batch) + 1) * widths[row] > pieces:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


def sigmoid(z: Floats) -> Floats:
    return np.exp(-np.logaddexp(0, -z))
