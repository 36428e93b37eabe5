"""`sightline train coherence`: a model of sentence order, for rovist-c."""

from pathlib import Path
from typing import Annotated

import typer

from sightline.cli.app import console
from sightline.cli.train import OutOption, train_app
from sightline.io.results import ResultFolder
from sightline.train.coherence.stories import read_stories, split_stories


@train_app.command("coherence", epilog="Example: sightline train coherence stories.jsonl -o order")
def train_coherence(
    stories: Annotated[
        list[Path],
        typer.Argument(help="VIST's SIS JSON, the ROCStories CSV, or rows with sentences or text."),
    ],
    out: OutOption,
    encoder: Annotated[
        str, typer.Option(help="A transformers encoder, by name or path.")
    ] = "albert-large-v1",
    alone: Annotated[
        int, typer.Option(help="Make a light ONNX model whose N lower layers read each sentence alone.")
    ] = 0,
    epochs: Annotated[
        int | None, typer.Option(min=1, help="At most so many passes over the stories.")
    ] = None,
    rate: Annotated[float | None, typer.Option(help="The learning rate; the recipe's by default.")] = None,
    batch: Annotated[int | None, typer.Option(min=1, help="Pairs, or with --alone stories, a step.")] = None,
    patience: Annotated[
        int | None, typer.Option(min=1, help="Stop after so many epochs without gain.")
    ] = None,
    validation: Annotated[
        float, typer.Option(min=0.01, max=0.5, help="Share of the stories to choose on.")
    ] = 0.15,
    leave_out: Annotated[
        float, typer.Option(min=0.0, max=0.5, help="Share of the stories never looked at.")
    ] = 0.0,
    seed: Annotated[int, typer.Option(help="The same seed gives the same model.")] = 0,
) -> None:
    """Train sentence-order prediction as in RoViST (ALBERT by default), for `--coherence OUT`."""
    from sightline.train.coherence.published import PublishedRecipe, save_published, train_published

    given = {"epochs": epochs, "rate": rate, "batch": batch, "patience": patience, "seed": seed}
    options = {name: value for name, value in given.items() if value is not None}
    training, choosing, _ = split_stories(read_stories(stories), validation, leave_out)
    console.print(f"{len(training)} stories to train on, {len(choosing)} to choose on")

    def told(row: dict[str, float]) -> None:
        console.print(
            f"epoch {row['epoch']:.0f}: loss {row['loss']:.4f}, on validation {row['validation_loss']:.4f}, "
            f"accuracy {row['accuracy']:.4f}"
        )

    with ResultFolder(out) as results:
        if alone:
            from sightline.train.coherence.light import LightRecipe, train_folder

            train_folder(encoder, alone, training, choosing, LightRecipe(**options), results, told)  # type: ignore[arg-type]
        else:
            recipe = PublishedRecipe(**options)  # type: ignore[arg-type]
            network, tokenizer, history = train_published(encoder, training, choosing, recipe, told)
            with results.staged() as folder:
                save_published(folder, network, tokenizer, recipe, history)
    console.print(f"The model is in {out}; use it with --coherence {out}")
