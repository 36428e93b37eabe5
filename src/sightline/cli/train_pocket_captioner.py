"""`sightline train pocket-captioner`: the embedded captioner, from data to ONNX files."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from sightline.cli.app import console
from sightline.cli.options import OverwriteOption
from sightline.cli.train import DataOption, OutOption, train_app


@train_app.command(
    "pocket-captioner", epilog="Example: sightline train pocket-captioner --data data/ -o captioner --tiny"
)
def train_pocket_captioner(
    data: DataOption,
    out: OutOption,
    kept: Annotated[
        Path | None,
        typer.Option(
            help="Folder for maps (3 GB) and the standing, from which a stopped run goes on; else OUT/kept."
        ),
    ] = None,
    minutes: Annotated[float, typer.Option(min=0.01, help="Of learning, on one core.")] = 50,
    tiny: Annotated[
        bool, typer.Option("--tiny", help="A trial of seconds: a tiny network, few pictures.")
    ] = False,
    overwrite: OverwriteOption = False,
) -> None:
    """Train the embedded captioner on the pocket image network, for `pocket:OUT`."""
    from sightline.errors import extra

    extra("torch", "train")
    extra("onnx", "train")
    from sightline.io.results import ResultFolder
    from sightline.train.pocket_captioner.run import FEW, RECIPE, TINY, train

    recipe = TINY if tiny else replace(RECIPE, minutes=minutes)
    with ResultFolder(out, overwrite=overwrite) as folder:
        dev = train(data, folder, recipe, kept, console.print, FEW if tiny else None)
    console.print(f"pocket:{out}: {dev:.3f} nats a piece of held-out captions", soft_wrap=True)
