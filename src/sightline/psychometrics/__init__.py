"""Whom to trust, and how hard each item is: measurement models and agreement coefficients."""

from sightline.psychometrics.model.fit import ModelFit, fit
from sightline.psychometrics.model.responses import Responses, from_values

__all__ = ["ModelFit", "Responses", "fit", "from_values"]
