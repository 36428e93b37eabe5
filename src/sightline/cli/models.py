"""`sightline models`: the models that come with Sightline, with their sizes and cards."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markdown import Markdown
from rich.table import Table

from sightline import models as room
from sightline.cli.app import app, console
from sightline.errors import UsageError, unknown

CARD = "card.md"


def cards() -> dict[str, Path]:
    """The card of each embedded model by the model's name."""
    return {card.parent.name: card for card in sorted(Path(room.__file__).parent.glob(f"*/{CARD}"))}


def summary(card: Path) -> str:
    """What a card says first, below its title."""
    paragraphs = [part.strip() for part in card.read_text("utf-8").split("\n\n")]
    return next((" ".join(part.split()) for part in paragraphs if part and not part.startswith("#")), "")


def size(card: Path) -> int:
    """Bytes of the model's files, its card left out."""
    return sum(file.stat().st_size for file in card.parent.rglob("*") if file.is_file() and file != card)


@app.command("models", epilog="Example: sightline models pocket")
def list_models(
    name: Annotated[str | None, typer.Argument(help="Show this model's card.")] = None,
) -> None:
    """List the embedded models, or show the card of one: data, recipe, measured quality, licence."""
    found = cards()
    if not found:
        raise UsageError("no embedded models are installed; install Sightline anew")
    if name is not None:
        if name not in found:
            raise unknown("model", name, found)
        console.print(Markdown(found[name].read_text("utf-8")))
        return
    table = Table(caption="sightline models NAME shows a model's card", caption_justify="left")
    for column in ("model", "size", "what it is"):
        table.add_column(column, justify="right" if column == "size" else "left", overflow="fold")
    for model, card in found.items():
        table.add_row(model, f"{size(card) / 2**20:.1f} MiB", summary(card))
    console.print(table)
