"""`sightline train captioner`: a captioner made better with people's captions of one axis."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from sightline.cli.app import console
from sightline.cli.options import FormatOption, OverwriteOption, ResumeOption
from sightline.cli.train import OutOption, train_app

RECIPE = "Recipe (HL's where not given)"


@train_app.command(
    "captioner", epilog="Example: sightline train captioner hl.jsonl --axis scene -o git-scene"
)
def train_captioner(
    file: Annotated[
        Path, typer.Argument(help="HL's or HL Narratives' JSON Lines, COCO's, Flickr8k's, or any items.")
    ],
    out: OutOption,
    base: Annotated[
        str,
        typer.Option(
            help="git:NAME, blip:NAME, transformers:NAME, clipcap:PATH; clipcap:mlp and clipcap:transformer are new."
        ),
    ] = "git:microsoft/git-base-coco",
    axis: Annotated[
        str, typer.Option(help="Whose captions: object, scene, action, rationale or narrative.")
    ] = "object",
    dev: Annotated[
        Path | None, typer.Option(help="Pictures to hold out; else a share of the file's.")
    ] = None,
    share: Annotated[float, typer.Option(min=0.01, max=0.9, help="Of the pictures that is held out.")] = 0.1,
    epochs: Annotated[
        int | None, typer.Option(help="At most: 10, for narratives 3.", rich_help_panel=RECIPE)
    ] = None,
    batch: Annotated[int | None, typer.Option(help="Captions a step: 8.", rich_help_panel=RECIPE)] = None,
    rate: Annotated[float | None, typer.Option(help="Learning rate: 5e-5.", rich_help_panel=RECIPE)] = None,
    patience: Annotated[
        int | None, typer.Option(help="Epochs without a gain before it stops: 2.", rich_help_panel=RECIPE)
    ] = None,
    confidence: Annotated[
        bool,
        typer.Option("--confidence", help="Weigh captions by people's confidence.", rich_help_panel=RECIPE),
    ] = False,
    seed: Annotated[int, typer.Option(help="The same seed learns the same.", rich_help_panel=RECIPE)] = 0,
    every: Annotated[
        int | None,
        typer.Option(help="Batches after which the standing is kept: 200.", rich_help_panel=RECIPE),
    ] = None,
    clip: Annotated[str | None, typer.Option(help="CLIP of a new clipcap: NAME or PATH.")] = None,
    gpt2: Annotated[str | None, typer.Option(help="GPT-2 of a new clipcap: NAME or PATH.")] = None,
    format: FormatOption = None,
    resume: ResumeOption = False,
    overwrite: OverwriteOption = False,
) -> None:
    """Fine-tune a captioner on people's captions of one axis, by HL's recipe."""
    from sightline.cli.progress import counted_progress
    from sightline.errors import extra
    from sightline.generate.base import axes_named
    from sightline.io.results import ResultFolder

    extra("torch", "train")
    from sightline.train.captioner.run import Recipe
    from sightline.train.captioner.train import Asked, spec_of, train

    (chosen,) = axes_named([axis])
    recipe = Recipe.of(
        chosen, epochs=epochs, batch=batch, rate=rate, patience=patience, confidence=confidence, seed=seed,
        every=every,
    )  # fmt: skip
    asked = Asked(file, base, chosen, dev, format, share, clip, gpt2)
    with counted_progress() as progress, ResultFolder(out, overwrite=overwrite, resume=resume) as folder:
        train(asked, recipe, folder, lambda line: console.print(escape(line), soft_wrap=True), progress)
    spec = escape(spec_of(base, out))
    console.print(f"Use it with: sightline caption … --captioner {spec} --axis {axis}", soft_wrap=True)
    if folder.failed:
        console.print(
            f"{folder.failed} lines or pictures were left out: {out / 'failures.jsonl'}", soft_wrap=True
        )
    raise typer.Exit(folder.status)
