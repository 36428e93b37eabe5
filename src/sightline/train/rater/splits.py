"""Splits by picture: no picture, under whatever name, is in two of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UsageError


@dataclass(frozen=True)
class Split:
    """Groups of pictures: to learn from (64 %), to choose and stop on (16 %), to test on (20 %)."""

    train: frozenset[str]
    validation: frozenset[str]
    test: frozenset[str]

    @property
    def seen(self) -> frozenset[str]:
        """All that a model tested on this split may know."""
        return self.train | self.validation


def folds(groups: Sequence[str], count: int = 5, seed: int = 0) -> list[Split]:
    """Splits whose test parts share the pictures among them, each once. One split is the paper's 64/16/20."""
    names = sorted(set(groups))
    parts = max(count, 5)
    if len(names) < parts:
        raise UsageError(
            f"{len(names)} different pictures are too few for splits by picture; at least {parts} are needed"
        )
    order = np.random.default_rng(seed).permutation(len(names))
    shuffled = [names[n] for n in order]
    cut = np.array_split(np.arange(len(names)), parts)
    found = []
    for number in range(count):
        test = frozenset(shuffled[n] for n in cut[number])
        rest = [name for name in shuffled if name not in test]
        held = max(1, round(0.2 * len(rest)))  # a fifth of 80 % is 16 % of all
        start = (number * held) % len(rest)
        validation = frozenset((rest + rest)[start : start + held])
        found.append(Split(frozenset(rest) - validation, validation, test))
    return found


def rows_in(groups: NDArray[np.str_], wanted: frozenset[str]) -> NDArray[np.int64]:
    """Pairs whose picture is among the wanted ones."""
    return np.flatnonzero(np.isin(groups, sorted(wanted)))
