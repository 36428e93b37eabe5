"""Conditional maximum likelihood: given the raw score the ability drops out, and nothing is assumed about
people.

The conditional likelihood of a person with raw score r is exp(sum of eta) / gamma_r, with gamma the
elementary symmetric functions: the coefficients of the product over items of (1 + e^eta_i1 t + e^eta_i2 t^2 +
…). Here t is scaled for each block of scores to the ability at which those scores are likely, so every
polynomial is a probability distribution and its products only add positive numbers: nothing overflows and
nothing cancels, for any number of items.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UsageError
from sightline.psychometrics.model.design import Design, category_probabilities, level_counts, moments, padded
from sightline.psychometrics.model.groups import Groups
from sightline.psychometrics.model.newton import Curve, maximise
from sightline.psychometrics.model.responses import Floats, Ints, Responses

BLOCK_WIDTH = 2.5
"""Logits between the abilities that blocks of scores are scaled to."""
CHUNK_NUMBERS = 4_000_000
VAGUE = 1e-4
"""Information below which an estimate runs off to infinity: a standard error of 100 logits."""


@dataclass(frozen=True)
class Conditional:
    """The estimates of the free item parameters with their covariance."""

    free: Floats
    covariance: Floats
    log_likelihood: float
    iterations: int
    converged: bool


@dataclass(frozen=True)
class Blocks:
    """Scores of people who answered the same items, put together where one scaling serves them."""

    mask: Floats
    """block x item"""
    people: Floats
    """block x score: how many have that score"""

    def pieces(self, width: int) -> Iterator["Blocks"]:
        size = max(1, CHUNK_NUMBERS // width)
        return (
            Blocks(self.mask[a : a + size], self.people[a : a + size]) for a in range(0, len(self.mask), size)
        )


def blocks_of(groups: Groups, design: Design, eta: Floats) -> tuple[Blocks, Floats]:
    """The blocks, and the ability each is scaled to. Extreme scores are certain given the score and left
    out."""
    most = groups.masks @ design.steps
    inner = np.flatnonzero((groups.score > 0) & (groups.score < most[groups.mask]))
    if not len(inner):
        raise UsageError(
            "every person has the lowest or the highest possible score: conditional ML has nothing to go on"
        )
    table = padded(design, eta)
    theta = np.arange(-30, 30 + BLOCK_WIDTH / 2, BLOCK_WIDTH)
    expected = groups.masks @ moments(table, theta)[0]  # mask x theta, rising
    nearest = np.abs(expected[groups.mask[inner]] - groups.score[inner, None]).argmin(axis=1)
    key, block = np.unique(groups.mask[inner] * len(theta) + nearest, return_inverse=True)
    people = np.zeros((len(key), int(design.steps.sum()) + 1))
    np.add.at(people, (block, groups.score[inner].astype(np.int64)), groups.count[inner])
    return Blocks(groups.masks[key // len(theta)], people), theta[key % len(theta)]


class ConditionalLikelihood:
    """The conditional log-likelihood with its gradient and information."""

    def __init__(self, design: Design, responses: Responses, groups: Groups) -> None:
        self.design, self.groups = design, groups
        counts = level_counts(_inner(responses, groups, design), int(design.steps.max()))
        self.given = counts[design.item, design.level]

    def __call__(self, free: Floats) -> Curve:
        design = self.design
        eta = design.weights @ free
        blocks, theta = blocks_of(self.groups, design, eta)
        abilities, which = np.unique(theta, return_inverse=True)
        items, log_d = category_probabilities(padded(design, eta), abilities)
        size = len(eta)
        value, expected, spread = float(self.given @ eta), np.zeros(size), np.zeros((size, size))
        scores = np.arange(blocks.people.shape[1])
        at = 0
        for piece in blocks.pieces(len(scores) * (size + 2 * len(design.steps))):
            mine = which[at : at + len(piece.mask)]
            at += len(piece.mask)
            chain = Chain(piece, items[:, :, mine], design.steps)
            log_gamma = chain.log_total + (piece.mask * log_d.T[mine]).sum(axis=1)[:, None]
            log_gamma -= abilities[mine, None] * scores
            value -= float(piece.people[chain.some] @ log_gamma[chain.some])
            first, second = chain.derivatives(design)
            expected += first
            spread += second
        w = design.weights
        return Curve(value, w.T @ (self.given - expected), w.T @ spread @ w)


class Chain:
    """Distributions of partial sums of the items' levels, from the left and, weighted by people, from the
    right."""

    def __init__(self, blocks: Blocks, items: Floats, steps: Ints) -> None:
        self.steps, self.people = steps, blocks.people
        # a block that has no answer to an item is certain to have level 0 there
        self.levels = items * blocks.mask.T[:, None, :]
        self.levels[:, 0] += 1 - blocks.mask.T
        self.mask = blocks.mask.T
        product = np.zeros_like(blocks.people)
        product[:, 0] = 1
        self.left = [product]
        for i in range(len(steps)):
            self.left.append(self._times(self.left[-1], i))
        self.some = blocks.people > 0
        self.total = np.where(self.some, self.left[-1], 1.0)
        self.log_total = np.log(self.total)

    def _times(self, product: Floats, i: int) -> Floats:
        """The distribution of the sum after one more item."""
        p = self.levels[i][:, :, None]
        out: Floats = product * p[0]
        for k in range(1, self.steps[i] + 1):
            out[:, k:] += product[:, :-k] * p[k]
        return out

    def _from_right(self) -> list[Floats]:
        """For each item, the weight of a partial sum before and with it: its chances to end in people's
        scores."""
        weights = [self.people / self.total]
        for i in range(len(self.steps) - 1, 0, -1):
            p = self.levels[i][:, :, None]
            out = weights[-1] * p[0]
            for k in range(1, self.steps[i] + 1):
                out[:, :-k] += weights[-1][:, k:] * p[k]
            weights.append(out)
        return weights[::-1]

    def derivatives(self, design: Design) -> tuple[Floats, Floats]:
        """Expected level counts given the scores, and their covariance, over all people of the blocks."""
        size, begin = len(design.item), np.r_[0, np.cumsum(self.steps)]
        together = np.zeros((size, size))  # sum over people of P(two levels | score)
        given = np.zeros((size, *self.total.shape))  # P(level of an item | score): category x block x score
        right = self._from_right()
        for i, steps in enumerate(self.steps):
            own = self.levels[i, 1 : steps + 1] * self.mask[i]
            without = self.left[i]
            for j in range(i + 1, len(self.steps)):
                other = self.levels[j, 1 : self.steps[j] + 1] * self.mask[j]
                sums = np.arange(steps)[:, None] + np.arange(self.steps[j])
                shifted = np.stack([_overlap(right[j], without, s + 2) for s in range(int(sums.max()) + 1)])
                pair = np.einsum("kb,mb,kmb->km", own, other, shifted[sums])
                together[begin[i] : begin[i + 1], begin[j] : begin[j + 1]] = pair
                without = self._times(without, j)
            for k in range(1, steps + 1):
                given[begin[i] + k - 1, :, k:] = without[:, :-k] * own[k - 1][:, None]
        given *= self.some / self.total
        flat, people = given.reshape(size, -1), self.people.ravel()
        expected = flat @ people
        together += together.T + np.diag(expected)
        return expected, together - (flat * people) @ flat.T


def _overlap(weight: Floats, product: Floats, shift: int) -> Floats:
    """Sum over r of weight[r + shift] product[r], for each block."""
    return np.asarray(np.einsum("br,br->b", weight[:, shift:], product[:, : product.shape[1] - shift]))


def _inner(responses: Responses, groups: Groups, design: Design) -> NDArray[np.int8]:
    """The levels of the people whose score is not extreme."""
    most = groups.masks @ design.steps
    inner = (groups.score > 0) & (groups.score < most[groups.mask])
    return responses.levels[inner[groups.of_person]]


def fit_conditional(design: Design, responses: Responses, groups: Groups, start: Floats) -> Conditional:
    """Fit the items alone. `start` is best a marginal fit: the two lie close together."""
    likelihood = ConditionalLikelihood(design, responses, groups)
    best = maximise(likelihood, start)
    if np.linalg.eigvalsh(best.curve.information)[0] < VAGUE:
        raise UsageError(
            "conditional ML has no finite solution here: answers do not link all items in both directions; "
            "use --estimator mml, or leave out items that almost everybody answered alike"
        )
    covariance = np.asarray(np.linalg.inv(best.curve.information), np.float64)
    return Conditional(best.point, covariance, best.curve.value, best.iterations, best.converged)
