"""`sightline train pocket`: the embedded encoder and region proposer, from data to ONNX files."""

from pathlib import Path
from typing import Annotated

import typer

from sightline.cli.app import console
from sightline.cli.train import train_app


@train_app.command(
    "pocket",
    epilog="Example: sightline train pocket --data data/ --teacher all-MiniLM-L6-v2/ -o pocket --tiny",
)
def train_pocket(
    data: Annotated[Path, typer.Option(help="Folder with the training files.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the trained model.")],
    teacher: Annotated[str, typer.Option(help="Sentence model that teaches the text side: name or path.")],
    device: Annotated[str | None, typer.Option(help="cuda or cpu; chosen if not given.")] = None,
    tiny: Annotated[
        bool, typer.Option("--tiny", help="A minute's trial on a CPU: tiny networks, few pictures.")
    ] = False,
) -> None:
    """Train the pocket encoder and its region proposer."""
    from sightline.errors import extra

    extra("torch", "train")
    extra("onnx", "train")
    from sightline.train.pocket.run import RECIPE, TINY, train

    found = train(data, teacher, out, TINY if tiny else RECIPE, device=device, log=console.print)
    console.print(
        f"{out}: dev recall@10 {found['r10']:.3f}, proposer recall@10 {found['proposer_recall']:.3f}"
    )
