"""One file per metric: the formula as a pure function in the paper's symbols, and the metric around it."""

from sightline.metrics.base import Metric, make_metric, metric, metrics

__all__ = ["Metric", "make_metric", "metric", "metrics"]
