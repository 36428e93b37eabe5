"""`sightline score`: a file of stories or captions in, scores with their evidence out."""

from pathlib import Path
from typing import Annotated

import typer

from sightline.cli.app import app, console
from sightline.cli.progress import run_progress, summary_table
from sightline.pipeline.files import score_file
from sightline.pipeline.run import Run
from sightline.pipeline.settings import Settings

MetricOption = Annotated[
    list[str], typer.Option("--metric", "-m", help="NAME or NAME:key=value,…; may be repeated.")
]
OutOption = Annotated[Path, typer.Option("--out", "-o", help="Folder for the results.")]


@app.command()
def score(
    file: Annotated[
        Path, typer.Argument(help="Stories or captions: JSON Lines, Parquet, CSV or a published format.")
    ],
    metric: MetricOption,
    out: OutOption,
    format: Annotated[str | None, typer.Option(help="The file's format, where it cannot be guessed.")] = None,
    encoder: Annotated[str, typer.Option(help="pocket, or clip:NAME-or-PATH.")] = Settings.encoder,
    nlp: Annotated[str, typer.Option(help="embedded, or any spaCy pipeline.")] = Settings.nlp,
    regions: Annotated[
        str, typer.Option(help="proposer, windows, boxes, boxes:FILE.csv or detector:NAME.")
    ] = Settings.regions,
    region_count: Annotated[int, typer.Option(help="Regions per picture.")] = Settings.region_count,
    concreteness: Annotated[
        Path | None, typer.Option(help="A word;rating file instead of the embedded lexicon.")
    ] = None,
    theta: Annotated[
        str | None, typer.Option(help="auto, corpus, shipped, a number, or a statistics.json.")
    ] = None,
    idf: Annotated[str | None, typer.Option(help="auto, corpus, shipped, or a saved idf file.")] = None,
    coherence: Annotated[
        str | None, typer.Option(help="A sequence classifier for rovist-c: NAME or PATH.")
    ] = None,
    vectors: Annotated[
        Path | None, typer.Option(help="Word vectors (GloVe text form) for rovist-vg.")
    ] = None,
    vg: Annotated[Path | None, typer.Option(help="A model of `sightline train vg` for rovist-vg.")] = None,
    rater: Annotated[Path | None, typer.Option(help="A model of `sightline train rater` for vicr.")] = None,
    option: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE, a choice of single metrics; may be repeated.")
    ] = None,
    engine: Annotated[str, typer.Option(help="local or ray.")] = "local",
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an unfinished run.")] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Start over, even if a run is unfinished.")
    ] = False,
    cache: Annotated[Path | None, typer.Option(help="Folder of the vector cache.")] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Keep nothing between runs.")] = False,
) -> None:
    """Score stories and captions against their pictures."""
    settings = (
        Settings(
            encoder=encoder, nlp=nlp, regions=regions, region_count=region_count, concreteness=concreteness
        )
        .with_options(
            theta=theta,
            idf=idf,
            coherence=coherence,
            vectors=str(vectors) if vectors else None,
            vg=str(vg) if vg else None,
            rater=str(rater) if rater else None,
        )
        .with_assignments(option or [])
    )
    if cache or no_cache:
        settings = settings.with_cache(None if no_cache else cache)
    run = Run(metric, settings, engine)
    with run_progress() as progress:
        summary = score_file(
            file, run, out, format=format, resume=resume, overwrite=overwrite, progress=progress
        )
    console.print(summary_table(summary))
    console.print(f"Report: {out / 'report.html'}", soft_wrap=True)
    if summary["failures"]:
        console.print(
            f"{summary['failures']} scores could not be made: {out / 'failures.jsonl'} says why.",
            soft_wrap=True,
        )
        raise typer.Exit(3)
