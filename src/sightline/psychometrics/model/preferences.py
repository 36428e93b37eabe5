"""Which of several texts people prefer: Bradley and Terry's model of comparisons in pairs, with ties.

P(i over j) = e^s_i / D, P(tie) = nu e^((s_i + s_j) / 2) / D, where D is the sum of all three (Davidson 1970); without
ties nu is 0 and it is the model of Bradley and Terry (1952). Strengths sum to zero. Standard errors are robust to
answers that belong together: several people judge the same pair, and agree more than independent ones would.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import logsumexp
from scipy.stats import norm

from sightline.errors import UsageError
from sightline.psychometrics.model.newton import Curve, maximise
from sightline.psychometrics.model.responses import Floats, Ints

PRIOR_SD = 3.0
"""Where somebody always wins no finite strength fits best: a normal prior this wide keeps it finite."""
FEW_CLUSTERS = 10
"""With fewer, the robust errors are too small; the model's own are taken."""


@dataclass(frozen=True)
class PairedChoice:
    """One judgement: which of two is preferred; `outcome` is 1 for the first, 0 for the second, 0.5 for a tie."""

    first: str
    second: str
    outcome: float
    cluster: Hashable = None
    """What judgements of the same pair of things share."""


@dataclass(frozen=True)
class PreferenceFit:
    """Strengths with their errors, and what they were fitted to."""

    names: tuple[str, ...]
    strength: Floats
    se: Floats
    covariance: Floats
    tie: float | None
    """log nu; None where nobody called a tie."""
    wins: Ints
    losses: Ints
    ties: Ints
    comparisons: int
    clusters: int
    log_likelihood: float
    prior: bool
    """Whether a prior was needed: one is preferred, or not, each time."""

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Low and high ends of the strengths' intervals."""
        reach = float(norm.ppf((1 + level) / 2)) * self.se
        return self.strength - reach, self.strength + reach

    def difference(self, one: str, other: str) -> tuple[float, float]:
        """How much stronger one is than another, with its standard error."""
        a, b = self.names.index(one), self.names.index(other)
        variance = self.covariance[a, a] + self.covariance[b, b] - 2 * self.covariance[a, b]
        return float(self.strength[a] - self.strength[b]), float(np.sqrt(max(variance, 0.0)))


def fit_preferences(given: Sequence[PairedChoice], *, prior_sd: float | None = None) -> PreferenceFit:
    """Fit the model to comparisons; `prior_sd` shrinks strengths to zero.

    Raises:
        UsageError: fewer than two things were compared, or some were never compared with the others.
    """
    names = tuple(sorted({name for one in given for name in (one.first, one.second)}))
    if len(names) < 2:
        raise UsageError("preferences need two things that were compared")
    place = {name: at for at, name in enumerate(names)}
    first = np.array([place[one.first] for one in given])
    second = np.array([place[one.second] for one in given])
    outcome = np.array([one.outcome for one in given])
    linked, groups = _links(first, second, outcome, len(names))
    if linked > 1:
        apart = [name for name, group in zip(names, groups, strict=True) if group != groups[0]]
        raise UsageError(
            f"never compared with the others, not even by way of third ones: {', '.join(apart[:5])}"
        )
    prior = prior_sd is not None or _always(first, second, outcome, len(names))
    precision = 1 / (prior_sd or PRIOR_SD) ** 2 if prior else 0.0
    model = _Model(first, second, outcome, len(names), precision)
    point = maximise(model.curve, np.zeros(model.size)).point
    count = len(names)
    inverse = np.asarray(np.linalg.pinv(model.information(point), hermitian=True), np.float64)
    clusters = _numbered([one.cluster if one.cluster is not None else at for at, one in enumerate(given)])
    covariance = _robust(inverse, model.scores(point), clusters)
    centre = np.eye(count) - 1 / count
    covariance = centre @ covariance[:count, :count] @ centre
    won, lost = outcome == 1, outcome == 0
    return PreferenceFit(
        names,
        point[:count] - point[:count].mean(),
        np.sqrt(np.maximum(np.diag(covariance), 0)),
        covariance,
        float(point[count]) if model.ties else None,
        np.bincount(first[won], minlength=count) + np.bincount(second[lost], minlength=count),
        np.bincount(first[lost], minlength=count) + np.bincount(second[won], minlength=count),
        np.bincount(first[outcome == 0.5], minlength=count)
        + np.bincount(second[outcome == 0.5], minlength=count),
        len(given),
        int(clusters.max()) + 1,
        -model.value(point, penalty=False),
        prior,
    )


class _Model:
    """Minus the (penalised) log-likelihood with its derivatives; parameters are strengths and log nu."""

    def __init__(self, first: Ints, second: Ints, outcome: Floats, count: int, precision: float) -> None:
        self.ties = int((outcome == 0.5).any())
        self.size, self.precision = count + self.ties, np.r_[np.full(count, precision), np.zeros(self.ties)]
        rows = np.arange(len(first))
        one, other = np.zeros((len(first), self.size)), np.zeros((len(first), self.size))
        one[rows, first], other[rows, second] = 1, 1
        tie = (one + other) / 2
        if self.ties:
            tie[:, count] = 1
        self.design = np.stack([one, other, tie][: 2 + self.ties])  # outcome x comparison x parameter
        self.chosen = np.where(outcome == 1, 0, np.where(outcome == 0, 1, 2))

    def _logits(self, point: Floats) -> Floats:
        return np.asarray(self.design @ point)

    def value(self, point: Floats, penalty: bool = True) -> float:
        logits = self._logits(point)
        lost = logsumexp(logits, axis=0).sum() - logits[self.chosen, np.arange(logits.shape[1])].sum()
        return float(lost + (self.precision @ point**2 / 2 if penalty else 0.0))

    def scores(self, point: Floats) -> Floats:
        """Each comparison's part of the slope."""
        logits = self._logits(point)
        p = np.exp(logits - logsumexp(logits, axis=0))
        expected = np.einsum("kc,kcp->cp", p, self.design)
        return np.asarray(expected - self.design[self.chosen, np.arange(len(expected))])

    def slope(self, point: Floats) -> Floats:
        return np.asarray(self.scores(point).sum(axis=0) + self.precision * point)

    def curve(self, point: Floats) -> Curve:
        """The log-likelihood to be climbed."""
        return Curve(-self.value(point), -self.slope(point), self.information(point))

    def information(self, point: Floats) -> Floats:
        logits = self._logits(point)
        p = np.exp(logits - logsumexp(logits, axis=0))
        expected = np.einsum("kc,kcp->cp", p, self.design)
        second = np.einsum("kc,kcp,kcq->pq", p, self.design, self.design)
        return np.asarray(second - expected.T @ expected + np.diag(self.precision))


def _robust(inverse: Floats, scores: Floats, clusters: Ints) -> Floats:
    """The sandwich over clusters of comparisons (Liang and Zeger 1986)."""
    count = int(clusters.max()) + 1
    if count < FEW_CLUSTERS:
        return inverse
    sums = np.zeros((count, scores.shape[1]))
    np.add.at(sums, clusters, scores)
    return np.asarray(inverse @ (sums.T @ sums) @ inverse * count / (count - 1))


def _numbered(names: Sequence[Hashable]) -> Ints:
    known: dict[Hashable, int] = {}
    return np.array([known.setdefault(name, len(known)) for name in names])


def _links(first: Ints, second: Ints, outcome: Floats, count: int) -> tuple[int, Ints]:
    graph = csr_array((np.ones(len(first)), (first, second)), shape=(count, count))
    found = connected_components(graph, directed=False)
    return int(found[0]), np.asarray(found[1])


def _always(first: Ints, second: Ints, outcome: Floats, count: int) -> bool:
    """Whether some always win against the others: then no finite strengths are best (Ford 1957)."""
    beats = np.r_[first[outcome >= 0.5], second[outcome <= 0.5]]
    beaten = np.r_[second[outcome >= 0.5], first[outcome <= 0.5]]
    graph = csr_array((np.ones(len(beats)), (beats, beaten)), shape=(count, count))
    return int(connected_components(graph, directed=True, connection="strong")[0]) > 1
