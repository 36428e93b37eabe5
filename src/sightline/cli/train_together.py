"""`sightline train together`: the network that reads pictures and words together, for `match`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from sightline.cli.app import console
from sightline.cli.train import DataOption, OutOption, train_app


@train_app.command("together", epilog="Example: sightline train together --data data/ -o reading --tiny")
def train_together(
    data: DataOption,
    out: OutOption,
    captioner: Annotated[
        Path | None,
        typer.Option(help="A decoder to start from: decoder.pt of the embedded captioner's training."),
    ] = None,
    minutes: Annotated[float, typer.Option(min=0.01, help="How long it learns.")] = 45,
    seed: Annotated[int, typer.Option(help="The same seed draws the same texts.")] = 0,
    tiny: Annotated[
        bool, typer.Option("--tiny", help="A minute's trial: a tiny network, few pictures.")
    ] = False,
) -> None:
    """Learn whether a text is true of a picture, from captioned pictures, for `--option together=OUT`."""
    from dataclasses import replace

    from sightline.errors import extra

    extra("torch", "train")
    extra("onnx", "train")
    from sightline.train.together.run import TINY, Recipe, train

    recipe = TINY if tiny else replace(Recipe(), fit=replace(Recipe().fit, minutes=minutes, seed=seed))
    found = train(data, out, captioner, recipe, lambda line: console.print(escape(line), soft_wrap=True))
    for name, value in found.items():
        console.print(f"{name}: {value:g}")
    place = escape(str(out))
    console.print(
        f"The network is in {place}; use it with: sightline score … -m match --option together={place}",
        soft_wrap=True,
    )
