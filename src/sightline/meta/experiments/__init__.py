"""The papers' experiments: what one is (`base`), the five there are (`papers`), and how each is told."""

from sightline.meta.experiments.base import ExperimentTable, ExperimentTask, experiments
from sightline.meta.experiments.papers import ABLATION, make_experiment

__all__ = ["ABLATION", "ExperimentTask", "ExperimentTable", "experiments", "make_experiment"]
