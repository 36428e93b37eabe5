"""What a metric is: options as dataclass fields, the features it needs, and a score with its evidence."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from sightline.errors import Unscorable
from sightline.features.base import Feature, Features, Fitted, Statistic, Tools, in_order, options_of
from sightline.items import Evidence
from sightline.registry import Registry, build, parse_spec
from sightline.version import package_version as package_version

metrics: Registry[type["Metric"]] = Registry("metric")
M = TypeVar("M", bound="type[Metric]")

Scored = tuple[float, Evidence]


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
