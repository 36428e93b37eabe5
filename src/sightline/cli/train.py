"""`sightline train`: the group of commands that train the embedded parts; each part's module adds its own."""

from pathlib import Path
from typing import Annotated

import typer

from sightline.cli.app import app

train_app = typer.Typer(help="Train one of the embedded parts anew.", no_args_is_help=True)
app.add_typer(train_app, name="train")

DataOption = Annotated[Path, typer.Option("--data", help="The folder of training data.")]
OutOption = Annotated[Path, typer.Option("--out", "-o", help="Folder for the trained part.")]
TeacherOption = Annotated[
    Path, typer.Option("--teacher", help="Folder of a BERT-like sentence model, such as all-MiniLM-L6-v2.")
]
