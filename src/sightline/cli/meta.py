"""`sightline meta`: do the metrics agree with people?"""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from sightline.cli.app import app, console
from sightline.cli.progress import run_progress
from sightline.errors import UsageError
from sightline.meta.correlation import NAMES
from sightline.meta.evaluate import SAMPLES, evaluate
from sightline.meta.output import TITLES, Study, criteria, with_interval, write_study
from sightline.meta.protocols import make_protocol
from sightline.meta.scoring import reads_pictures, score_items
from sightline.pipeline.settings import Settings


@app.command()
def meta(
    metric: Annotated[
        list[str], typer.Option("--metric", "-m", help="NAME or NAME:key=value,…; may repeat.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the results.")],
    file: Annotated[Path | None, typer.Argument(help="Items with ratings, for a study of your own.")] = None,
    protocol: Annotated[str, typer.Option(help="A published protocol, or likert:scale=1-5.")] = "likert",
    data: Annotated[Path | None, typer.Option(help="Folder of a published protocol's files.")] = None,
    samples: Annotated[int, typer.Option(min=0, help="Bootstrap samples; 0 for no intervals.")] = SAMPLES,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the bootstrap.")] = 0,
    encoder: Annotated[str, typer.Option(help="pocket, or clip:NAME-or-PATH.")] = Settings.encoder,
    nlp: Annotated[str, typer.Option(help="embedded, or any spaCy pipeline.")] = Settings.nlp,
    regions: Annotated[
        str, typer.Option(help="proposer, windows, boxes, boxes:FILE.csv or detector:NAME.")
    ] = Settings.regions,
    region_count: Annotated[int, typer.Option(help="Regions per picture.")] = Settings.region_count,
    theta: Annotated[str | None, typer.Option(help="auto, corpus, shipped, a number, or a file.")] = None,
    idf: Annotated[str | None, typer.Option(help="auto, corpus, shipped, or a saved idf file.")] = None,
    vectors: Annotated[Path | None, typer.Option(help="Word vectors (GloVe text form).")] = None,
    engine: Annotated[str, typer.Option(help="local or ray.")] = "local",
) -> None:
    """Correlate metrics with people's ratings: intervals, significance, and how far people agree."""
    chosen = make_protocol(protocol)
    place = data or file
    if place is None:
        raise UsageError("give a FILE of items with ratings, or --protocol NAME with --data DIR")
    if data and file:
        raise UsageError("give either a FILE or --data DIR, not both")
    metrics = list(dict.fromkeys(metric))
    items = chosen.items(place, pictures=reads_pictures(metrics))
    settings = Settings(encoder=encoder, nlp=nlp, regions=regions, region_count=region_count).with_options(
        theta=theta, idf=idf, vectors=str(vectors) if vectors else None
    )
    with run_progress() as progress:
        scored = score_items(items, metrics, settings, engine=engine, progress=progress)
    found = evaluate(items, scored.scores, observations=chosen.observations, samples=samples, seed=seed)
    study = Study(chosen, found, scored.signatures, scored.failures, place.name)
    out.mkdir(parents=True, exist_ok=True)
    write_study(study, out)
    for table in tables(study):
        console.print(table)
    for note in found.notes:
        console.print(escape(note))
    console.print(f"Report: {out / 'report.html'}", soft_wrap=True)
    if scored.failures:
        console.print(
            f"{len(scored.failures)} scores could not be made: {out / 'failures.jsonl'} says why.",
            soft_wrap=True,
        )
        raise typer.Exit(3)


def tables(study: Study) -> list[Table]:
    """One table for each criterion."""
    made = []
    for criterion in criteria(study.evaluation):
        table = Table(title=f"{study.protocol.name}: {escape(criterion)} (times 100)", title_justify="left")
        table.add_column("metric")
        for name in (*(TITLES[name] for name in NAMES), "n", "not scored"):
            table.add_column(name, justify="right")
        for row in study.evaluation.rows:
            if row.criterion == criterion:
                cells = [with_interval(row, name) for name in NAMES]
                table.add_row(
                    escape(row.metric), *map(escape, cells), f"{row.correlation.n:,}", str(row.missing)
                )
        agreement = study.evaluation.agreement.get(criterion)
        if agreement is not None:
            values = ["–" if (v := agreement.values[name]) is None else f"{100 * v:.1f}" for name in NAMES]
            table.add_row("people (leave one out)", *values, f"{agreement.n:,}", "", style="dim")
        made.append(table)
    return made
