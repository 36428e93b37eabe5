"""What metrics can ask for. Each feature is computed once per item and shared by every metric that needs it."""

from sightline.features.base import Feature, Features, Fitted, Statistic, Tools

__all__ = ["Feature", "Features", "Fitted", "Statistic", "Tools"]
