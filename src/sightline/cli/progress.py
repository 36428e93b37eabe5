"""Progress bars and the table that ends a run."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table

from sightline.cli.app import errors
from sightline.pipeline.run import Progress as RunProgress


def _bars() -> Progress:
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal)


@contextmanager
def run_progress() -> Iterator[RunProgress]:
    """A bar for each stage of a run, on stderr."""
    with counted_progress() as told:
        yield lambda stage, done: told(stage, done, None)


@contextmanager
def counted_progress() -> Iterator[Callable[[str, int, int | None], None]]:
    """The same for stages whose end is known: told with how many there are."""
    with _bars() as bars:
        tasks: dict[str, TaskID] = {}

        def told(stage: str, done: int, total: int | None) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done)

        yield told


def summary_table(summary: Mapping[str, Any]) -> Table:
    """The metrics of a run with their means."""
    table = Table(title=f"{summary['items']} items", caption_justify="left")
    for name in ("metric", "mean", "corpus", "scored", "failed"):
        table.add_column(name, justify="left" if name == "metric" else "right")
    for spec, row in summary["metrics"].items():
        numbers = ["–" if (value := row.get(key)) is None else f"{value:.4f}" for key in ("mean", "corpus")]
        table.add_row(escape(spec), *numbers, str(row["n"]), str(row["failed"]))
    return table
