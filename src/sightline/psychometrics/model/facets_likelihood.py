"""The many-facet model's penalised marginal log-likelihood, with gradient and observed information (Louis 1982).

Qualities are integrated out over an even grid that resolves the narrowest posterior, as in the marginal model: with
hundreds of raters an item's quality is known so well that a fixed grid would step over it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.special import logsumexp

from sightline.psychometrics.model.newton import Curve
from sightline.psychometrics.model.responses import Floats, Ints

SEVERITY_SD, CONSISTENCY_SD = 1.5, 0.8
REACH, STEP = 6.0, 1.0
"""Of the grid, in standard deviations of the qualities and of the narrowest posterior: errors below 1e-7."""
FAINT = 1e-10
"""Nodes with so little of an item's posterior say nothing about it."""
CHUNK = 64
"""Items whose scores are held at a time."""


@dataclass(frozen=True)
class _Seen:
    """The likelihood at one point, over the grid."""

    z: Floats
    p: Floats
    """Probabilities: rater x level x q."""
    distance: Floats
    """level (theta - severity) - steps: rater x level x q."""
    h: Floats
    """Posteriors: item x q."""
    total: Floats
    """Log integral of each item."""


class FacetLikelihood:
    """Parameters: severity of each rater, log consistency of each rater, steps, log sigma."""

    def __init__(self, levels: Ints) -> None:
        self.raters, self.items = levels.shape
        self.most = int(levels.max())
        self.levels = levels
        rater, item = np.nonzero(levels >= 0)
        column = rater * (self.most + 1) + levels[rater, item]
        shape = (self.items, self.raters * (self.most + 1))
        self.given = csr_array((np.ones(len(rater)), (item, column)), shape=shape)
        self.rated = csr_array((np.ones(len(rater)), (item, rater)), shape=(self.items, self.raters))

    def start(self) -> Floats:
        shares = np.array([(self.levels == k).sum() for k in range(self.most + 1)]) + 0.5
        return np.concatenate([np.zeros(2 * self.raters), np.log(shares[:-1] / shares[1:]), [0.0]])

    def split(self, point: Floats) -> tuple[Floats, Floats, Floats, float]:
        j = self.raters
        return point[:j], np.exp(point[j : 2 * j]), point[2 * j : -1], float(np.exp(point[-1]))

    def _probabilities(self, point: Floats, z: Floats) -> tuple[Floats, Floats]:
        """Logs of the level probabilities (rater x level x q), and the distances they come from."""
        severity, slope, tau, sigma = self.split(point)
        level = np.arange(self.most + 1)
        steps = np.concatenate([[0.0], np.cumsum(tau)])
        distance = level[None, :, None] * (sigma * z - severity[:, None, None]) - steps[None, :, None]
        logits = slope[:, None, None] * distance
        return logits - logsumexp(logits, axis=1, keepdims=True), distance

    def grid(self, point: Floats) -> Floats:
        """Even nodes, in units of sigma, that resolve the narrowest posterior."""
        z = np.linspace(-REACH, REACH, 41)
        p = np.exp(self._probabilities(point, z)[0])
        level = np.arange(self.most + 1)[None, :, None]
        spread = (p * level**2).sum(axis=1) - (p * level).sum(axis=1) ** 2
        _, slope, _, sigma = self.split(point)
        information = float((self.rated @ (slope[:, None] ** 2 * spread)).max()) * sigma**2
        return np.linspace(-REACH, REACH, int(np.ceil(2 * REACH * np.sqrt(1 + information) / STEP)) + 1)

    def seen(self, point: Floats) -> _Seen:
        z = self.grid(point)
        log_p, distance = self._probabilities(point, z)
        joint = self.given @ log_p.reshape(-1, len(z)) - z**2 / 2 + np.log((z[1] - z[0]) / np.sqrt(2 * np.pi))
        total = logsumexp(joint, axis=1)
        return _Seen(z, np.exp(log_p), distance, np.exp(joint - total[:, None]), total)

    def log_likelihood(self, point: Floats) -> float:
        """Without the priors of the raters."""
        return float(self.seen(point).total.sum())

    def __call__(self, point: Floats) -> Curve:
        """The penalised log-likelihood, its gradient, and its information with and without the missing part."""
        seen = self.seen(point)
        given = (self.given.T @ seen.h).reshape(seen.p.shape)
        weight = given.sum(axis=1)  # expected items per rater and node
        first = self._derivatives(seen, point)
        gap = given - weight[:, None] * seen.p
        sums = np.einsum("jlq,jflq->jf", gap, first, optimize=True)  # by rater and kind of parameter
        complete = self._complete(seen, first, sums, weight)
        missing = np.zeros_like(complete)
        for _, scores, h in self._scores(seen, first):
            missing += _square(scores, h)
        prior = np.zeros(len(point))
        prior[: self.raters], prior[self.raters : 2 * self.raters] = 1 / SEVERITY_SD**2, 1 / CONSISTENCY_SD**2
        return Curve(
            float(seen.total.sum() - (prior @ point**2) / 2),
            np.concatenate([sums[:, 0], sums[:, 1], sums[:, 2:].sum(axis=0)]) - prior * point,
            complete - missing + np.diag(prior),
            complete + np.diag(prior),
        )

    def _derivatives(self, seen: _Seen, point: Floats) -> Floats:
        """Of the logits by severity, log consistency, each step and log sigma: rater x kind x level x q."""
        _, slope, _, sigma = self.split(point)
        level = np.arange(self.most + 1)[:, None]
        steps = [-1.0 * (level >= s) * np.ones_like(seen.z) for s in range(1, self.most + 1)]
        alike = np.stack([-level * np.ones_like(seen.z), *steps, level * (sigma * seen.z)])
        whole = np.concatenate(
            [np.broadcast_to(alike, (self.raters, *alike.shape)), seen.distance[:, None]], axis=1
        )
        order = [0, len(alike), *range(1, len(alike))]
        return np.asarray(slope[:, None, None, None] * whole[:, order])

    def _complete(self, seen: _Seen, first: Floats, sums: Floats, weight: Floats) -> Floats:
        """The complete-data information: covariances of the derivatives within raters, less second derivatives."""
        j, kinds = self.raters, first.shape[1]
        flat = first.reshape(j, kinds, -1)
        means = np.einsum("jlq,jflq->jfq", seen.p, first, optimize=True)
        spread = (weight[:, None] * seen.p).reshape(j, 1, -1)
        blocks = (flat * spread) @ flat.transpose(0, 2, 1)
        blocks -= (means * weight[:, None]) @ means.transpose(0, 2, 1)
        # the only second derivatives: by log consistency and any other, which is the first by that other,
        # and by log sigma twice
        blocks[:, 1, :] -= sums
        blocks[:, :, 1] -= np.where(np.arange(kinds) == 1, 0, sums)
        blocks[:, -1, -1] -= sums[:, -1]
        found = np.zeros((2 * j + kinds - 2,) * 2)
        own = np.arange(j)
        for n in (0, 1):
            for m in (0, 1):
                found[n * j + own, m * j + own] = blocks[:, n, m]
            found[n * j : (n + 1) * j, 2 * j :] = blocks[:, n, 2:]
            found[2 * j :, n * j : (n + 1) * j] = blocks[:, n, 2:].T
        found[2 * j :, 2 * j :] = blocks[:, 2:, 2:].sum(axis=0)
        return found

    def _scores(self, seen: _Seen, first: Floats) -> Iterator[tuple[slice, csr_array, Floats]]:
        """Chunks of items with the scores of each at the nodes that matter, about their mean, and its posterior.

        A row is a node of an item, a column a parameter.
        """
        j, kinds = self.raters, first.shape[1]
        means = np.einsum("jlq,jflq->jfq", seen.p, first, optimize=True)
        shared = np.arange(2 * j, 2 * j + kinds - 2)
        for begin in range(0, self.items, CHUNK):
            rows, weights, columns, ends = [], [], [], [0]
            items = range(begin, min(begin + CHUNK, self.items))
            for n in items:
                raters = np.flatnonzero(self.levels[:, n] >= 0)
                nodes = slice(*_span(seen.h[n]))
                score = first[raters, :, self.levels[raters, n], nodes] - means[raters, :, nodes]
                own = np.concatenate([score[:, 0], score[:, 1], score[:, 2:].sum(axis=0)]).T
                h = seen.h[n, nodes]
                rows.append(own - h @ own)
                weights.append(h)
                columns.append(np.tile(np.r_[raters, j + raters, shared], len(h)))
                ends += [ends[-1] + own.shape[1] * (k + 1) for k in range(len(h))]
            data = np.concatenate([row.ravel() for row in rows])
            shape = (len(ends) - 1, 2 * j + kinds - 2)
            scores = csr_array((data, np.concatenate(columns), np.array(ends)), shape=shape)
            yield slice(begin, items.stop), scores, np.concatenate(weights)

    def qualities(self, point: Floats, *, errors: bool) -> tuple[Floats, Floats, Floats]:
        """Posterior means and standard deviations, and with `errors` the means' derivatives (item x parameter)."""
        seen = self.seen(point)
        theta = self.split(point)[-1] * seen.z
        mean = seen.h @ theta
        spread = np.sqrt(np.maximum(seen.h @ theta**2 - mean**2, 0))
        if not errors:
            return mean, spread, np.zeros((self.items, 0))
        parts = []
        for items, scores, h in self._scores(seen, self._derivatives(seen, point)):
            spans = [_span(own) for own in seen.h[items]]
            away = np.concatenate([theta[slice(*span)] for span in spans])
            which = np.repeat(np.arange(len(spans)), [high - low for low, high in spans])
            away = h * (away - mean[items][which])
            rows = csr_array((away, (which, np.arange(len(away)))), shape=(len(spans), len(away)))
            parts.append((rows @ scores).toarray())
        moves = np.concatenate(parts)
        moves[:, -1] += mean
        return mean, spread, moves


def _span(posterior: Floats) -> tuple[int, int]:
    """First and end of the nodes that matter."""
    there = np.flatnonzero(posterior > FAINT)
    return int(there[0]), int(there[-1]) + 1


def _square(scores: csr_array, h: Floats) -> Floats:
    """Their covariance, summed over items: dense where most raters rated most items."""
    root = np.sqrt(h)[:, None]
    if scores.nnz > 0.1 * scores.shape[0] * scores.shape[1]:
        dense = scores.toarray() * root
        return np.asarray(dense.T @ dense)
    weighted = scores.multiply(root).tocsr()
    return np.asarray((weighted.T @ weighted).toarray())
