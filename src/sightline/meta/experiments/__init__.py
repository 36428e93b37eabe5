"""Experiments: what one is (`base`), the papers' five (`papers`), two on biases (`biases`), and how each is told."""

from sightline.meta.experiments import biases as biases
from sightline.meta.experiments.base import ExperimentTable, ExperimentTask, experiments
from sightline.meta.experiments.papers import ABLATION, make_experiment

__all__ = ["ABLATION", "ExperimentTask", "ExperimentTable", "experiments", "make_experiment"]
