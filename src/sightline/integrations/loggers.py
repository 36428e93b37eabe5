"""A run's numbers, table and report to where experiments are kept: W&B, MLflow, or anything with three methods.

>>> from sightline.integrations.loggers import MLflow, log  # doctest: +SKIP
>>> log(sightline.score("captions.jsonl", ["clipscore"]), MLflow())  # doctest: +SKIP
"""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import sightline
from sightline.errors import extra


class Logger(Protocol):
    """Where numbers go."""

    def numbers(self, values: Mapping[str, float], step: int | None) -> None:
        """Values by name, at a step of a training where there is one."""

    def table(self, name: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """A table of plain cells."""

    def page(self, name: str, path: Path) -> None:
        """A page that holds everything it shows."""


def log(
    result: sightline.Result,
    logger: Logger,
    *,
    step: int | None = None,
    items: bool = True,
    report: bool = True,
) -> None:
    """Each metric's published number, its interval and how many failed; every item's scores; the report."""
    values: dict[str, float] = {}
    for spec, row in result.summary["metrics"].items():
        published = row.get("corpus", row["mean"])
        found = {"": row["mean"] if published is None else published, "/failed": row["failed"]}
        found |= {f"/{end}": row.get(end) for end in ("low", "high")}
        values |= {f"{spec}{name}": float(value) for name, value in found.items() if value is not None}
    logger.numbers(values, step)
    if items:
        logger.table("sightline_items", *rows_of(result))
    if report:
        with tempfile.TemporaryDirectory() as folder:
            logger.page("sightline_report", result.report(Path(folder) / "report.html"))


def rows_of(result: sightline.Result) -> tuple[list[str], list[list[Any]]]:
    """A row per score and failure, each with the signature or the reason."""
    columns = ["id", "system", "metric", "score", "signature or reason"]
    scored = [[row.id, row.system or "", row.metric, row.score, row.signature] for row in result.scores]
    failed = [[row.id, row.system or "", row.metric or "", None, row.reason] for row in result.failures]
    return columns, scored + failed


class WandB:
    """The run that is going on, or one that is given."""

    def __init__(self, run: Any = None) -> None:
        self._wandb = extra("wandb", "integrations")
        self._run = run or self._wandb.run
        if self._run is None:
            raise sightline.UsageError(
                "there is no run of Weights & Biases: call wandb.init() first, or give WandB(run)"
            )

    def numbers(self, values: Mapping[str, float], step: int | None) -> None:
        self._run.log(dict(values), step=step)

    def table(self, name: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        self._run.log({name: self._wandb.Table(columns=list(columns), data=[list(row) for row in rows])})

    def page(self, name: str, path: Path) -> None:
        self._run.log({name: self._wandb.Html(path.read_text("utf-8"), inject=False)})


class MLflow:
    """The run that is going on, or one by its id."""

    SPELLING = str.maketrans({":": "/", ",": " ", "=": "."})
    """MLflow's names of metrics have neither colons nor commas nor equals signs."""

    def __init__(self, run_id: str | None = None) -> None:
        self._mlflow = extra("mlflow", "integrations")
        run = self._mlflow.active_run()
        self._run = run_id or (run.info.run_id if run else None)
        if self._run is None:
            raise sightline.UsageError(
                "there is no run of MLflow: call mlflow.start_run() first, or give MLflow(run_id)"
            )

    def numbers(self, values: Mapping[str, float], step: int | None) -> None:
        spelled = {name.translate(self.SPELLING): value for name, value in values.items()}
        self._mlflow.log_metrics(spelled, step=step, run_id=self._run)

    def table(self, name: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        cells = {column: [row[place] for row in rows] for place, column in enumerate(columns)}
        self._mlflow.MlflowClient().log_dict(self._run, cells, f"{name}.json")

    def page(self, name: str, path: Path) -> None:
        self._mlflow.MlflowClient().log_artifact(self._run, str(path), name)
