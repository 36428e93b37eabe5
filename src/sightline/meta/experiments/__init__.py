"""The papers' experiments: what one is (`base`), the five there are (`papers`), and how each is told."""

from sightline.meta.experiments.base import ExperimentTable, Given, experiments
from sightline.meta.experiments.papers import ABLATION, make_experiment

__all__ = ["ABLATION", "Given", "ExperimentTable", "experiments", "make_experiment"]
