"""`sightline captioners`: captioners side by side, in the form of HL's tables and as a contact sheet."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from sightline.cli.app import app, console
from sightline.cli.options import FormatOption, OutOption, OverwriteOption, ResumeOption


@app.command(
    epilog="Example: sightline captioners hl.jsonl -c base=git:microsoft/git-base -c tuned=git:git-scene -o table"
)
def captioners(
    file: Annotated[
        Path, typer.Argument(help="Pictures with people's captions: HL's JSON Lines, or any items.")
    ],
    model: Annotated[
        list[str],
        typer.Option(
            "--model",
            "-c",
            help="'NAME=CAPTIONER', 'NAME@AXIS=CAPTIONER' for one axis, or a captioner; repeated.",
        ),
    ],
    out: OutOption,
    axis: Annotated[
        list[str] | None, typer.Option(help="object, scene, action, rationale or narrative; may be repeated.")
    ] = None,
    runs: Annotated[int, typer.Option(min=1, max=100, help="Averaged; each draws anew.")] = 5,
    beams: Annotated[int, typer.Option(help="Beam search over so many instead of draws; one run.")] = 0,
    temperature: Annotated[float, typer.Option(help="Of the draws.")] = 1.0,
    top_k: Annotated[int, typer.Option(help="Draw among so many likeliest tokens.")] = 120,
    top_p: Annotated[float, typer.Option(help="Draw among the likeliest with this much together.")] = 0.9,
    length: Annotated[int, typer.Option(help="Tokens of a text at most.")] = 50,
    seed: Annotated[int, typer.Option(help="Of the first run.")] = 0,
    format: FormatOption = None,
    resume: ResumeOption = False,
    overwrite: OverwriteOption = False,
) -> None:
    """Compare captioners, as before and after fine-tuning, in the form of HL's Tables 3 and 4."""
    from sightline.cli.progress import counted_progress
    from sightline.errors import UsageError
    from sightline.generate.base import Decoding, axes_named
    from sightline.generate.journal import Journal
    from sightline.generate.subjects import subjects_at
    from sightline.io.results import ResultFolder
    from sightline.train.captioner import evaluation, tables
    from sightline.version import package_version

    axes = axes_named(axis or ["object"])
    decoding = Decoding(max(beams, 1), 0 if beams else 1, temperature, top_k, top_p, length, seed)
    models = evaluation.models_named(model)
    for one in models:
        axes_named([name for name in one.specs if name])
    with counted_progress() as progress, ResultFolder(out, overwrite=overwrite, resume=resume) as folder:
        folder.expect(*tables.FILES)
        if folder.holds("table.json") and not overwrite:
            raise UsageError(f"{out} holds a table already; give another folder, or --overwrite it")
        about = {"file": str(file), "axes": axes, "version": package_version()}
        with Journal(folder, about) as journal:
            asked = evaluation.Asked(models, axes, decoding, runs)
            found = evaluation.evaluate(subjects_at([file], format), asked, journal, progress)
            tables.write(folder, found, f"Captioners on {file.name}")
            journal.delete()
    shown = Table(*tables.head(found.rows))
    for row in found.rows:
        shown.add_row(*map(escape, tables.full(row, found.rows)))
    console.print(shown)
    console.print(escape(tables.note(found.rows)), soft_wrap=True)
    console.print(f"Report: {out / 'report.html'}", soft_wrap=True)
    raise typer.Exit(folder.status)
