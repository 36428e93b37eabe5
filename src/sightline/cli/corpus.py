"""`sightline corpus`: what a caption corpus contains."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from sightline.cli.app import app, console
from sightline.cli.options import FormatOption, OnError, OnErrorOption, OutOption, measuring
from sightline.cli.progress import counted_progress
from sightline.corpus.analysis import CorpusSettings, analyse
from sightline.corpus.files import FILES, write_corpus
from sightline.errors import UsageError
from sightline.io.results import ResultFolder

if TYPE_CHECKING:
    from sightline.pipeline.settings import Settings as RunSettings


@app.command(epilog="Example: sightline corpus captions.jsonl -o corpus")
@measuring
def corpus(
    file: Annotated[
        Path, typer.Argument(help="Captions: HL's JSON Lines, or any other format that can be read.")
    ],
    out: OutOption,
    settings: "RunSettings",
    format: FormatOption = None,
    on_error: OnErrorOption = OnError.collect,
    purity: Annotated[
        str,
        typer.Option(
            help="Scorer of purity: embedded, pocket, sentence, bleurt:NAME-or-PATH, published (as in the file), none."
        ),
    ] = CorpusSettings.purity,
    objects: Annotated[
        str, typer.Option(help="The axis whose captions name objects.")
    ] = CorpusSettings.objects,
    floor: Annotated[
        int, typer.Option(min=1, help="PMI: how often an object must be mentioned, in all its captions.")
    ] = CorpusSettings.floor,
    floor_by: Annotated[
        Literal["mentions", "pictures"], typer.Option(help="PMI: what the floor of the objects counts.")
    ] = "mentions",
    lemma_floor: Annotated[
        int, typer.Option(min=1, help="PMI: pictures that a high-level lemma must stand in.")
    ] = CorpusSettings.lemma_floor,
    lemma: Annotated[
        list[str] | None, typer.Option(help="A lemma whose objects to show; may be repeated.")
    ] = None,
    hard: Annotated[
        str, typer.Option(help="What makes a sample hard: MEASURE<LIMIT,…; a limit in % is a quantile.")
    ] = CorpusSettings.hard,
    corrections: Annotated[
        Path | None,
        typer.Option(help="Corrected captions (id, original, corrected, corrector): edit distances."),
    ] = None,
    processes: Annotated[
        int, typer.Option(min=0, help="Processes that count; 0: one per core for a large corpus.")
    ] = CorpusSettings.processes,
) -> None:
    """Analyse a caption corpus: words, PMI, confidence, diversity, purity, hard samples."""
    chosen = CorpusSettings(
        nlp=settings.nlp,
        purity=purity,
        objects=objects,
        floor=floor,
        floor_by=floor_by,
        lemma_floor=lemma_floor,
        hard=hard,
        lemmas=tuple(word.lower() for word in lemma or ()),
        processes=processes,
    )
    with ResultFolder(out) as results, counted_progress() as progress:
        results.expect(*FILES)
        found = analyse(file, chosen, format=format, corrections=corrections, progress=progress)
        if on_error is OnError.stop and found.failures:
            first = found.failures[0]
            raise UsageError(f"{first.source or first.id}: {first.reason}")
        told = write_corpus(found, results, file.name)
    console.print(axes_table(told))
    for note in found.notes:
        console.print(f"Note: {escape(note)}.", soft_wrap=True)
    console.print(escape(f"Report: {out / 'report.html'}"), soft_wrap=True)
    if found.failures:
        first = found.failures[0]
        console.print(
            escape(
                f"{len(found.failures)} failures, such as {first.id or first.source}: {first.reason}; "
                f"{out / 'failures.jsonl'} has all."
            ),
            soft_wrap=True,
        )
        raise typer.Exit(results.status)


def axes_table(told: dict[str, Any]) -> Table:
    """The columns of the paper's Table 2, and the mean of each measure."""
    table = Table(
        title=f"{told['pictures']:,} pictures",
        title_justify="left",
        caption_justify="left",
        box=SIMPLE_HEAD,
        collapse_padding=True,
        pad_edge=False,
    )
    for name in ("axis", "tokens", "length", "unique", "captions", "confidence", "self_bleu", "purity"):
        table.add_column(name, justify="left" if name == "axis" else "right")
    rows = dict(told["axes"])
    if len(rows) > 2:
        rows["together"] = {**told["total"], "confidence": told["confidence"]}
    for axis, row in rows.items():
        means = ((row.get(name) or {}).get("mean") for name in ("confidence", "self_bleu", "purity"))
        table.add_row(
            escape(axis),
            f"{row['tokens']:,}",
            f"{row['length']:.2f}",
            f"{row['unique']:,}",
            f"{row['captions']:,}",
            *("–" if mean is None else f"{mean:.3f}" for mean in means),
        )
    table.caption = escape(f"purity: {told['purity_scorer']}")
    return table
