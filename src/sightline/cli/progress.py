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
    TimeRemainingColumn,
)
from rich.table import Table

from sightline.cli.consoles import console, errors
from sightline.pipeline.run import Progress as RunProgress


def _bars() -> Progress:
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(compact=True),
        TextColumn("{task.fields[left]}"),
    )
    shown = errors.is_terminal and not console.quiet
    return Progress(*columns, console=errors, transient=True, disable=not shown)


@contextmanager
def run_progress(expected: Callable[[], int | None] | None = None) -> Iterator[RunProgress]:
    """A bar for each stage of a run, on stderr. `expected` tells how many items there are, if that is known."""
    with counted_progress() as told:
        total = expected() if expected and errors.is_terminal else None

        def told_of(stage: str, done: int) -> None:
            nonlocal total
            if total is not None and done > total:
                total = None  # it was a guess
            told(stage, done, total)

        yield told_of


@contextmanager
def counted_progress() -> Iterator[Callable[[str, int, int | None], None]]:
    """The same for stages whose end is known: told with how many there are."""
    with _bars() as bars:
        tasks: dict[str, TaskID] = {}

        def told(stage: str, done: int, total: int | None) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total, left="left" if total else "")
            bars.update(tasks[stage], completed=done, total=total)

        yield told


def summary_table(summary: Mapping[str, Any]) -> Table:
    """The metrics of a run, a row for each system: the published kind of number, its interval, and the mean."""
    systems = summary["systems"]
    items = f"{summary['items']:,} {'item' if summary['items'] == 1 else 'items'}"
    table = Table(
        title=f"{items} of {len(systems)} systems" if len(systems) > 1 else items, caption_justify="left"
    )
    corpus = any(row["headline"] == "corpus" for row in summary["metrics"].values())
    table.add_column("metric", overflow="fold")
    for name in ("corpus" if corpus else "mean", "95 %", *(["mean"] if corpus else []), "scored", "failed"):
        table.add_column(name, justify="right", no_wrap=True)
    for spec, whole in summary["metrics"].items():
        if len(systems) > 1:
            table.add_section()
            table.add_row(escape(spec))
            for name, found in systems.items():
                table.add_row(f"  {escape(name)}", *_cells(found[spec], corpus))
        else:
            table.add_row(escape(spec), *_cells(whole, corpus))
    return table


def _cells(row: Mapping[str, Any], corpus: bool) -> Iterator[str]:
    """The headline and its interval; where some metric has a corpus-level value, that and the mean in their columns."""
    place = "corpus_" if row["headline"] == "corpus" else ""
    low, high = row[f"{place}low"], row[f"{place}high"]
    if corpus:
        yield _number(row.get("corpus"))
    else:
        yield _number(row["mean"])
    yield "–" if low is None else f"{low:.4f} – {high:.4f}"
    if corpus:
        yield _number(row["mean"])
    yield from (str(row["n"]), str(row["failed"]))


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"
