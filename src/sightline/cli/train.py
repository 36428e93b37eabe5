"""`sightline train`: the group of commands that train the embedded parts; each part's module adds its own."""

from pathlib import Path
from typing import Annotated, ClassVar

import typer

from sightline.cli.app import app
from sightline.cli.lazy import LazyGroup


class Parts(LazyGroup):
    place = "sightline.cli.train_"
    lines: ClassVar = {
        "captioner": "Fine-tune a captioner on people's captions of one axis, by HL's recipe.",
        "coherence": "Train sentence-order prediction as in RoViST (ALBERT by default), for `--coherence OUT`.",
        "concreteness": "Learn how concrete words are from a sentence model's vectors and human ratings.",
        "english": "Train tags, trees and lemmas on UD English EWT, for `--nlp OUT`.",
        "idf": "Count words of noun phrases over the VIST validation stories, for `--idf OUT/idf.json`.",
        "pocket": "Train the pocket encoder and its region proposer.",
        "pocket-captioner": "Train the embedded captioner on the pocket image network, for `pocket:OUT`.",
        "rater": "Train a caption rater on people's ratings; tested on pictures it did not learn from.",
        "together": "Learn whether a text is true of a picture, from captioned pictures, for `--option together=OUT`.",
        "vg": "Train RoViST-VG's visual grounding model (Algorithm 1 of its paper).",
    }


train_app = typer.Typer(cls=Parts, help="Train one of the embedded parts anew.", no_args_is_help=True)
Parts.owner = train_app
app.add_typer(train_app, name="train")

DataOption = Annotated[Path, typer.Option("--data", help="The folder of training data.")]
OutOption = Annotated[Path, typer.Option("--out", "-o", help="Folder for the trained part.")]
TeacherOption = Annotated[
    Path, typer.Option("--teacher", help="Folder of a BERT-like sentence model, such as all-MiniLM-L6-v2.")
]
