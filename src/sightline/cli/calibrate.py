"""`sightline calibrate`: theta and the score range of an encoder, kept for every later run with it."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sightline.cli.app import app, console
from sightline.cli.options import FormatOption, measuring
from sightline.pipeline.settings import LocalTools, Settings


class Span(StrEnum):
    auto = "auto"
    fit = "fit"
    keep = "keep"


@app.command(epilog="Example: sightline calibrate stories.jsonl --encoder clip:openai/clip-vit-base-patch32")
@measuring
def calibrate(
    settings: Settings,
    file: Annotated[
        Path | None, typer.Argument(help="Stories that are true of their pictures; else the demo's.")
    ] = None,
    format: FormatOption = None,
    span: Annotated[
        Span,
        typer.Option(
            "--range",
            help="fit a curve onto CLIP's range, keep cosines as they are, or auto: keep CLIP's own.",
        ),
    ] = Span.auto,
    forget: Annotated[bool, typer.Option("--forget", help="Delete what is kept for this encoder.")] = False,
) -> None:
    """Fit an encoder's theta and score range, and keep them for later runs with it."""
    from sightline.cli.progress import run_progress
    from sightline.demo import STORIES
    from sightline.encoders.calibration import keep, place_of
    from sightline.io import read_items
    from sightline.train.calibration import calibrate as fit

    tools = LocalTools(settings)
    try:
        signature = tools.embedder.encoder.signature
        if forget:
            place_of(signature).unlink(missing_ok=True)
            console.print(f"{signature}: nothing is kept; it is what it came with.", soft_wrap=True)
            return
        stories = read_items(file or STORIES, format=format)
        told = (item for item in stories if file or item.system == "good")
        with run_progress() as progress:
            found = fit(told, tools, span.value, lambda done: progress("stories", done))
    finally:
        tools.close()
    place = keep(
        signature,
        found.calibration,
        stories=found.stories,
        pairs=found.pairs,
        on=file.name if file else "demo",
    )
    console.print(f"{signature}: {found.stories} stories, {found.pairs} pairs", soft_wrap=True)
    for why, times in found.left_out.items():
        console.print(f"  left out {times}: {why}", soft_wrap=True, highlight=False)
    if found.matching is not None:
        console.print(
            f"  range: cosines {found.foreign:.3f} (foreign picture) to {found.matching:.3f} (own) come to CLIP's"
        )
    for unit, value in found.calibration.thetas.items():
        console.print(f"  theta of {unit}: {value:.4f}")
    if found.rough:
        console.print(
            "  Fewer than 30 stories make a rough calibration: give FILE with stories like those you score."
        )
    console.print(f"Kept in {place}", soft_wrap=True)
