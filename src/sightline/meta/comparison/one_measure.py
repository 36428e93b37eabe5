"""Scores of several runs as one measurement: what was measured with another theta is scored again from its evidence.

Two runs have each fitted theta to their own texts; their scores cannot be put side by side. GROOViST's evidence has
every phrase's similarity and weight, so that the score under a common theta follows from it. Nothing else can be mended
without the texts: it is refused with the command that mends it, unless the user takes the scores as they were measured.
"""

import math
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from sightline.errors import UsageError
from sightline.features.base import Fit
from sightline.features.statistics import Theta
from sightline.items import Evidence, Score
from sightline.meta.comparison.board import UNNAMED
from sightline.metrics import make_metric
from sightline.metrics.groovist import Groovist, groovist, penalize

UNKNOWN = "not known"
"""The signature of scores that do not say how they were measured."""


def parts_of(signature: str) -> dict[str, str]:
    """`name|key:value|…` as a mapping."""
    found = (part.partition(":") for part in signature.split("|"))
    return {key: value for key, colon, value in found if colon}


class OneMeasure:
    """Scores that stand side by side: those of several runs, once it is settled what they were measured with."""

    def __init__(
        self,
        scores: Callable[[], Iterable[Score]],
        *,
        files: Mapping[str, str] | None = None,
        fit_on: str | None = None,
        as_measured: bool = False,
    ) -> None:
        """`files` tells the texts of a system, for the command that mends; `fit_on` whose theta all are scored with."""
        self._scores = scores
        self._files = files or {}
        self._fit_on = fit_on
        self._as_measured = as_measured
        self.notes: list[str] = []
        self._systems: dict[str, dict[str, dict[str, None]]] = defaultdict(lambda: defaultdict(dict))
        """By metric and signature, the systems that were measured so."""
        self._similarity: dict[str, dict[str, list[tuple[float, int]]]] = defaultdict(
            lambda: defaultdict(list)
        )
        """By metric and system, the sum and number of each text's similarities."""
        for score in scores():
            system = UNNAMED if score.system is None else score.system
            self._systems[score.metric][score.signature].setdefault(system)
            if score.evidence.phrases and score.evidence.threshold is not None:
                total = math.fsum(phrase.similarity for phrase in score.evidence.phrases)
                self._similarity[score.metric][system].append((total, len(score.evidence.phrases)))
        self._thetas = {spec: theta for spec in self._systems if (theta := self._settle(spec)) is not None}

    def __iter__(self) -> Iterator[Score]:
        for score in self._scores():
            theta = self._thetas.get(score.metric)
            yield score if theta is None else with_theta(score, theta)

    def _settle(self, spec: str) -> float | None:
        """The theta that a metric's scores are made again with; None where they stay as they are."""
        signatures = self._systems[spec]
        if self._fit_on is not None and spec in self._similarity:
            return self._common_theta(spec)
        known = [signature for signature in signatures if signature]
        if len(known) < len(signatures):
            self.notes.append(
                f"{spec}: how {_systems(signatures[''])} was measured is not told; whether the scores"
                f" of {_systems(dict.fromkeys(s for k in known for s in signatures[k]))} are the same measurement"
                " cannot be said"
                if known
                else f"{spec}: how it was measured is not told"
            )
        if len(known) < 2:
            return None
        apart = self._apart(spec, known)
        told = "; ".join(f"{key} is {_values(values)}" for key, values in apart.items())
        if set(apart) == {"version"}:
            self.notes.append(f"{spec}: the systems were scored by different versions of Sightline: {told}")
            return None
        if set(apart) <= {"theta", "version"} and self._can_be_made_again(spec):
            theta = self._common_theta(spec)
            self.notes.append(
                f"{spec}: the runs had each a theta of their own ({told}); all are scored again with theta {theta:.6g}"
                " from their evidence"
            )
            return theta
        if self._as_measured:
            self.notes.append(f"{spec}: the systems were measured in different ways: {told}")
            return None
        systems = list(dict.fromkeys(system for signature in known for system in signatures[signature]))
        files = " ".join(shlex.quote(f"{name}={self._files.get(name, 'FILE')}") for name in systems)
        raise UsageError(
            f"{spec}: the systems were measured in different ways ({told}), so that their scores cannot be held against"
            f" each other; score their texts as one: sightline compare {files} -m {shlex.quote(spec)} -o OUT"
            " (or take them as they are, with the difference named: --as-measured)"
        )

    def _apart(self, spec: str, signatures: Sequence[str]) -> dict[str, dict[str, list[str]]]:
        """The parts in which signatures differ: each value, and the systems that have it."""
        parts = {
            signature: {"metric": signature.split("|")[0]} | parts_of(signature) for signature in signatures
        }
        keys = dict.fromkeys(key for found in parts.values() for key in found)
        apart: dict[str, dict[str, list[str]]] = {}
        for key in keys:
            values: dict[str, list[str]] = {}
            for signature, found in parts.items():
                values.setdefault(found.get(key, "none"), []).extend(self._systems[spec][signature])
            if len(values) > 1:
                apart[key] = values
        return apart

    def _can_be_made_again(self, spec: str) -> bool:
        systems = {system for found in self._systems[spec].values() for system in found}
        return isinstance(make_metric(spec), Groovist) and systems <= set(self._similarity[spec])

    def _common_theta(self, spec: str) -> float:
        by_system = self._similarity[spec]
        if self._fit_on is not None and self._fit_on not in by_system:
            raise UsageError(
                f"--fit-on {self._fit_on}: no such system with a {spec} score; there are {_systems(by_system)}"
            )
        chosen = by_system.values() if self._fit_on is None else [by_system[self._fit_on]]
        rows = [row for rows in chosen for row in rows]
        return math.fsum(total for total, _ in rows) / sum(count for _, count in rows)


def with_theta(score: Score, theta: float) -> Score:
    """A score of GROOViST as it comes out under another theta."""
    metric = make_metric(score.metric)
    if not isinstance(metric, Groovist) or not score.evidence.phrases:
        return score
    phrases = score.evidence.phrases
    similarity = np.array([phrase.similarity for phrase in phrases])
    weight = np.array([phrase.weight for phrase in phrases])
    penalized = penalize(similarity, theta) if metric.penalty == "on" else similarity
    raw = groovist(similarity, weight, theta, metric.penalty == "on")
    # T counts what reaches the old theta, and what it is counted from is not kept to the last digit.
    parts = {name: value for name, value in score.evidence.parts.items() if name != "T"} | {
        "tanh": math.tanh(raw)
    }
    evidence: Evidence = replace(
        score.evidence,
        threshold=theta,
        parts=parts,
        phrases=tuple(
            replace(phrase, penalized=float(np_score), contribution=float(np_score * w))
            for phrase, np_score, w in zip(phrases, penalized, weight, strict=True)
        ),
    )
    told = Theta(metric.units).told(Fit(theta, "corpus"))
    signature = "|".join(
        f"theta:{told}" if part.startswith("theta:") else part for part in score.signature.split("|")
    )
    return replace(
        score, score=parts["tanh"] if metric.tanh == "on" else raw, signature=signature, evidence=evidence
    )


def _values(values: Mapping[str, Sequence[str]]) -> str:
    return ", ".join(
        f"{value or UNKNOWN} for {_systems(dict.fromkeys(systems))}" for value, systems in values.items()
    )


def _systems(names: Iterable[str]) -> str:
    return ", ".join(names)
