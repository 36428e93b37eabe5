"""What a metric is: options as dataclass fields, the features it needs, and a score with its evidence."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from sightline.errors import Unscorable
from sightline.features.base import Feature, Features, Fitted, Statistic, Tools, in_order, options_of
from sightline.items import Evidence
from sightline.registry import Registry, build, parse_spec

metrics: Registry[type["Metric"]] = Registry("metric")
M = TypeVar("M", bound="type[Metric]")

Scored = tuple[float, Evidence]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Together:
    """A value of many items together, from numbers of each item that add up: what a bootstrap resamples."""

    rows: Floats
    """[item, number]"""
    of: Callable[[Floats], Floats]
    """From sums of rows [sample, number] to the value of each sample."""

    @classmethod
    def mean(cls, scores: Sequence[float] | Floats) -> "Together":
        """The plain mean, of metrics that have no corpus-level value of their own."""
        values = np.asarray(scores, np.float64)
        return cls(np.column_stack([values, np.ones(len(values))]), lambda sums: sums[:, 0] / sums[:, 1])

    @property
    def value(self) -> float:
        return float(self.of(self.rows.sum(axis=0, keepdims=True))[0])


class Metric:
    """Base of all metrics. A metric is a frozen dataclass whose fields are the options of `name:key=value`.

    It sees features and fitted statistics only: no files, no models, no batching.
    """

    name: ClassVar[str]

    def needs(self) -> tuple[Feature[Any], ...]:
        """The features `score` reads."""
        return ()

    def fits(self) -> tuple[Statistic[Any], ...]:
        """The corpus statistics `score` reads."""
        return ()

    def score(self, got: Features, fitted: Fitted) -> Scored:
        """The item's score and its evidence; raises Unscorable with the reason where there is none."""
        raise TypeError(f"{self.name} does not say how it scores")

    def score_batch(self, batch: Sequence[Features], fitted: Fitted) -> list[Scored | Unscorable]:
        """Scores of many items; override where many are faster together than one by one."""
        return [self._score_or_reason(got, fitted) for got in batch]

    def _score_or_reason(self, got: Features, fitted: Fitted) -> Scored | Unscorable:
        try:
            return self.score(got, fitted)
        except Unscorable as reason:
            return reason

    def corpus(self, evidence: Iterable[Evidence], fitted: Fitted) -> float | None:
        """A corpus-level value from every scored item's evidence, where the metric has one (BLEU, CIDEr)."""
        return None

    def together(self, evidence: Sequence[Evidence]) -> Together | None:
        """What the corpus-level value is made of, where that is not the mean of the scores."""
        return None

    def signature(self, tools: Tools, fitted: Fitted) -> str:
        """Everything two numbers must share to be the same measurement."""
        parts: dict[str, str] = options_of(self)
        for statistic in self.fits():
            parts[statistic.name] = fitted.source(statistic)
        for feature in in_order(self.needs()):
            parts.update(feature.signature(tools))
        parts.update(self.signature_parts(tools))
        parts["version"] = package_version()
        return "|".join([self.name, *(f"{key}:{value}" for key, value in parts.items())])

    def signature_parts(self, tools: Tools) -> Mapping[str, str]:
        """Further parts of the signature that no feature names."""
        return {}


def metric(name: str) -> Callable[[M], M]:
    """Register a metric class under a name."""

    def register(cls: M) -> M:
        cls.name = name
        metrics.add(name)(cls)
        return cls

    return register


def make_metric(spec: str) -> Metric:
    """A metric from `name` or `name:key=value,key=value`."""
    name, options = parse_spec(spec)
    return build(metrics.get(name), name, options)


def package_version() -> str:
    try:
        return version("sightline")
    except PackageNotFoundError:
        return "dev"
