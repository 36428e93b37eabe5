"""Infit and outfit: do answers scatter around the model as much as it says? 1 is as expected.

Outfit is the mean squared standardised residual, infit weights it by information (Wright and Masters 1982,
ch. 5). Abilities are ML estimates; people with an extreme score fit perfectly by necessity and are left out,
as in eRm.
"""

from dataclasses import dataclass

import numpy as np

from sightline.psychometrics.model.design import category_probabilities
from sightline.psychometrics.model.fit import ModelFit
from sightline.psychometrics.model.persons import Estimates
from sightline.psychometrics.model.responses import MISSING, Floats


@dataclass(frozen=True)
class MeanSquares:
    """Mean squares with their standardised form (Wilson-Hilferty), NaN where there is nothing to judge."""

    infit: Floats
    outfit: Floats
    infit_z: Floats
    outfit_z: Floats


@dataclass
class _Sums:
    """Sums over answers, for one item or one person each."""

    answers: Floats
    squares: Floats
    standardised: Floats
    variance: Floats
    infit_spread: Floats
    outfit_spread: Floats

    @classmethod
    def zeros(cls, size: int) -> "_Sums":
        return cls(*(np.zeros(size) for _ in range(6)))

    def mean_squares(self) -> MeanSquares:
        some = self.answers > 0
        n, variance = np.where(some, self.answers, np.nan), np.where(some, self.variance, np.nan)
        infit, outfit = self.squares / variance, self.standardised / n
        infit_q = np.sqrt(np.maximum(self.infit_spread, 0)) / variance
        outfit_q = np.sqrt(np.maximum(self.outfit_spread / n**2 - 1 / n, 0))
        return MeanSquares(infit, outfit, _standardised(infit, infit_q), _standardised(outfit, outfit_q))


def mean_squares(fit: ModelFit, abilities: Estimates) -> tuple[MeanSquares, MeanSquares]:
    """Fit of items and of persons, at the given (ML) abilities of the groups."""
    theta = abilities.ability[fit.groups.of_person]
    known = ~np.isnan(theta)
    items, persons = _Sums.zeros(len(fit.design.steps)), _Sums.zeros(len(theta))
    level = np.arange(fit.table.shape[1], dtype=float)
    cell_theta = np.where(np.isnan(abilities.ability), 0, abilities.ability)
    for i in range(len(fit.design.steps)):
        p = category_probabilities(fit.table[i : i + 1], cell_theta)[0][0]
        mean = level @ p
        away = level[:, None] - mean
        variance, fourth = (p * away**2).sum(axis=0), (p * away**4).sum(axis=0)
        who = np.flatnonzero(known & (fit.responses.levels[:, i] != MISSING))
        group = fit.groups.of_person[who]
        var, kurt = variance[group], fourth[group]
        square = (fit.responses.levels[who, i] - mean[group]) ** 2
        parts = (np.ones(len(who)), square, square / var, var, kurt - var**2, kurt / var**2)
        for sums, part in zip(vars(items).values(), parts, strict=True):
            sums[i] = part.sum()
        for sums, part in zip(vars(persons).values(), parts, strict=True):
            sums[who] += part
    return items.mean_squares(), persons.mean_squares()


def _standardised(value: Floats, q: Floats) -> Floats:
    """t = (v^(1/3) - 1) 3/q + q/3."""
    safe = np.where(q > 0, q, np.nan)
    return (np.cbrt(value) - 1) * 3 / safe + safe / 3
