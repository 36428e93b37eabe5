"""Hard samples: pictures whose captions share words but not meaning, and that people doubt (HL, 4.2 and A.3.2)."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UsageError, unknown

Floats = NDArray[np.float64]

DEFAULT = "confidence<=33%,purity<=33%,self_bleu>=67%"
"""Low confidence, low purity, similar lexicons: the lowest and highest third of each."""

CONDITION = re.compile(r"\s*([^<>=%,]+?)\s*(<=|>=|<|>)\s*(-?\d+(?:\.\d+)?)\s*(%?)\s*")


@dataclass(frozen=True)
class Condition:
    """A measure at or beyond a limit; a limit in percent is a quantile of the corpus."""

    measure: str
    sign: str
    limit: float
    percent: bool

    @property
    def low(self) -> bool:
        """Whether low values are hard."""
        return self.sign.startswith("<")

    def threshold(self, values: Floats) -> float:
        return float(np.nanquantile(values, self.limit / 100)) if self.percent else self.limit

    def holds(self, values: Floats) -> NDArray[np.bool_]:
        """Where it holds; never where there is no value."""
        limit = self.threshold(values)
        test = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}[self.sign]
        with np.errstate(invalid="ignore"):
            found: NDArray[np.bool_] = test(values, limit)
        return found

    def __str__(self) -> str:
        return f"{self.measure} {self.sign} {self.limit:g}{' %' if self.percent else ''}"


def parse_conditions(text: str) -> list[Condition]:
    """`confidence<3,purity<=33%,scene.self_bleu>20`."""
    conditions = []
    for part in text.split(","):
        found = CONDITION.fullmatch(part)
        if found is None:
            raise UsageError(
                f"--hard: cannot read '{part.strip()}'; write it as confidence<3.5 or purity<=33%"
            )
        name, sign, limit, percent = found.groups()
        if percent and not 0 <= float(limit) <= 100:
            raise UsageError(f"--hard: {part.strip()}: a share lies between 0 % and 100 %")
        conditions.append(Condition(name, sign, float(limit), bool(percent)))
    return conditions


@dataclass(frozen=True)
class HardSamples:
    """Which pictures are hard, the hardest first, and by which conditions."""

    places: list[int]
    hardness: list[float]
    conditions: list[tuple[Condition, float]]
    """Each with its limit as a value."""
    left_out: list[str]
    """Measures that the corpus does not have."""


def check_measures(conditions: Iterable[Condition], known: Iterable[str]) -> None:
    """Refuse a condition on a measure that there is not."""
    names = set(known)
    for condition in conditions:
        if condition.measure not in names:
            raise unknown("measure of --hard", condition.measure, names)


def select(measures: Mapping[str, Floats], conditions: Sequence[Condition]) -> HardSamples:
    """Pictures for which every condition holds.

    They are ordered by hardness: the mean, over the conditions, of the share of the corpus that is less hard.
    """
    check_measures(conditions, measures)
    usable = [c for c in conditions if np.isfinite(measures[c.measure]).any()]
    left_out = [c.measure for c in conditions if c not in usable]
    if not usable:
        return HardSamples([], [], [], left_out)
    holds = np.logical_and.reduce([c.holds(measures[c.measure]) for c in usable])
    ranks = [_less_hard(measures[c.measure], low=c.low) for c in usable]
    hardness = np.mean(ranks, axis=0)
    places = np.flatnonzero(holds)
    places = places[np.argsort(-hardness[places], kind="stable")]
    limits = [(c, c.threshold(measures[c.measure])) for c in usable]
    return HardSamples(places.tolist(), hardness[places].tolist(), limits, left_out)


def _less_hard(values: Floats, *, low: bool) -> Floats:
    """The share of pictures with a less hard value, those with an equal one counted half; NaN stays NaN."""
    signed = -values if low else values
    known = np.sort(signed[np.isfinite(signed)])
    below, upto = np.searchsorted(known, signed, "left"), np.searchsorted(known, signed, "right")
    return np.where(np.isfinite(signed), (below + upto) / 2 / len(known), np.nan)
