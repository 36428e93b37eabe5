"""`sightline caption`: pictures in, captions in the form of items out."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from sightline.cli.app import app, console, errors
from sightline.cli.options import FormatOption, OnError, OnErrorOption, OverwriteOption, ResumeOption
from sightline.errors import BadLine

if TYPE_CHECKING:
    from sightline.generate.subjects import Found

DECODING = "How texts are read out"

CaptionerOption = Annotated[
    str,
    typer.Option("--captioner", "-c", help="pocket, git:NAME-or-PATH, blip:…, clipcap:PATH, chat:MODEL, …"),
]


def strict(subjects: "Iterator[Found]", on_error: OnError) -> "Iterator[Found]":
    """The subjects; the first line that is none stops, where that is wanted."""
    for one in subjects:
        if isinstance(one, BadLine) and on_error is OnError.stop:
            raise one
        yield one


@app.command(epilog="Example: sightline caption photos/ -o captions")
def caption(
    pictures: Annotated[
        list[str],
        typer.Argument(
            help="Pictures, folders of pictures, or a file of items (- is stdin), whose captions become references."
        ),
    ],
    captioner: CaptionerOption = "pocket",
    axis: Annotated[
        list[str] | None,
        typer.Option(help="object, scene, action, rationale or narrative; may be repeated."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for the results; without it items go to stdout."),
    ] = None,
    beams: Annotated[int, typer.Option(help="Beam search over so many.", rich_help_panel=DECODING)] = 3,
    samples: Annotated[
        int, typer.Option(help="Draw so many texts instead; 0 is beam search.", rich_help_panel=DECODING)
    ] = 0,
    temperature: Annotated[float, typer.Option(help="Of draws.", rich_help_panel=DECODING)] = 1.0,
    top_k: Annotated[
        int, typer.Option(help="Draw among so many likeliest tokens; 0 is all.", rich_help_panel=DECODING)
    ] = 0,
    top_p: Annotated[
        float,
        typer.Option(help="Draw among the likeliest with this much together.", rich_help_panel=DECODING),
    ] = 1.0,
    length: Annotated[int, typer.Option(help="Tokens of a text at most.", rich_help_panel=DECODING)] = 30,
    seed: Annotated[int, typer.Option(help="Of draws.", rich_help_panel=DECODING)] = 0,
    system: Annotated[str | None, typer.Option(help="What to call the captioner in the results.")] = None,
    format: FormatOption = None,
    on_error: OnErrorOption = OnError.collect,
    allow_urls: Annotated[
        bool, typer.Option("--allow-urls", help="Fetch pictures from public addresses on the web.")
    ] = False,
    resume: ResumeOption = False,
    overwrite: OverwriteOption = False,
) -> None:
    """Describe pictures: captions as items that `score` reads, failures, a contact sheet."""
    from sightline.cli.progress import counted_progress
    from sightline.generate.base import Decoding, axes_named
    from sightline.generate.files import caption_into, item_row, unjoined
    from sightline.generate.run import Captioning, Describing, told_of
    from sightline.generate.subjects import subjects_at
    from sightline.io.json_csv import json_line
    from sightline.io.pictures import files
    from sightline.io.results import ResultFolder
    from sightline.items import Failure

    decoding = Decoding(beams, samples, temperature, top_k, top_p, length, seed)
    captioning = Captioning(captioner, axes_named(axis or ["object"]), decoding, system)
    files.allow_urls(allow_urls)
    subjects = strict(subjects_at(pictures, format), on_error)
    title = Path(pictures[0]).name if len(pictures) == 1 else f"{len(pictures)} pictures"
    if out is not None:
        with counted_progress() as progress, ResultFolder(out, overwrite=overwrite, resume=resume) as folder:
            told = caption_into(
                folder, subjects, captioning, title, lambda done: progress("pictures", done, None)
            )
        made = sum(one.item is not None for one in told)
        by = escape(captioning.system)
        console.print(f"{made:,} captions by {by}: {out / 'captions.jsonl'}", soft_wrap=True)
        for line in unjoined(told):
            console.print(escape(line), soft_wrap=True)
        console.print(f"Report: {out / 'report.html'}", soft_wrap=True)
        if folder.failed:
            console.print(f"{folder.failed} failed: {out / 'failures.jsonl'} says why.", soft_wrap=True)
        raise typer.Exit(folder.status)
    failed = 0
    for batch in told_of(Describing(captioning), subjects):
        for one in batch:
            failure = one if isinstance(one, Failure) else one.failure
            if failure is not None:
                failed += 1
                errors.print(f"sightline: {failure.id or failure.source}: {failure.reason}")
            elif not isinstance(one, Failure) and one.item is not None:
                typer.echo(json_line(item_row(one.item, Path())), nl=False)
    raise typer.Exit(3 if failed else 0)
