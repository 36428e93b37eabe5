"""Sightline inside the libraries that people train and evaluate with. Each module is thin, over the public face.

torchmetrics      CLIPScore, and any metric with update and compute, in one process or many
hf_evaluate       a module that `evaluate.load` takes by its path
inspect_ai        a scorer of inspect-ai
lmms_eval         what a task of lmms-eval names: process_results and aggregation
datasets          results and items as data sets of Hugging Face
loggers           a run's numbers, table and report to Weights & Biases or MLflow
hub               a model card in the hub's format, and what `sightline train` made, pushed
"""
