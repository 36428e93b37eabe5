"""`sightline train concreteness`: the lexicon that weighs phrases, from people's ratings of words."""

from typing import Annotated

import typer

from sightline.cli.app import console
from sightline.cli.train import DataOption, OutOption, TeacherOption, train_app


@train_app.command(
    "concreteness",
    epilog="Example: sightline train concreteness --data data/ --teacher all-MiniLM-L6-v2/ -o lexicon",
)
def train_concreteness(
    data: DataOption,
    teacher: TeacherOption,
    out: OutOption,
    epochs: Annotated[
        int, typer.Option(min=1, help="Passes over the ratings, for each of the networks.")
    ] = 12,
    seed: Annotated[int, typer.Option(help="The same seed gives the same lexicon.")] = 7,
) -> None:
    """Learn how concrete words are from a sentence model's vectors and human ratings."""
    from sightline.train.concreteness import ConcretenessRecipe, train

    scores = train(data, teacher, out, ConcretenessRecipe(epochs=epochs, seed=seed), console.print)
    for name, value in scores.items():
        console.print(f"{name}: {value:.4f}")
    console.print(f"The lexicon is {out / 'lexicon.npz'}")
