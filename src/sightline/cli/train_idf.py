"""`sightline train idf`: the document frequencies that stand in where a corpus is too small for its own."""

from typing import Annotated

import typer

from sightline.cli.app import console
from sightline.cli.train import DataOption, OutOption, train_app


@train_app.command("idf", epilog="Example: sightline train idf --data data/ -o idf")
def train_idf(
    data: DataOption,
    out: OutOption,
    nlp: Annotated[str, typer.Option(help="embedded, or any spaCy pipeline.")] = "embedded",
) -> None:
    """Count words of noun phrases over the VIST validation stories, for `--idf OUT/idf.json`."""
    from sightline.text.spacy_language import load_language
    from sightline.train.idf import train

    idf = train(data, load_language(nlp), out)
    console.print(f"{len(idf.frequencies)} words of {idf.stories} stories are in {out / 'idf.json'}")
