"""`sightline train vg`: RoViST-VG's projections on top of an encoder's region vectors."""

from pathlib import Path
from typing import Annotated

import typer

from sightline.cli.app import console
from sightline.cli.train import train_app


@train_app.command(
    "vg",
    epilog="Example: sightline train vg --data Flickr30kEntities --images flickr30k-images "
    "--vectors glove.6B.300d.txt -o vg.npz",
)
def train_vg(
    data: Annotated[
        Path, typer.Option(help="A coco_regions parquet file, or the folder of Flickr30k Entities.")
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="File for the trained model: .npz, or .pth.tar with --vit.")
    ],
    captions: Annotated[
        Path | None, typer.Option(help="Captions of those pictures (coco_captions.jsonl.gz).")
    ] = None,
    images: Annotated[Path | None, typer.Option(help="Folder of Flickr30k's pictures.")] = None,
    encoder: Annotated[str, typer.Option(help="pocket, or clip:NAME-or-PATH.")] = "pocket",
    vectors: Annotated[Path | None, typer.Option(help="Word vectors in GloVe's text form.")] = None,
    most: Annotated[
        int | None, typer.Option(min=2, help="Learn from so many regions, drawn at random; else from all.")
    ] = None,
    vit: Annotated[
        str | None,
        typer.Option(help="Fine-tune this vision transformer along, as the paper does: NAME or PATH."),
    ] = None,
    epochs: Annotated[
        int, typer.Option(help="Epochs at most; training stops earlier when it no longer helps.")
    ] = 40,
) -> None:
    """Train RoViST-VG's visual grounding model (Algorithm 1 of its paper)."""
    from sightline.errors import extra

    extra("torch", "train")
    from sightline.train.vg.algorithm import VgConfig
    from sightline.train.vg.run import train

    found = train(
        data, out, captions, images, encoder, vectors, most, VgConfig(epochs=epochs), console.print, vit
    )
    console.print(
        f"{out}: {found['pairs']} pairs, held-out loss {found['loss']}, own word wins {found['wins']}"
    )
