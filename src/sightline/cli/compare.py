"""`sightline compare`: how far a system's stories lie from people's."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from sightline.api import score_file
from sightline.cli.app import app, console
from sightline.cli.options import FormatOption, OnError, OnErrorOption, OutOption, measuring
from sightline.cli.progress import run_progress
from sightline.errors import UsageError
from sightline.io.results import write_whole
from sightline.meta.comparison.distance import PARTS, Distance, distance
from sightline.meta.comparison.distance_page import comparison_page
from sightline.meta.comparison.score_tables import ScoreTable, holds_scores, read_table
from sightline.pipeline.run import Run
from sightline.pipeline.settings import Settings


@app.command()
@measuring
def compare(
    human: Annotated[
        Path, typer.Argument(help="Human stories, or their scores: a run's folder or a scores file.")
    ],
    generated: Annotated[Path, typer.Argument(help="Generated stories with the same ids, or their scores.")],
    out: OutOption,
    settings: Settings,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            "-m",
            help="Metrics to score stories with; groovist, rovist-c and rovist-nr by default.",
        ),
    ] = None,
    human_system: Annotated[str | None, typer.Option(help="The system to take from the first file.")] = None,
    generated_system: Annotated[
        str | None, typer.Option(help="The system to take from the second file.")
    ] = None,
    format: FormatOption = None,
    on_error: OnErrorOption = OnError.collect,
) -> None:
    """Compare generated stories with human ones: distributions side by side, and d_HM."""
    specs = metric or list(PARTS)
    sides = [
        _table(path, system, specs, settings, out / place, format, on_error)
        for path, system, place in (
            (human, human_system, "human"),
            (generated, generated_system, "generated"),
        )
    ]
    if metric:
        for side in sides:
            side.scores = {spec: scores for spec, scores in side.scores.items() if spec in metric}
    found = distance(sides[0].scores, sides[1].scores)
    if not found.parts:
        raise UsageError(f"{human} and {generated} share no story (by id) with a score in the same metric")
    names = (human_system or "human", generated_system or "generated")
    notes = _notes(sides, found)
    _write(out, sides, found, names, notes)
    console.print(_terminal_table(found, names))
    for note in notes:
        console.print(f"Note: {note}")
    console.print(f"Report: {out / 'report.html'}", soft_wrap=True)


def _table(
    path: Path,
    system: str | None,
    specs: list[str],
    settings: Settings,
    folder: Path,
    format: str | None,
    on_error: OnError,
) -> ScoreTable:
    if not path.exists():
        raise UsageError(f"{path}: there is no such file or folder")
    if holds_scores(path):
        return read_table(path, system)
    if system is not None:
        raise UsageError(f"{path} holds stories, not scores: a system can only be picked from scores")
    with run_progress() as progress:
        score_file(
            path,
            Run(specs, settings),
            folder,
            format=format,
            on_error=on_error.reading,
            overwrite=True,
            progress=progress,
        )
    return read_table(folder)


def _notes(sides: list[ScoreTable], found: Distance) -> list[str]:
    notes = []
    for metric, part in found.parts.items():
        counts = [len(side.scores[metric]) for side in sides]
        if any(count != part.n for count in counts):
            left = f"{counts[0] - part.n} human and {counts[1] - part.n} generated"
            notes.append(f"{metric}: {left} stories have no counterpart and are left out")
        signatures = set().union(*(side.signatures.get(metric, set()) for side in sides))
        if len(signatures) > 1:
            notes.append(
                f"{metric}: the two sides were measured in different ways: {' / '.join(sorted(signatures))}"
            )
    return notes


def _write(
    out: Path, sides: list[ScoreTable], found: Distance, names: tuple[str, str], notes: list[str]
) -> None:
    out.mkdir(parents=True, exist_ok=True)
    told: dict[str, Any] = {
        "d_hm": found.d_hm,
        "parts": {
            metric: {
                "n": part.n,
                "human": part.human,
                "generated": part.generated,
                "deviation": part.deviation,
                "generated_higher": part.higher,
            }
            for metric, part in found.parts.items()
        },
        "names": {"human": names[0], "generated": names[1]},
        "notes": notes,
    }
    write_whole(out / "compare.json", json.dumps(told, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
    html = comparison_page(sides[0].scores, sides[1].scores, found, names=names, notes=notes)
    write_whole(out / "report.html", html)


def _terminal_table(found: Distance, names: tuple[str, str]) -> Table:
    d_hm = "undefined: a part is missing" if found.d_hm is None else f"{found.d_hm:.4f}"
    table = Table(title=f"d_HM {d_hm}", caption_justify="left")
    for column in ("metric", "stories", names[0], names[1], "|difference|", "generated is higher"):
        table.add_column(column, justify="left" if column == "metric" else "right")
    for metric, part in found.parts.items():
        label = "tanh(groovist)" if metric == "groovist" else metric
        means = (f"{value:.4f}" for value in (part.human, part.generated, part.deviation))
        table.add_row(label, str(part.n), *means, f"{100 * part.higher:.0f} %")
    return table
