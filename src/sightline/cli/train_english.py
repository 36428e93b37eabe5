"""`sightline train english`: the embedded spaCy pipeline, from a Universal Dependencies treebank."""

from typing import Annotated

import typer

from sightline.cli.app import console
from sightline.cli.train import DataOption, OutOption, TeacherOption, train_app


@train_app.command(
    "english", epilog="Example: sightline train english --data data/ --teacher all-MiniLM-L6-v2/ -o english"
)
def train_english(
    data: DataOption,
    teacher: TeacherOption,
    out: OutOption,
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the treebank.")] = 24,
    seed: Annotated[int, typer.Option(help="The same seed gives the same pipeline.")] = 7,
) -> None:
    """Train tags, trees and lemmas on UD English EWT, for `--nlp OUT`."""
    from sightline.train.english.run import EnglishRecipe, train

    def told(epoch: int, loss: float, scores: dict[str, float]) -> None:
        measured = ", ".join(f"{name} {value:.4f}" for name, value in scores.items())
        console.print(f"epoch {epoch} of {epochs}: loss {loss:.0f}; on development trees {measured}")

    train(data, teacher, out, EnglishRecipe(epochs=epochs, seed=seed), told)
    console.print(f"The pipeline is in {out}; use it with --nlp {out}")
