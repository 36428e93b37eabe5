"""`sightline train rater`: a learned caption rater (VICR, section 3.3) on top of an encoder, for `vicr`."""

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.markup import escape

from sightline.cli.app import console
from sightline.cli.options import RatingsOption
from sightline.cli.progress import run_progress
from sightline.cli.train import OutOption, train_app
from sightline.pipeline.settings import LocalTools, Settings


@train_app.command("rater", epilog="Example: sightline train rater flickr8k-expert --data flickr8k -o rater")
def train_rater(
    sources: Annotated[
        list[str],
        typer.Argument(
            help="Files of items with ratings (exports of the rating game too), or protocols such as "
            "flickr8k-expert, composite or vicr, with --data. Several are combined, levels as they are."
        ),
    ],
    out: OutOption,
    data: Annotated[Path | None, typer.Option(help="Folder of the published protocols' files.")] = None,
    format: Annotated[str | None, typer.Option(help="The files' format, where it cannot be guessed.")] = None,
    ratings: RatingsOption = None,
    encoder: Annotated[str, typer.Option(help="pocket, or clip:NAME-or-PATH.")] = Settings.encoder,
    form: Annotated[
        Literal["bilinear", "paper", "network"],
        typer.Option(
            help="bilinear; paper: its regressor 512-256-1 with dropout 0.8; network: a smaller one."
        ),
    ] = "bilinear",
    recipe: Annotated[
        Literal["stopping", "paper"],
        typer.Option(
            help="paper: its regressor and settings to the letter (raw ratings, 4,000 epochs); else as --form says."
        ),
    ] = "stopping",
    vectors: Annotated[
        Path | None,
        typer.Option(
            help="Learn from these vectors instead of the encoder's: .npz with ids, and image and text, or pair."
        ),
    ] = None,
    together: Annotated[
        bool,
        typer.Option(
            "--together",
            help="Learn from what the network of `match` reads of each pair too (form bilinear).",
        ),
    ] = False,
    crossed: Annotated[
        bool,
        typer.Option(
            "--crossed",
            help="Train on each data set and on all, test on each: VICR's Table 5, into crossed.md.",
        ),
    ] = False,
    criterion: Annotated[str | None, typer.Option(help="Which of the items' criteria to learn.")] = None,
    scale: Annotated[
        str | None, typer.Option(help="The scale of the output, as in 1-5; else from the ratings.")
    ] = None,
    folds: Annotated[
        int, typer.Option(min=1, max=20, help="Splits by picture; 1 is one 64/16/20 split.")
    ] = 5,
    samples: Annotated[int, typer.Option(min=0, help="Bootstrap samples of the intervals.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same splits and model.")] = 0,
) -> None:
    """Train a caption rater on people's ratings; tested on pictures it did not learn from."""
    from sightline.encoders.pair_vectors import PairVectors
    from sightline.encoders.together import load_together
    from sightline.errors import UsageError
    from sightline.io.results import ResultFolder
    from sightline.train.rater import report, run, train
    from sightline.train.rater.crossed import crossed as cross
    from sightline.train.rater.crossed import table, write

    own: run.Form = "exact" if recipe == "paper" else form
    given = PairVectors(vectors) if vectors else None
    if together and (given or own != "bilinear" or crossed):
        raise UsageError("--together is for --form bilinear on an encoder's vectors, without --crossed")
    reader = load_together() if together else None
    tools = LocalTools(Settings(encoder=encoder))
    with run_progress() as progress:
        sets = train.load(
            sources, data, criterion, tools.embedder, tools.pictures,
            lambda stage, done: progress(escape(stage), done), format, ratings, reader,
        )  # fmt: skip
    for one in sets:
        _say(train.told(one))
    if crossed:
        clip = train.clipscores(sets, tools.embedder)
        with ResultFolder(out) as results:
            crossings = cross(train.looked_at(sets, given, own), clip, own, samples, seed, _say)
            write(results, crossings, {"form": own, "encoder": tools.embedder.signature, "seed": seed})
        console.print(table(crossings), markup=False, soft_wrap=True)
        return
    found = train.train(sets, tools.embedder, out, own, scale, folds, samples, seed, _say, given, reader)
    for line in report.lines(found):
        _say(line)
    place = out / run.FILE
    pairs = f" --option pairs={vectors}" if vectors else ""
    _say(f"The rater is {place}; use it with: sightline score … -m vicr --rater {place}{pairs}")
    _say(f"Report: {out / 'report.html'}")
    left_out = sum(len(one.failures) for one in sets)
    if left_out:
        _say(f"{left_out:,} items could not be learned from: {out / 'failures.jsonl'} says why.")
        raise typer.Exit(3)


def _say(line: str) -> None:
    """A line as it is, whatever brackets are in it."""
    console.print(escape(line), soft_wrap=True)
