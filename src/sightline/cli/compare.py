"""`sightline compare`: which of several systems is better, by how much, and why; or how far they lie from people."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group

from sightline.cli.app import app, console
from sightline.cli.consoles import show
from sightline.cli.folders import results_in
from sightline.cli.options import (
    EngineOption,
    FormatOption,
    JsonOption,
    MaybeOutOption,
    OnError,
    OnErrorOption,
    OverwriteOption,
    ResumeOption,
    SomeMetricsOption,
    WorkersOption,
    measuring,
)

if TYPE_CHECKING:
    from sightline.pipeline.settings import Settings


@app.command(
    epilog="Example: sightline compare ours=ours.jsonl theirs=theirs.jsonl -m cider -m groovist -o verdict"
)
@measuring
def compare(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE | NAME=FILE… | HUMAN GENERATED",
            help="One file with a system on each line, a file for each system as NAME=FILE, or folders of runs;"
            " - is what comes in on stdin; two plain paths are people's texts and a system's.",
        ),
    ],
    settings: "Settings",
    out: MaybeOutOption = None,
    metric: SomeMetricsOption = None,
    against: Annotated[
        str | None, typer.Option(help="Compare every system with this one, not all with each other.")
    ] = None,
    human: Annotated[
        str | None,
        typer.Option(help="The system that is people: shows how far the others lie from it (d_HM)."),
    ] = None,
    as_measured: Annotated[
        bool,
        typer.Option(
            "--as-measured", help="Put scores side by side though they were measured in different ways."
        ),
    ] = False,
    samples: Annotated[int, typer.Option(help="How often the bootstrap resamples.", min=100)] = 1000,
    json: JsonOption = False,
    format: FormatOption = None,
    on_error: OnErrorOption = OnError.collect,
    engine: EngineOption = "local",
    workers: WorkersOption = None,
    resume: ResumeOption = False,
    overwrite: OverwriteOption = False,
    human_system: Annotated[
        str | None, typer.Option(help="The system to take from the first of two plain paths.")
    ] = None,
    generated_system: Annotated[
        str | None, typer.Option(help="The system to take from the second of two plain paths.")
    ] = None,
) -> None:
    """Compare systems: differences with intervals, who wins, and why; or their distance from people."""
    from sightline.api import compare_paths
    from sightline.cli.failed import tell_failed
    from sightline.cli.progress import run_progress
    from sightline.cli.verdict import told
    from sightline.io.counting import expected
    from sightline.meta.comparison.sources import named_sources

    def texts() -> int | None:
        return expected(source.path for source in named_sources(paths) if not source.holds_scores)

    with results_in(out) as folder:
        with run_progress(texts) as progress:
            found, systems, status = compare_paths(
                paths,
                folder,
                metrics=metric,
                settings=settings,
                against=against,
                human=human,
                as_measured=as_measured,
                samples=samples,
                sides=(human_system, generated_system),
                format=format,
                on_error=on_error.reading,
                engine=engine,
                workers=workers,
                resume=resume,
                overwrite=overwrite,
                progress=progress,
            )
        if json:
            typer.echo((folder / "compare.json").read_text("utf-8"), nl=False)
        else:
            show(Group(*told(found, systems)), kept=out is not None)
            if out:
                console.print(f"Report: {out / 'report.html'}", soft_wrap=True)
        if status:
            tell_failed(folder, out)
            raise typer.Exit(status)
