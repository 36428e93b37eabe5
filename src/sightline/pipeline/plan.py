"""Which features a set of metrics needs, in what order, each once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sightline.errors import Unscorable, UsageError
from sightline.features.base import Feature, Features, Statistic, Tools, in_order
from sightline.items import Item
from sightline.metrics import Metric, make_metric
from sightline.metrics.base import package_version


@dataclass(frozen=True)
class Plan:
    """Metrics by the spec the user wrote, the features they need (needs first), and which of those are kept."""

    metrics: dict[str, Metric]
    features: tuple[Feature[Any], ...]
    kept: tuple[Feature[Any], ...]
    """The features that metrics and statistics read; the rest are steps on the way and are let go."""
    statistics: tuple[Statistic[Any], ...]

    @property
    def reads_pictures(self) -> bool:
        return any(feature.reads_pictures for feature in self.features)

    @property
    def looks_ahead(self) -> bool:
        """Whether anything can be begun for a batch while another is computed."""
        return self.reads_pictures or any(
            type(feature).ahead is not Feature.ahead for feature in self.features
        )

    @property
    def needs_pictures(self) -> bool:
        """Whether picture files must be there, though maybe not decoded ahead."""
        return any(feature.reads_pictures or feature.shows_pictures for feature in self.features)

    @classmethod
    def of(cls, specs: Sequence[str]) -> "Plan":
        if not specs:
            raise UsageError("no metric is named; 'sightline metrics' lists them")
        metrics = {spec: make_metric(spec) for spec in specs}
        statistics = tuple(dict.fromkeys(s for metric in metrics.values() for s in metric.fits()))
        askers: list[Metric | Statistic[Any]] = [*metrics.values(), *statistics]
        kept = dict.fromkeys(feature for asker in askers for feature in asker.needs())
        return cls(metrics, tuple(in_order(kept)), tuple(kept), statistics)


def ahead(plan: Plan, items: Sequence[Item], tools: Tools) -> None:
    """Begin with a batch that comes next: pictures are decoded, and judges asked, while this one is computed."""
    if plan.reads_pictures:
        tools.pictures.prefetch([path for item in items for path in item.images])
    for feature in plan.features:
        feature.ahead(items, tools)


def compute(plan: Plan, batch: Sequence[Features], tools: Tools) -> None:
    """Compute every feature of the plan for a batch. An item that fails a feature fails all that stand on it."""
    for feature in plan.features:
        able: list[Features] = []
        for got in batch:
            reasons = [reason for need in feature.needs() if (reason := got.failure(need)) is not None]
            if reasons:
                got.put(feature, reasons[0])
            else:
                able.append(got)
        if able:
            for got, value in zip(able, compute_or_split(feature, able, tools), strict=True):
                got.put(feature, value)


def fingerprint(plan: Plan, tools: Tools) -> dict[str, str]:
    """What the features of an item depend on, by what it is: each feature's part of a signature.

    The models are loaded for it.
    """
    found = {"version": package_version(), "metrics": " ".join(plan.metrics)}
    for feature in plan.features:
        for key, value in feature.signature(tools).items():
            found[f"{feature} {key}"] = value
    return found


def difference(one: Mapping[str, str], other: Mapping[str, str]) -> str | None:
    """The first thing in which two fingerprints differ, told; None where they are equal."""
    for key in dict.fromkeys((*one, *other)):
        before, now = one.get(key, "none"), other.get(key, "none")
        if before != now:
            return f"{key.split()[-1]} was {before}, now it is {now}"
    return None


def compute_or_split(feature: Feature[Any], batch: Sequence[Features], tools: Tools) -> Sequence[Any]:
    """The batch's values; where the batch is refused, item by item, so that the one at fault fails alone."""
    try:
        return feature.compute(batch, tools)
    except Unscorable as reason:
        if len(batch) == 1:
            return [reason]
        return [compute_or_split(feature, [got], tools)[0] for got in batch]
