"""What a metric is: options as dataclass fields, the features it needs, and a score with its evidence."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from sightline.errors import Unscorable
from sightline.features.base import Feature, Features, Fitted, Statistic, Tools, in_order, options_of
from sightline.items import Evidence
from sightline.registry import Registry, build, parse_spec
from sightline.version import package_version as package_version

metrics: Registry[type["Metric"]] = Registry("metric")
M = TypeVar("M", bound="type[Metric]")

Scored = tuple[float, Evidence]
Floats = NDArray[np.float64]


class Metric:
    """Base of all metrics. A metric is a frozen dataclass whose fields are the options of `name:key=value`.

    It sees features and fitted statistics only: no files, no models, no batching.
    """

    name: ClassVar[str]
    lower_is_better: ClassVar[bool] = False
    """Whether the score counts faults, so that comparisons and correlations with people must be read the other way."""

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

    def addends(self, evidence: Evidence) -> Sequence[float]:
        """What of an item's evidence adds up over a corpus."""
        return next(iter(evidence.counts.values()))

    def pooled(self, totals: Floats) -> Floats:
        """Corpus-level values (BLEU, CIDEr) from sums of `addends`, a row for each corpus. Not every metric has one."""
        raise TypeError(f"{self.name} has no corpus-level value")

    @property
    def has_corpus(self) -> bool:
        return type(self).pooled is not Metric.pooled

    def corpus(self, evidence: Iterable[Evidence]) -> float | None:
        """The corpus-level value of scored items; None where there are none, or the metric has no such value."""
        rows = [self.addends(found) for found in evidence] if self.has_corpus else []
        return (
            float(self.pooled(np.array([list(map(math.fsum, zip(*rows, strict=True)))]))[0]) if rows else None
        )

    def signature(self, tools: Tools, fitted: Fitted) -> str:
        """Everything two numbers must share to be the same measurement."""
        parts: dict[str, str] = options_of(self)
        for statistic in self.fits():
            parts[statistic.name] = fitted.told(statistic)
        for feature in in_order(self.needs()):
            parts.update(feature.signature(tools))
        parts.update(self.signature_parts(tools))
        parts["version"] = package_version()
        return "|".join([self.name, *(f"{key}:{value}" for key, value in parts.items())])

    def signature_parts(self, tools: Tools) -> Mapping[str, str]:
        """Further parts of the signature that no feature names."""
        return {}

    @classmethod
    def more(cls) -> str:
        """What `sightline metrics NAME` tells besides the description and the options."""
        return ""


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
