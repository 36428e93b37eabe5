"""What systems got, metric by metric and item by item, in the form that a comparison computes with."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UsageError
from sightline.items import Evidence, Failure, Score
from sightline.meta.comparison.contest import Side, Together
from sightline.metrics import Metric, make_metric, metrics

UNNAMED = "(no system)"
"""What items that say no system are called beside those that do."""


@dataclass
class Column:
    """One system's scores in one metric."""

    ids: list[str] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    parts: list[Sequence[float]] | None = field(default_factory=list)
    """What of each item adds up to the corpus-level value; None where the metric has none, or it is not stored."""
    signatures: dict[str, None] = field(default_factory=dict)
    failed: int = 0

    @cached_property
    def place(self) -> dict[str, int]:
        return {id: place for place, id in enumerate(self.ids)}


def no_number(score: Score) -> Failure:
    """The failure that a score stands for which is no number."""
    reason = (
        "there is no score (NaN, null or empty)"
        if score.score != score.score
        else f"the score is {score.score}"
    )
    return Failure(score.id, score.metric, reason, system=score.system)


class Board:
    """Scores by metric and system. Each item's id tells which of the others it is compared with."""

    def __init__(self) -> None:
        self.columns: dict[str, dict[str, Column]] = {}
        self.failures: dict[str, dict[str, dict[str, str]]] = {}
        """By metric and system, the reason of each item, or line that is none, without a score."""
        self._metrics: dict[str, Metric | None] = {}
        self._seen: set[tuple[str, str, str]] = set()

    @classmethod
    def of(cls, scores: Iterable[Score], failures: Iterable[Failure] = ()) -> "Board":
        board = cls()
        for score in scores:
            board.add(score)
        for failure in failures:
            board.fail(failure)
        return board

    def add(self, score: Score) -> None:
        system = UNNAMED if score.system is None else score.system
        key = (score.metric, system, score.id)
        if key in self._seen:
            raise UsageError(
                f"'{score.id}' has a second {score.metric} score of {system}; name the systems if these are several"
            )
        self._seen.add(key)
        if not math.isfinite(score.score):
            self.fail(no_number(score))
            return
        column = self._column(score.metric, system)
        column.ids.append(score.id)
        column.scores.append(score.score)
        column.signatures.setdefault(score.signature)
        if column.parts is not None:
            found = self._parts(score.metric, score.evidence)
            if found is None:
                column.parts = None
            else:
                column.parts.append(found)

    def fail(self, failure: Failure) -> None:
        system = UNNAMED if failure.system is None else failure.system
        self._column(failure.metric, system).failed += 1
        self.failures.setdefault(failure.metric, {}).setdefault(system, {})[failure.id or failure.source] = (
            failure.reason
        )

    @property
    def metrics(self) -> list[str]:
        return list(self.columns)

    @cached_property
    def systems(self) -> list[str]:
        """In the order in which they came."""
        return list(dict.fromkeys(system for columns in self.columns.values() for system in columns))

    def metric(self, spec: str) -> Metric | None:
        """The metric behind a column; None where this installation has none of that name."""
        if spec not in self._metrics:
            known = spec.partition(":")[0] in set(metrics)
            self._metrics[spec] = make_metric(spec) if known else None
        return self._metrics[spec]

    def counts_faults(self, spec: str) -> bool:
        """Whether lower is better."""
        found = self.metric(spec)
        return found is not None and found.lower_is_better

    def level(self, spec: str, systems: Iterable[str]) -> str:
        """Whether systems are compared by their corpus-level values or by means."""
        columns = [self.columns[spec][system] for system in systems]
        return "corpus" if all(column.parts is not None for column in columns) else "mean"

    def side(self, spec: str, system: str, ids: Sequence[str], level: str) -> Side:
        """What a system got in these items."""
        column = self.columns[spec][system]
        places = [column.place[id] for id in ids]
        scores: NDArray[np.float64] = np.array([column.scores[place] for place in places], np.float64)
        metric = self.metric(spec)
        if level == "mean" or column.parts is None or metric is None:
            return Side(scores, Together.mean(scores))
        rows = np.array([column.parts[place] for place in places], np.float64)
        return Side(scores, Together(rows, metric.pooled))

    def scores(self, spec: str, system: str) -> Mapping[str, float]:
        column = self.columns.get(spec, {}).get(system)
        return dict(zip(column.ids, column.scores, strict=True)) if column else {}

    def signatures(self, spec: str) -> dict[str, list[str]]:
        """The systems of each signature, in the order they came."""
        found: dict[str, list[str]] = {}
        for system, column in self.columns[spec].items():
            for signature in column.signatures:
                found.setdefault(signature, []).append(system)
        return found

    def _column(self, metric: str, system: str) -> Column:
        columns = self.columns.setdefault(metric, {})
        if system not in columns:
            columns[system] = Column()
        return columns[system]

    def _parts(self, spec: str, evidence: Evidence) -> Sequence[float] | None:
        metric = self.metric(spec)
        if metric is None or not metric.has_corpus or not evidence.counts:
            return None
        return metric.addends(evidence)
