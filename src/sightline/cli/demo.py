"""`sightline demo`: scores the bundled stories, and what the embedded captioner says, on the embedded models."""

import webbrowser
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.table import Table

from sightline.api import score_file
from sightline.cli.app import app, console
from sightline.cli.consoles import remark
from sightline.cli.options import FormatOption, OnError, OnErrorOption, OutOption, measuring
from sightline.cli.progress import run_progress
from sightline.demo import CAPTIONER, METRICS, VERSIONS, by_version, mean_by_version, with_captions
from sightline.demo.samples import leave_samples
from sightline.io.scores import read_scores
from sightline.pipeline.run import Run
from sightline.pipeline.settings import Settings

SHADES = {"good": "green", "mediocre": "yellow", "wrong": "red", "shuffled": "cyan", CAPTIONER: "magenta"}


@app.command(epilog="Example: sightline demo --open")
@measuring
def demo(
    settings: Settings,
    out: OutOption = Path("sightline-demo"),
    format: FormatOption = None,
    on_error: OnErrorOption = OnError.collect,
    show: Annotated[bool, typer.Option("--open", help="Open the report in the browser.")] = False,
    samples: Annotated[
        bool,
        typer.Option(
            "--samples",
            help="Only leave files here to try commands on: stories.jsonl, two systems' ours.jsonl and theirs.jsonl.",
        ),
    ] = False,
) -> None:
    """Score bundled sample stories: good, mediocre and wrong ones for the same pictures, and a captioner's."""
    if samples:
        console.print("Left here:", ", ".join(path.name for path in leave_samples(Path())))
        return
    # These few texts, wrong ones among them, are no measure for others: their own means would be.
    shipped = {"theta": "shipped", "idf": "shipped", **dict(settings.options)}
    run = Run(METRICS, settings.with_options(**shipped))
    with run_progress() as progress:
        summary = score_file(
            with_captions(),
            run,
            out,
            format=format,
            on_error=on_error.reading,
            overwrite=True,
            title="Sightline demo",
            progress=progress,
        )
    scores = list(read_scores(out / "scores.jsonl"))
    console.print(demo_table(METRICS, by_version(scores), mean_by_version(scores)))
    console.print(
        f"{CAPTIONER}: what the embedded captioner says. It sees as the metrics do, which flatters it."
    )
    if summary["failures"]:
        console.print("A dash: the metric cannot score that text; failures.jsonl and the report say why.")
    report = out / "report.html"
    console.print(f"Report: {report}", soft_wrap=True)
    if show and not webbrowser.open(report.resolve().as_uri()):
        remark(f"sightline: no browser could be opened here; open {report} yourself")


def demo_table(
    chosen: Sequence[str],
    rows: Mapping[tuple[str, str], Mapping[str, float]],
    means: Mapping[str, Mapping[str, float]],
) -> Table:
    """A row per text, grouped by its pictures, and the means of each version below."""
    # narrow enough for a terminal of 80 columns
    table = Table(
        title="How true is each text to its pictures?", title_justify="left", box=box.SIMPLE_HEAD, padding=0
    )
    table.add_column("pictures")
    table.add_column("text")
    for metric in chosen:
        table.add_column(metric, justify="right")
    for pictures in dict.fromkeys(name for name, _ in rows):
        versions = [version for version in VERSIONS if (pictures, version) in rows]
        for version in versions:
            name = pictures if version == versions[0] else ""
            table.add_row(
                name, *_cells(version, rows[pictures, version], chosen), end_section=version == versions[-1]
            )
    for version in means:
        if version == "shuffled":  # not every set is there in this version
            continue
        name = "mean" if version == VERSIONS[0] else ""
        table.add_row(name, *_cells(version, means[version], chosen), style="bold")
    return table


def _cells(version: str, row: Mapping[str, float], chosen: Sequence[str]) -> list[str]:
    shade = SHADES[version]
    return [f"[{shade}]{version}[/]", *(f"{row[name]:.3f}" if name in row else "–" for name in chosen)]
