"""What a purity scorer is, and the scorers by name."""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sightline.errors import unknown
from sightline.registry import Registry

Floats = NDArray[np.float64]


class PurityScorer(Protocol):
    """Scores each caption of a picture against the picture's other captions of the same axis (equations 2 and 3)."""

    @property
    def signature(self) -> str: ...

    def score(self, groups: Sequence[Sequence[str]]) -> list[Floats]:
        """A score for each caption of each group; every group has at least two. The mean is the axis's purity."""
        ...


scorers: Registry[Callable[[str], PurityScorer]] = Registry("purity scorer")
"""Factories by name: `bleurt:NAME-or-PATH` calls the factory `bleurt` with `NAME-or-PATH`."""


UNSCORED = ("none", "published")
"""Choices of purity that need no scorer."""


def load_scorer(spec: str) -> PurityScorer:
    name, _, argument = spec.partition(":")
    if name not in scorers:
        raise unknown(scorers.kind, name, [*scorers, *UNSCORED])
    return scorers.get(name)(argument)


def against_others(similarity: Floats) -> Floats:
    """Each caption's mean similarity to the others, from a square table."""
    total: Floats = similarity.sum(axis=1) - np.diag(similarity)
    return total / (len(similarity) - 1)
