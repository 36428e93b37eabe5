"""`sightline score`: a file of stories or captions in, scores with their evidence out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sightline.cli.app import app, console
from sightline.cli.consoles import show
from sightline.cli.folders import results_in
from sightline.cli.options import (
    EngineOption,
    FormatOption,
    JsonOption,
    MaybeOutOption,
    MetricOption,
    OnError,
    OnErrorOption,
    OverwriteOption,
    ResumeOption,
    WorkersOption,
    measuring,
)

if TYPE_CHECKING:
    from sightline.pipeline.settings import Settings


@app.command(epilog="Example: sightline score stories.jsonl -m groovist -m rovist-nr -o out")
@measuring
def score(
    file: Annotated[
        Path,
        typer.Argument(
            help="Stories or captions: JSON Lines, Parquet, CSV or a published format; - is what comes in on stdin."
        ),
    ],
    metric: MetricOption,
    settings: "Settings",
    out: MaybeOutOption = None,
    json: JsonOption = False,
    format: FormatOption = None,
    on_error: OnErrorOption = OnError.collect,
    engine: EngineOption = "local",
    workers: WorkersOption = None,
    resume: ResumeOption = False,
    overwrite: OverwriteOption = False,
) -> None:
    """Score stories and captions against their pictures."""
    from sightline.api import score_file
    from sightline.cli.failed import tell_failed
    from sightline.cli.progress import run_progress, summary_table
    from sightline.io.counting import expected
    from sightline.pipeline.run import Run

    run = Run(metric, settings, engine, workers=workers)
    with results_in(out) as folder:
        with run_progress(lambda: expected([file])) as progress:
            summary = score_file(
                file,
                run,
                folder,
                format=format,
                on_error=on_error.reading,
                resume=resume,
                overwrite=overwrite,
                progress=progress,
            )
        if json:
            typer.echo((folder / "summary.json").read_text("utf-8"), nl=False)
        else:
            show(summary_table(summary), kept=out is not None)
            if out:
                console.print(f"Report: {out / 'report.html'}", soft_wrap=True)
        if summary["failures"]:
            tell_failed(folder, out)
            raise typer.Exit(3)
