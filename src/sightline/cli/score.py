"""`sightline score`: a file of stories or captions in, scores with their evidence out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sightline.cli.app import app, console
from sightline.cli.options import (
    EngineOption,
    FormatOption,
    MetricOption,
    OnError,
    OnErrorOption,
    OutOption,
    OverwriteOption,
    ResumeOption,
    measuring,
)

if TYPE_CHECKING:
    from sightline.pipeline.settings import Settings


@app.command()
@measuring
def score(
    file: Annotated[
        Path, typer.Argument(help="Stories or captions: JSON Lines, Parquet, CSV or a published format.")
    ],
    metric: MetricOption,
    out: OutOption,
    settings: "Settings",
    format: FormatOption = None,
    on_error: OnErrorOption = OnError.collect,
    engine: EngineOption = "local",
    resume: ResumeOption = False,
    overwrite: OverwriteOption = False,
) -> None:
    """Score stories and captions against their pictures."""
    from sightline.api import score_file
    from sightline.cli.progress import run_progress, summary_table
    from sightline.pipeline.run import Run

    run = Run(metric, settings, engine)
    with run_progress() as progress:
        summary = score_file(
            file,
            run,
            out,
            format=format,
            on_error=on_error.reading,
            resume=resume,
            overwrite=overwrite,
            progress=progress,
        )
    console.print(summary_table(summary))
    console.print(f"Report: {out / 'report.html'}", soft_wrap=True)
    if summary["failures"]:
        console.print(
            f"{summary['failures']} scores could not be made: {out / 'failures.jsonl'} says why.",
            soft_wrap=True,
        )
        raise typer.Exit(3)
