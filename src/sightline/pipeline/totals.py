"""What a run's summary says: each metric's mean and corpus-level value, over all items and for each system.

Scores are summed up by picture or story as they come, which is what the intervals resample; they are not kept.
"""

import math
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sightline.features.base import WORDLESS
from sightline.items import Failure, Item, Score
from sightline.metrics import Metric
from sightline.pipeline.resampling import drawn_sums, expanded_interval

Floats = NDArray[np.float64]

SAMPLES = 1000
GROUPS = 20_000
"""Beyond so many pictures or stories they are resampled in bundles, drawn by their names: that needs less memory,
and the intervals come out the same but for chance."""


def group_hash(group: str) -> int:
    """What stands for a picture or story among those that a bootstrap resamples."""
    return int.from_bytes(blake2b(group.encode("utf-8", "backslashreplace"), digest_size=8).digest())


class AddedUp(Protocol):
    """What the scores of a system in a metric add to the sums."""

    @property
    def system(self) -> str | None: ...
    @property
    def metric(self) -> str: ...
    @property
    def groups(self) -> bytes:
        """64-bit numbers."""
        ...

    @property
    def rows(self) -> bytes:
        """For each the score, 1, and what the metric adds up: 64-bit floats."""
        ...

    @property
    def wordless(self) -> int: ...
    @property
    def failed(self) -> int: ...


class Totals:
    """The sums of a run, by system."""

    def __init__(self, metrics: Mapping[str, Metric]) -> None:
        self._metrics = metrics
        self._systems: dict[str | None, dict[str, _Sums]] = {}

    def add_sums(self, tally: "Sequence[AddedUp]") -> None:
        """What a worker added up, score by score, in the order of the items."""
        for part in tally:
            sums = self._of(part.system)[part.metric]
            groups = np.frombuffer(part.groups, np.uint64).tolist()
            if groups:
                rows = np.frombuffer(part.rows, np.float64).reshape(len(groups), -1).tolist()
                for key, row in zip(groups, rows, strict=True):
                    sums.put(key, row)
            sums.wordless += part.wordless
            sums.failed += part.failed

    def fail_all(self, spec: str, system: str | None, count: int = 1) -> None:
        self._of(system)[spec].failed += count

    def add(self, spec: str, items: Sequence[Item], scores: Sequence[Score]) -> None:
        """The scores of these very items in a metric."""
        metric = self._metrics[spec]
        for item, score in zip(items, scores, strict=True):
            addends = metric.addends(score.evidence) if metric.has_corpus else ()
            wordless = WORDLESS in score.evidence.notes
            self._of(item.system)[spec].add(item.group, (score.score, 1.0, *addends), wordless)

    @property
    def systems(self) -> list[str | None]:
        return list(self._systems)

    def meet(self, item: Item) -> None:
        """Know of an item's system, also where none of its items has a score."""
        self._of(item.system)

    def fail(self, failures: Sequence[Failure]) -> None:
        for failure in failures:
            self._of(failure.system)[failure.metric].failed += 1

    def summary(self, signatures: Mapping[str, str]) -> dict[str, Any]:
        """`metrics` and `systems` as the contract has them."""
        systems = {name: _rows(self._metrics, sums) for name, sums in self._systems.items()}
        every = [self._systems[name] for name in sorted(self._systems, key=lambda name: name or "")]
        if len(every) == 1:
            ((_, whole),) = systems.items()
        else:
            whole = _rows(
                self._metrics, {spec: _Sums.of([sums[spec] for sums in every]) for spec in self._metrics}
            )
        return {
            "metrics": {spec: {**row, "signature": signatures[spec]} for spec, row in whole.items()},
            "systems": {name: rows for name, rows in systems.items() if name is not None},
        }

    def _of(self, system: str | None) -> "dict[str, _Sums]":
        return self._systems.setdefault(system, {spec: _Sums() for spec in self._metrics})


class _Sums:
    """One system's scores in one metric, added up by group."""

    def __init__(self) -> None:
        self.failed = 0
        self.wordless = 0
        self._rows: dict[int, list[float]] = {}
        self._bundled = False

    def add(self, group: str, row: Sequence[float], wordless: bool) -> None:
        self.wordless += wordless
        self.put(group_hash(group), row)

    @classmethod
    def of(cls, parts: "Sequence[_Sums]") -> "_Sums":
        """Those of several systems together."""
        whole = cls()
        for part in parts:
            whole.failed += part.failed
            whole.wordless += part.wordless
            if part._bundled and not whole._bundled:
                whole._bundle()
            for key, row in part._rows.items():
                whole.put(key, row)
        return whole

    @property
    def groups(self) -> tuple[int, ...]:
        return tuple(sorted(self._rows))

    @property
    def sums(self) -> Floats:
        """[group, number]: the sum of the scores, how many they are, and what the metric adds up."""
        return np.array([self._rows[key] for key in self.groups], np.float64)

    def put(self, key: int, row: Sequence[float]) -> None:
        if self._bundled:
            key %= GROUPS
        known = self._rows.get(key)
        if known is None:
            self._rows[key] = list(row)
            if len(self._rows) > GROUPS:
                self._bundle()
        else:
            for place, value in enumerate(row):
                known[place] += value

    def _bundle(self) -> None:
        rows, self._rows, self._bundled = self._rows, {}, True
        for key, row in rows.items():
            self.put(key, row)


def _rows(metrics: Mapping[str, Metric], found: Mapping[str, _Sums]) -> dict[str, dict[str, Any]]:
    """Means and corpus-level values with their 95 % intervals and standard errors; drawn together where they can be."""
    alike: dict[tuple[int, ...], list[str]] = {}
    for spec in metrics:
        alike.setdefault(found[spec].groups, []).append(spec)
    drawn: dict[str, Floats] = {}
    for groups, specs in alike.items():
        if len(groups) > 1:
            parts = [found[spec].sums for spec in specs]
            cuts = np.cumsum([part.shape[1] for part in parts])[:-1]
            sums = drawn_sums(np.hstack(parts), SAMPLES, seed=0)
            drawn |= dict(zip(specs, np.hsplit(sums, cuts), strict=True))
    return {spec: _row(metric, found[spec], drawn.get(spec)) for spec, metric in metrics.items()}


def _row(metric: Metric, found: _Sums, drawn: Floats | None) -> dict[str, Any]:
    totals = np.array([[math.fsum(column) for column in found.sums.T]])
    groups, n = len(found.groups), round(float(totals[0, 1])) if totals.size else 0
    row: dict[str, Any] = {"mean": float(totals[0, 0] / n) if n else None, "n": n, "failed": found.failed}
    row |= _spread("", None if drawn is None else drawn[:, 0] / drawn[:, 1], groups)
    if metric.has_corpus:
        row["corpus"] = float(metric.pooled(totals[:, 2:])[0]) if n else None
        row |= _spread("corpus_", None if drawn is None else metric.pooled(drawn[:, 2:]), groups)
    row["headline"] = "corpus" if metric.has_corpus else "mean"
    return {**row, "wordless": found.wordless} if found.wordless else row


def _spread(name: str, drawn: Floats | None, groups: int) -> dict[str, float | None]:
    """Ends and standard error; None where a single group leaves nothing to resample."""
    if drawn is None or not np.isfinite(drawn).all():
        return dict.fromkeys((f"{name}low", f"{name}high", f"{name}se"))
    low, high = expanded_interval(drawn, groups)
    return {f"{name}low": low, f"{name}high": high, f"{name}se": float(drawn.std(ddof=1))}
